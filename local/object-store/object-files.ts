import { readdirSync, rmSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Listable } from './list-objects.ts';
import { S3Error } from './s3-error.ts';
import { utf8Order } from './s3-text.ts';
import { adoptFile, type Content, openStoredFile, type StoredFile, writeStoredFile } from './stored-file.ts';

// The longest name that file systems accept. S3 itself takes keys of 1,024 bytes.
const MAX_NAME_BYTES = 255;

const SUFFIX = '.object';

/**
 * A bucket that the store writes itself. Its directory holds `objects` (one file for each object, without subfolders,
 * named by the encoded key), `incoming` (files that are being written) and `uploads` (multipart uploads).
 */
export class ObjectFiles implements Listable {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Creates the bucket. If it exists, removes the unfinished files of an earlier process. */
  async prepare(): Promise<void> {
    await rm(this.incoming, { recursive: true, force: true });
    for (const path of [this.incoming, this.#objects]) await mkdir(path, { recursive: true });
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
    return writeStoredFile(this.incoming, this.#path(key), content);
  }

  /** Makes a file on the same disk an object, by moving it. */
  adopt(from: string, key: string): void {
    adoptFile(from, this.#path(key));
  }

  delete(key: string): void {
    rmSync(this.#path(key), { force: true });
  }

  get incoming(): string {
    return join(this.#directory, 'incoming');
  }

  get uploads(): string {
    return join(this.#directory, 'uploads');
  }

  get #objects(): string {
    return join(this.#directory, 'objects');
  }

  #path(key: string): string {
    const name = encodeURIComponent(key) + SUFFIX;
    if (name.length > MAX_NAME_BYTES) throw new S3Error('KeyTooLongError', 'Your key is too long');
    return join(this.#objects, name);
  }
}
