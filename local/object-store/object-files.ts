import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import S3Error from '@20minutes/s3rver/lib/models/error.js';
import type S3Object from '@20minutes/s3rver/lib/models/object.js';
import type { Listable } from './list-objects.ts';
import { type ObjectReader, readObject } from './read-object.ts';
import { type Bytes, openStoredFile, type Publish, type Written, writeStoredFile } from './stored-file.ts';
import { utf8Order } from './utf8-order.ts';

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
export class ObjectFiles implements ObjectReader {
  readonly #directory: string;
  readonly #publish: Publish;

  constructor(directory: string, publish: Publish) {
    this.#directory = directory;
    this.#publish = publish;
  }

  /** One of the buckets, to be listed. */
  bucket(bucket: string): Listable {
    const directory = join(this.#directory, bucket, 'objects');
    return {
      keys: async function* ({ prefix }) {
        const keys = (await readdir(directory)).map((name) =>
          decodeURIComponent(name.slice(0, -SUFFIX.length)),
        );
        yield* keys.filter((key) => key.startsWith(prefix)).sort(utf8Order);
      },
      describe: async (key) => {
        const file = await openStoredFile(this.#path(bucket, key));
        await file?.close();
        if (!file) return null;
        const { etag = '', 'last-modified': lastModified = '' } = file.metadata;
        return { size: file.size, etag, lastModified: new Date(lastModified) };
      },
    };
  }

  async getObject(bucket: string, key: string, range?: string): Promise<S3Object | null> {
    const file = await openStoredFile(this.#path(bucket, key));
    return file ? readObject(file, { bucket, key, range }) : null;
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
