import { createHash, hash, randomUUID } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  createReadStream,
  createWriteStream,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Metadata, ReadableBucket, StoredFile } from './read-bucket.ts';
import { S3Error, utf8Order } from './s3-protocol.ts';

/**
 * A stored file holds an object's bytes, then the metadata as JSON, then the JSON's length in four bytes. One rename
 * therefore publishes or replaces bytes and metadata together. A reader keeps reading the file that it has opened.
 *
 * Small files are read and written synchronously. That takes some ten microseconds. An asynchronous call takes ten
 * times as long, and needs a thread of the pool. DuckDB's queries may hold all these threads.
 */
const LENGTH_BYTES = 4;

/** The size up to which a file is small. It is larger than any metadata, and than most files of the service. */
const SMALL_BYTES = 64 * 1024;

export type Bytes = AsyncIterable<Buffer>;

/** Publishes a finished file at its path, in one step: `renameSync` replaces a file, `linkSync` refuses to. */
export type Publish = (from: string, to: string) => void;

export interface Content {
  /** The bytes, as a buffer or as a stream. A buffer is for few bytes. */
  readonly bytes: Buffer | Bytes;
  readonly metadata: Metadata;
  /** The entity tag, without quotes. If left out, it is the bytes' MD5 in hexadecimal. */
  readonly etag?: string | undefined;
  readonly publish: Publish;
}

/**
 * Writes a file under a temporary name in `incoming`, and publishes it at `path` once it is complete. If the write
 * fails, it leaves nothing behind. Resolves to the entity tag, with its quotes.
 */
export async function writeStoredFile(
  incoming: string,
  path: string,
  { bytes, metadata, etag, publish }: Content,
): Promise<string> {
  const temporary = join(incoming, randomUUID());
  try {
    let tag: string;
    if (Buffer.isBuffer(bytes)) {
      tag = `"${etag ?? hash('md5', bytes)}"`;
      writeFileSync(temporary, Buffer.concat([bytes, trailer(metadata, tag)]));
    } else {
      // The MD5 is computed only if it is needed: for a gigabyte, it takes seconds.
      const digest = etag === undefined ? createHash('md5') : undefined;
      const hashed = async function* (chunks: Bytes) {
        for await (const chunk of chunks) {
          digest?.update(chunk);
          yield chunk;
        }
      };
      await pipeline(bytes, hashed, createWriteStream(temporary));
      tag = `"${digest?.digest('hex') ?? etag}"`;
      appendFileSync(temporary, trailer(metadata, tag));
    }
    publish(temporary, path);
    return tag;
  } finally {
    rmSync(temporary, { force: true });
  }
}

function trailer(metadata: Metadata, etag: string): Buffer {
  const json = Buffer.from(JSON.stringify({ ...metadata, etag }));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(json.length);
  return Buffer.concat([json, length]);
}

/** Opens the stored file at `path`. Returns undefined if there is none. */
export function openStoredFile(path: string): StoredFile | undefined {
  // Most files that are looked up do not exist yet. `stat` reports that without creating an error.
  const fd = statSync(path, { throwIfNoEntry: false }) && unlessVanished(() => openSync(path, 'r'));
  if (fd === undefined) return undefined;
  const { size: fileSize, mtime } = fstatSync(fd);
  const tail = Buffer.allocUnsafe(Math.min(fileSize, SMALL_BYTES));
  readSync(fd, tail, 0, tail.length, fileSize - tail.length);
  const jsonEnd = tail.length - LENGTH_BYTES;
  const jsonStart = jsonEnd - tail.readUInt32BE(jsonEnd);
  const metadata = {
    ...JSON.parse(tail.toString('utf8', jsonStart, jsonEnd)),
    'last-modified': mtime.toUTCString(),
  };
  if (tail.length === fileSize) {
    closeSync(fd);
    const content = tail.subarray(0, jsonStart);
    return {
      size: jsonStart,
      metadata,
      read: (start, end) => content.subarray(start, end + 1),
      close: () => {},
    };
  }
  return { size: fileSize - (tail.length - jsonStart), metadata, ...openContent(fd) };
}

const VANISHED = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'];

/** Returns undefined if the file was removed meanwhile. Such a file counts as missing. */
export function unlessVanished<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (VANISHED.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** The methods of a stored file that read and close an open file. */
export const openContent = (fd: number): Pick<StoredFile, 'read' | 'close'> => ({
  read: (start, end) => {
    if (start <= end) return createReadStream('', { fd, start, end });
    closeSync(fd);
    return Buffer.alloc(0);
  },
  close: () => closeSync(fd),
});

// The longest name that file systems accept. S3 itself takes keys of 1,024 bytes.
const MAX_NAME_BYTES = 255;

const SUFFIX = '.object';

/**
 * A bucket that the store writes itself. Its directory holds `objects` (one file for each object, without subfolders,
 * named by the encoded key), `incoming` (files that are being written) and `uploads` (multipart uploads).
 */
export class ObjectFiles implements ReadableBucket {
  readonly #objects: string;
  readonly #incoming: string;
  readonly uploads: string;

  /** Creates the bucket. If it exists, removes the unfinished files of an earlier process. */
  constructor(directory: string) {
    this.#objects = join(directory, 'objects');
    this.#incoming = join(directory, 'incoming');
    this.uploads = join(directory, 'uploads');
    rmSync(this.#incoming, { recursive: true, force: true });
    for (const path of [this.#incoming, this.#objects]) mkdirSync(path, { recursive: true });
  }

  *keys({ prefix }: { readonly prefix: string }): Iterable<string> {
    const keys = readdirSync(this.#objects).map((name) => decodeURIComponent(name.slice(0, -SUFFIX.length)));
    yield* keys.filter((key) => key.startsWith(prefix)).sort(utf8Order);
  }

  describe(key: string) {
    const file = this.open(key);
    file?.close();
    if (!file) return undefined;
    const { etag = '', 'last-modified': lastModified = '' } = file.metadata;
    return { size: file.size, etag, lastModified: new Date(lastModified) };
  }

  open(key: string): StoredFile | undefined {
    return openStoredFile(this.#path(key));
  }

  write(key: string, content: Content): Promise<string> {
    return writeStoredFile(this.#incoming, this.#path(key), content);
  }

  /** Makes a plain file on the same disk an object, by moving it. Its bytes are neither copied nor read. */
  adopt(from: string, key: string): void {
    // Like the entity tag of a multipart upload, this one is not the MD5 of the bytes; its suffix shows that.
    const etag = `"${hash('md5', randomUUID())}-1"`;
    appendFileSync(from, trailer({ 'content-type': 'application/octet-stream' }, etag));
    renameSync(from, this.#path(key));
  }

  delete(key: string): void {
    rmSync(this.#path(key), { force: true });
  }

  #path(key: string): string {
    const name = encodeURIComponent(key) + SUFFIX;
    if (name.length > MAX_NAME_BYTES) throw new S3Error('KeyTooLongError', 'Your key is too long');
    return join(this.#objects, name);
  }
}
