import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import S3Error from '@20minutes/s3rver/lib/models/error.js';
import S3Object from '@20minutes/s3rver/lib/models/object.js';
import { type Bytes, openStoredFile, type Publish, type Written, writeStoredFile } from './stored-file.ts';

// The longest name that file systems take. S3 itself takes keys of 1,024 bytes.
const MAX_NAME_BYTES = 255;

const SUFFIX = '.object';

/** Makes the bucket, or removes from it what an earlier process left unfinished. */
export async function prepareBucket(directory: string, bucket: string): Promise<void> {
  await rm(join(directory, bucket, 'incoming'), { recursive: true, force: true });
  await mkdir(join(directory, bucket, 'incoming'), { recursive: true });
  await mkdir(join(directory, bucket, 'objects'), { recursive: true });
}

/**
 * The objects as s3rver's controllers read and write them; in place of s3rver's own store, which shows objects
 * half-written. A bucket is a directory of `objects`, one flat file each, named by the encoded key, and of
 * `incoming`, what is being written.
 */
export class ObjectFiles {
  readonly #directory: string;
  readonly #publish: Publish;

  constructor(directory: string, publish: Publish) {
    this.#directory = directory;
    this.#publish = publish;
  }

  /** Every key of the bucket, in order. */
  async listKeys(bucket: string): Promise<string[]> {
    const names = await readdir(join(this.#directory, bucket, 'objects'));
    return names.map((name) => decodeURIComponent(name.slice(0, -SUFFIX.length))).sort();
  }

  /** The object without its content; null where there is none. */
  async headObject(bucket: string, key: string): Promise<S3Object | null> {
    const file = await openStoredFile(this.#path(bucket, key));
    await file?.close();
    return file ? new S3Object(bucket, key, null, file.metadata) : null;
  }

  /** `range` is a `Range` header. A range without content is, to the controller, one that can't be satisfied. */
  async getObject(bucket: string, key: string, range?: string): Promise<S3Object | null> {
    const file = await openStoredFile(this.#path(bucket, key));
    if (!file) return null;
    const object = new S3Object<Readable | null>(bucket, key, null, file.metadata);
    const part = range ? byteRange(range, file.size) : undefined;
    if (part) object.range = part;
    if (part && part.start > part.end) await file.close();
    else object.content = await file.read(part?.start ?? 0, part?.end ?? file.size - 1);
    return object;
  }

  putObject(object: S3Object<Bytes>, etag?: string): Promise<Written> {
    return writeStoredFile(
      join(this.#directory, object.bucket, 'incoming'),
      this.#path(object.bucket, object.key),
      {
        bytes: object.content,
        metadata: object.metadata,
        etag,
        publish: this.#publish,
      },
    );
  }

  async deleteObject(bucket: string, key: string): Promise<void> {
    await rm(this.#path(bucket, key), { force: true });
  }

  #path(bucket: string, key: string): string {
    const name = encodeURIComponent(key) + SUFFIX;
    if (name.length > MAX_NAME_BYTES) throw new S3Error('KeyTooLongError', 'Your key is too long');
    return join(this.#directory, bucket, 'objects', name);
  }
}

/** The bytes that a `Range` header asks for, both ends inclusive; undefined where it must be ignored. */
const byteRange = (header: string, size: number): { start: number; end: number } | undefined => {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header) ?? [];
  if (first) return { start: Number(first), end: Math.min(last ? Number(last) : size, size - 1) };
  if (last) return { start: Math.max(0, size - Number(last)), end: size - 1 };
  return undefined;
};
