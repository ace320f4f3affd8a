import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { type FileHandle, open, readdir, realpath, stat } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import type S3Object from '@20minutes/s3rver/lib/models/object.js';
import type { KeyRange, Listable, ListedObject, Scan } from './list-objects.ts';
import { type ObjectReader, readObject } from './read-object.ts';
import { sharedScans } from './share-scans.ts';
import type { StoredFile } from './stored-file.ts';
import { utf8Order } from './utf8-order.ts';

/**
 * A directory on disk as a bucket that can only be read. Every file is an object, whatever its name; every folder is
 * an empty object whose key ends with `/`, as many tools of S3 leave them. Its entity tag comes from the folder's own
 * time, so that a file that was added and removed again leaves a trace in a listing.
 */
export class DirectoryBucket implements Listable, ObjectReader {
  readonly #root: string;
  readonly share = sharedScans<Scan>();

  constructor(directory: string) {
    this.#root = resolve(directory);
  }

  keys(range: KeyRange): AsyncIterable<string> {
    return this.#keysIn('', range);
  }

  async *#keysIn(folder: string, range: KeyRange): AsyncGenerator<string> {
    for (const key of await this.#children(folder)) {
      const isFolder = key.endsWith('/');
      if (key.startsWith(range.prefix)) {
        if (utf8Order(key, range.after) > 0) yield key;
      } else if (!(isFolder && range.prefix.startsWith(key))) continue;
      if (!isFolder || range.isCollapsed(key)) continue;
      const mayHoldLaterKeys = utf8Order(key, range.after) > 0 || range.after.startsWith(key);
      if (mayHoldLaterKeys) yield* this.#keysIn(key, range);
    }
  }

  /** The keys right under a folder, in order; none where the folder has gone. */
  async #children(folder: string): Promise<string[]> {
    const entries = await readdir(join(this.#root, folder), { withFileTypes: true }).catch(ignoreVanished);
    const keys = (entries ?? []).map(async (entry) => {
      const key = folder + entry.name;
      if (entry.isFile()) return key;
      if (entry.isDirectory()) return `${key}/`;
      return entry.isSymbolicLink() ? this.#linkKey(key) : undefined;
    });
    return (await Promise.all(keys)).filter((key) => key !== undefined).sort(utf8Order);
  }

  /** A link counts as what it leads to, unless that holds the link itself: such a listing would have no end. */
  async #linkKey(key: string): Promise<string | undefined> {
    const path = join(this.#root, key);
    const target = await realpath(path).catch(ignoreVanished);
    const facts = await stat(path).catch(ignoreVanished);
    if (facts?.isFile()) return key;
    return facts?.isDirectory() && !path.startsWith(`${target}${sep}`) ? `${key}/` : undefined;
  }

  async describe(key: string): Promise<ListedObject | null> {
    const facts = await this.#factsOf(key);
    return facts ? listed(facts) : null;
  }

  async getObject(bucket: string, key: string, range?: string): Promise<S3Object | null> {
    // Checked before it is opened: opening a pipe would wait for somebody to write into it.
    if (!(await this.#factsOf(key))) return null;
    const handle = await open(join(this.#root, key)).catch(ignoreVanished);
    if (!handle) return null;
    return readObject(storedFile(handle, listed(await handle.stat({ bigint: true }))), {
      bucket,
      key,
      range,
    });
  }

  async #factsOf(key: string): Promise<BigIntStats | undefined> {
    const segments = key.split('/');
    const isFolder = segments.at(-1) === '';
    const names = isFolder ? segments.slice(0, -1) : segments;
    // Refuses keys that lead out of the directory, and second names of an object such as `a//b`.
    if (names.some((name) => ['', '.', '..'].includes(name) || name.includes('\0'))) return undefined;
    const facts = await stat(join(this.#root, key), { bigint: true }).catch(ignoreVanished);
    return (isFolder ? facts?.isDirectory() : facts?.isFile()) ? facts : undefined;
  }
}

const listed = (facts: BigIntStats): ListedObject => {
  const size = facts.isDirectory() ? 0 : Number(facts.size);
  const digest = createHash('md5').update(`${size} ${facts.mtimeNs} ${facts.ino}`).digest('hex');
  return { size, etag: `"${digest}"`, lastModified: facts.mtime };
};

/** A folder's content is empty; a file's is what the handle reads. */
const storedFile = (handle: FileHandle, { size, etag, lastModified }: ListedObject): StoredFile => ({
  size,
  metadata: { etag, 'content-length': String(size), 'last-modified': lastModified.toUTCString() },
  read: async (start, end) => {
    if (start <= end) return handle.createReadStream({ start, end });
    await handle.close();
    return Readable.from([]);
  },
  close: () => handle.close(),
});

const VANISHED = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'];

/** A file that was removed since it was seen counts as missing. */
function ignoreVanished(error: NodeJS.ErrnoException): undefined {
  if (!VANISHED.includes(error.code ?? '')) throw error;
}
