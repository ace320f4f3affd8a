import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

// A stored file is the bytes, then the metadata as JSON, then the JSON's length in four bytes: one rename
// publishes both, or replaces both under readers, who go on reading what they have opened.
const LENGTH_BYTES = 4;

export type Bytes = AsyncIterable<Buffer>;
export type Metadata = Readonly<Record<string, string>>;

/** Moves a finished file to its path: `rename` replaces a file that is there, `link` refuses to. */
export type Publish = (from: string, to: string) => Promise<void>;

/** What was written, named as s3rver's controllers have it: `md5` becomes the entity tag. */
export interface Written {
  readonly md5: string;
  readonly size: number;
}

/**
 * Writes a file under a name of its own in `incoming` and publishes it at `path` once it is whole; what fails
 * before leaves nothing behind. The entity tag is the bytes' MD5 in hexadecimal unless `etag` is given.
 */
export async function writeStoredFile(
  incoming: string,
  path: string,
  content: { bytes: Bytes; metadata: Metadata; etag?: string | undefined; publish: Publish },
): Promise<Written> {
  const temporary = join(incoming, randomUUID());
  const hash = createHash('md5');
  let size = 0;
  let md5 = content.etag ?? '';
  const withTrailer = async function* (chunks: Bytes) {
    for await (const chunk of chunks) {
      // Not computed without need: the MD5 of a gigabyte takes seconds.
      if (!content.etag) hash.update(chunk);
      size += chunk.length;
      yield chunk;
    }
    md5 ||= hash.digest('hex');
    const json = Buffer.from(
      JSON.stringify({ ...content.metadata, etag: `"${md5}"`, 'content-length': size }),
    );
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(json.length);
    yield Buffer.concat([json, length]);
  };
  try {
    await pipeline(content.bytes, withTrailer, createWriteStream(temporary));
    await content.publish(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
  return { md5, size };
}

/** An open file: bytes and metadata are those of the moment of opening, whatever becomes of its name. */
export interface StoredFile {
  readonly size: number;
  readonly metadata: Metadata;
  /** The bytes from `start` to `end`, both inclusive; closes the file behind them. */
  read(start: number, end: number): Promise<Readable>;
  close(): Promise<void>;
}

/** Opens what `writeStoredFile` published at `path`; undefined where there is nothing. */
export async function openStoredFile(path: string): Promise<StoredFile | undefined> {
  const handle = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!handle) return undefined;
  const { size: fileSize, mtime } = await handle.stat();
  const jsonEnd = fileSize - LENGTH_BYTES;
  const size = jsonEnd - (await readAt(handle, jsonEnd, LENGTH_BYTES)).readUInt32BE();
  const metadata = JSON.parse((await readAt(handle, size, jsonEnd - size)).toString());
  return {
    size,
    metadata: { ...metadata, 'last-modified': mtime.toUTCString() },
    read: async (start, end) => {
      if (start <= end) return handle.createReadStream({ start, end });
      await handle.close();
      return Readable.from([]);
    },
    close: () => handle.close(),
  };
}

const readAt = async (handle: FileHandle, position: number, length: number): Promise<Buffer> =>
  (await handle.read(Buffer.alloc(length), 0, length, position)).buffer;
