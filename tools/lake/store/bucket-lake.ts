import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtempDisposable, open } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { ListedFile } from '../../../lake-check/lake-facts.ts';
import { folderSource, type LakeSource, type LocalFiles } from '../../../lake-check/lake-source.ts';
import { dayFolder, SUCCESS_MARKER } from '../../../lake-check/layout.ts';
import { type Bucket, isBucket, openBucket } from './bucket.ts';
import { EMPTY_TABLE, folderTarget, type LakeTarget } from './lake-target.ts';

const AT_ONCE = 8;

/** The bytes to read first from the end of a file. Most footers are smaller. A larger one takes a second request. */
const FOOTER_GUESS_BYTES = 64 * 1024;

/** The end of a Parquet file: the footer's length in four bytes, little endian, and `PAR1`. */
const TAIL_BYTES = 8;

/** Opens a lake for reading. @param directory a directory of this machine for copies of a bucket's files */
export const lakeSource = (location: string, directory: string): LakeSource =>
  isBucket(location) ? bucketSource(location, directory) : folderSource(location);

/** Opens a lake for writing: in a bucket, `s3://…`, or in a folder. */
export const lakeTarget = (location: string): LakeTarget =>
  isBucket(location) ? bucketTarget(location) : folderTarget(location);

/** A lake in a bucket. Files are copied into a directory of this machine to be read. */
export function bucketSource(location: string, directory: string): LakeSource {
  const bucket = openBucket(location);
  return {
    location,
    list: (folder) => bucket.list(folder && `${folder}/`),
    footersOf: (listed) => copies(directory, listed, (file, path) => copyFooter(bucket, file, path)),
    filesOf: (listed) =>
      copies(directory, listed, async ({ path }, to) =>
        pipeline(await bucket.read(path), createWriteStream(to)),
      ),
    // The ETag of the listing serves as the digest, so that the file need not be read.
    digestOf: async ({ path, digest }) => digest ?? path,
  };
}

/** Copies only a file's footer, into a sparse file of the same size. Nothing else of the copy is read. */
async function copyFooter(bucket: Bucket, { path, size }: ListedFile, target: string): Promise<void> {
  const readTail = async (bytes: number) => buffer(await bucket.read(path, Math.min(bytes, size)));
  let tail = await readTail(FOOTER_GUESS_BYTES);
  const isParquet = tail.length >= TAIL_BYTES && tail.subarray(-4).toString('latin1') === 'PAR1';
  const needed = isParquet ? tail.readUInt32LE(tail.length - TAIL_BYTES) + TAIL_BYTES : 0;
  if (needed > tail.length && needed <= size) tail = await readTail(needed);
  await using file = await open(target, 'w');
  await file.truncate(size);
  await file.write(tail, 0, tail.length, size - tail.length);
}

async function copies(
  directory: string,
  listed: readonly ListedFile[],
  copy: (file: ListedFile, target: string) => Promise<void>,
): Promise<LocalFiles> {
  await mkdir(directory, { recursive: true });
  await using resources = new AsyncDisposableStack();
  const folder = resources.use(await mkdtempDisposable(join(directory, 'copies-')));
  const files = listed.map(({ path }, index) => ({ id: path, path: join(folder.path, `${index}.parquet`) }));
  const queue = listed.entries();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const [index, file] of queue) await copy(file, files[index]?.path as string);
    }),
  );
  const all = resources.move();
  return { files, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/**
 * A lake in a bucket. S3 can't rename a folder, so a reader may see a part of a day that is being written. Its marker
 * is then missing, because it is removed first and written last. A writer that is killed in between leaves the day
 * open. Writing the day again completes it.
 */
export function bucketTarget(location: string): LakeTarget {
  const bucket = openBucket(location);
  return {
    list: (folder) => bucket.list(folder && `${folder}/`),
    async replaceDay({ table, day, files, marker }) {
      const folder = dayFolder(table, day);
      const markerPath = `${folder}/${SUCCESS_MARKER}`;
      const before = await bucket.list(`${folder}/`);
      await bucket.remove([markerPath]);
      for (const { path, name } of files) await bucket.write(`${folder}/${name}`, createReadStream(path));
      const kept = new Set([markerPath, ...files.map(({ name }) => `${folder}/${name}`)]);
      await bucket.remove(before.map(({ path }) => path).filter((path) => !kept.has(path)));
      if (marker !== undefined) await bucket.write(markerPath, marker);
    },
    async makeTable(table) {
      await bucket.write(`${table}/${EMPTY_TABLE}`, '');
    },
  };
}
