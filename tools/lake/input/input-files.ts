import { createHash } from 'node:crypto';
import { createReadStream, type Stats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { tellFault } from '../../../lake-check/lake-facts.ts';
import { listFolder } from '../../../lake-check/lake-source.ts';
import { isHidden } from '../../../lake-check/layout.ts';
import { readWholeFile } from '../../../lake-check/verify-pages.ts';
import { quoteName } from '../../../lib/report/quote-sql.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import { isBucket, placeOf } from '../store/bucket.ts';
import { bucketSource } from '../store/bucket-lake.ts';
import { type FileContent, folderColumns, refuseDoubledNames } from './column-names.ts';
import { csvFault, describeCsv } from './csv-file.ts';
import { HEAD_BYTES, isGzip, isParquet } from './file-format.ts';

export interface InputFile extends FileContent {
  /** The file's path or URL as the operator knows it. */
  readonly name: string;
  /** Its path on this machine. */
  readonly path: string;
  readonly bytes: number;
}

interface FoundFile extends Pick<InputFile, 'name' | 'path'> {
  /** The reason why the file can't be read, if it can't. */
  readonly unreadable?: string | undefined;
}

/**
 * Finds the files that the operator named, also those in folders and buckets, each once, whatever names it has. Throws
 * an OperatorFault if there is no file at all. Resolves to the files, to why others can't be read, and to which files
 * are read once though they have several names.
 *
 * @param directory where the files of buckets are copied to
 * @param options the separator of CSV files, if the operator says it; and whether to read each of several files that
 * have the same bytes
 */
export async function openInputs(
  inputs: readonly string[],
  directory: string,
  { separator, sameBytesTwice }: { separator: string | undefined; sameBytesTwice: boolean },
) {
  const named = (await Promise.all(inputs.map((input) => find(input, directory)))).flat();
  if (named.length === 0)
    throw new OperatorFault(
      `There are no files in ${inputs.join(', ')}. Name a file, or a folder with files whose names begin with neither . nor _`,
    );
  const found = new Map<string, FoundFile>();
  const once: string[] = [];
  for (const file of named) {
    const identity = await identityOf(file);
    const known = found.get(identity);
    if (!known) found.set(identity, file);
    else if (placeOf(known.name) !== placeOf(file.name))
      once.push(`read once: ${file.name} is the same file as ${known.name}`);
  }
  const faults: string[] = [];
  const files: InputFile[] = [];
  for (const file of found.values())
    await describe(file, separator).then(
      (input) => files.push(input),
      (error: Error) => faults.push(`${file.name} can't be read: ${csvFault(error.message)}`),
    );
  if (!sameBytesTwice) faults.push(...(await alike(files)));
  return { files, faults, once };
}

/** Equal for all names of one file. */
async function identityOf({ name, path, unreadable }: FoundFile): Promise<string> {
  if (isBucket(name) || unreadable) return placeOf(name);
  const { dev, ino } = await stat(path, { bigint: true });
  return `${dev} ${ino}`;
}

/** The faults of files that hold the same bytes, and so the same records. */
async function alike(files: readonly InputFile[]): Promise<string[]> {
  const faults: string[] = [];
  const known = new Map<string, string>();
  for (const same of Map.groupBy(files, ({ bytes }) => bytes).values())
    for (const { name, path, rows, columns } of same.length > 1 ? same : []) {
      if (rows === 0) continue;
      // Columns of folders' names are part of the records.
      const hash = createHash('sha256').update(JSON.stringify(columns));
      await pipeline(createReadStream(path), hash);
      const digest = hash.digest('hex');
      const other = known.get(digest);
      if (other !== undefined)
        faults.push(
          `${name}: it holds the same bytes as ${other}, so that its records would count twice. Leave it out; if they are other records, say --same-bytes-twice`,
        );
      known.set(digest, other ?? name);
    }
  return faults;
}

const isLeftOut = (path: string): boolean => path.split('/').some(isHidden);

async function find(input: string, directory: string): Promise<FoundFile[]> {
  if (isBucket(input)) {
    const source = bucketSource(input, directory);
    const listed = (await source.list()).filter(({ path, size }) => size > 0 && !isLeftOut(path));
    // The copies stay until the directory is removed.
    const { files } = await source.filesOf(listed);
    return files.map(({ id, path }) => ({ name: `${input.replace(/\/$/, '')}/${id}`, path }));
  }
  const found = await stat(input).catch(({ code }: NodeJS.ErrnoException): Stats => {
    throw new OperatorFault(
      code === 'ENOENT' ? `${input} does not exist` : `${input} can't be read (${code})`,
    );
  });
  if (!found.isDirectory()) {
    const unreadable = found.isFile() ? undefined : 'it is no file, but a pipe, a socket or a device';
    return [{ name: input, path: input, unreadable }];
  }
  const listed = await listFolder(input);
  return listed
    .filter(({ path, size, unreadable }) => (size > 0 || unreadable) && !isLeftOut(path))
    .map(({ path, unreadable }) => ({ name: join(input, path), path: join(input, path), unreadable }));
}

async function describe(found: FoundFile, separator: string | undefined): Promise<InputFile> {
  const { name, path, unreadable } = found;
  if (unreadable) throw new Error(unreadable);
  const head = await headOf(path);
  const { size: bytes } = await stat(path);
  const content = isParquet(head)
    ? await describeParquet(path)
    : await describeCsv({ name, path, isGzip: isGzip(head) }, separator);
  const names = content.columns.map((column) => column.name);
  return { ...content, name, path, bytes, columns: [...content.columns, ...folderColumns(name, names)] };
}

/** A Parquet file is described by its own footer, and its pages must be as they were written. */
async function describeParquet(path: string): Promise<FileContent> {
  const footer = await readWholeFile(path);
  if ('found' in footer) throw new Error(tellFault(footer));
  refuseDoubledNames(footer.names);
  const columns = footer.names.map((name) => ({
    ...{ name, type: footer.types.get(name.toLowerCase()) ?? '', sql: quoteName(name) },
  }));
  return { read: { call: 'read_parquet', options: 'union_by_name = false' }, columns, rows: footer.rows };
}

async function headOf(path: string): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}
