import { hash } from 'node:crypto';
import { type BigIntStats, fstatSync, openSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import type { KeyRange, ListedObject, ReadableBucket, StoredFile } from './read-bucket.ts';
import { utf8Order } from './s3-protocol.ts';
import { openContent, unlessVanished } from './stored-file.ts';

/** Two changes within this time may get the same timestamp from the file system. */
const TICK_MS = 20;

/** The maximum number of scans. The last of them is used even if a folder has changed during it. */
const MAX_SCANS = 10;

/**
 * A directory on disk as a read-only bucket. Every file is an object. Every folder is an empty object whose key ends
 * with `/`; many S3 tools create such objects. The entity tag of a folder's object comes from the folder's own time:
 * if a file was added and removed again, the listing still changes.
 */
export class DirectoryBucket implements ReadableBucket {
  readonly #root: string;
  /** For each folder that the current scan has read: the time of its last change, taken before it was read. */
  #read = new Map<string, bigint>();

  constructor(directory: string) {
    this.#root = resolve(directory);
  }

  /**
   * Scans again until no folder has changed during the scan. A page of S3's listing shows the bucket at one moment, but
   * folders are read one after another. If a file moved between two folders, it could be seen twice or not at all.
   */
  atOneMoment<T>(scan: () => T): T {
    for (let scans = 1; ; scans++) {
      const began = Date.now();
      this.#read = new Map();
      const result = scan();
      const isSteady = [...this.#read].every(([folder, changedAt]) => {
        const isOlder = changedAt < BigInt(began - TICK_MS) * 1_000_000n;
        return isOlder && this.#changedAt(folder) === changedAt;
      });
      if (isSteady || scans >= MAX_SCANS) return result;
    }
  }

  #changedAt(folder: string): bigint {
    return unlessVanished(() => statSync(join(this.#root, folder), { bigint: true }))?.mtimeNs ?? 0n;
  }

  *keys(range: KeyRange, folder = ''): Generator<string> {
    for (const key of this.#children(folder)) {
      const isFolder = key.endsWith('/');
      if (key.startsWith(range.prefix)) {
        if (utf8Order(key, range.after) > 0) yield key;
      } else if (!(isFolder && range.prefix.startsWith(key))) continue;
      if (!isFolder) continue;
      const mayHoldLaterKeys = utf8Order(key, range.after) > 0 || range.after.startsWith(key);
      if (mayHoldLaterKeys) yield* this.keys(range, key);
    }
  }

  /** The keys directly under a folder, in order. Empty if the folder no longer exists. */
  #children(folder: string): string[] {
    this.#read.set(folder, this.#changedAt(folder));
    const entries =
      unlessVanished(() => readdirSync(join(this.#root, folder), { withFileTypes: true })) ?? [];
    const keys = entries.map((entry) => {
      const key = folder + entry.name;
      if (entry.isFile()) return key;
      if (entry.isDirectory()) return `${key}/`;
      return entry.isSymbolicLink() ? this.#linkKey(key) : undefined;
    });
    return keys.filter((key) => key !== undefined).sort(utf8Order);
  }

  /**
   * The key of a link, as if the link were its target. A link to a folder that contains the link has no key: a listing
   * that followed it would have no end.
   */
  #linkKey(key: string): string | undefined {
    const path = join(this.#root, key);
    const target = unlessVanished(() => realpathSync(path));
    const facts = unlessVanished(() => statSync(path));
    if (facts?.isFile()) return key;
    return facts?.isDirectory() && !path.startsWith(`${target}${sep}`) ? `${key}/` : undefined;
  }

  describe(key: string): ListedObject | undefined {
    const facts = this.#factsOf(key);
    return facts && listed(facts);
  }

  open(key: string): StoredFile | undefined {
    // The kind of the file is checked before it is opened: opening a pipe would wait for a writer.
    if (!this.#factsOf(key)) return undefined;
    const fd = unlessVanished(() => openSync(join(this.#root, key), 'r'));
    if (fd === undefined) return undefined;
    const { size, etag, lastModified } = listed(fstatSync(fd, { bigint: true }));
    return { size, metadata: { etag, 'last-modified': lastModified.toUTCString() }, ...openContent(fd) };
  }

  #factsOf(key: string): BigIntStats | undefined {
    const segments = key.split('/');
    const isFolder = segments.at(-1) === '';
    const names = isFolder ? segments.slice(0, -1) : segments;
    // Refuses keys that lead out of the directory, and other spellings of an object's key, such as `a//b`.
    if (names.some((name) => ['', '.', '..'].includes(name) || name.includes('\0'))) return undefined;
    const facts = unlessVanished(() =>
      statSync(join(this.#root, key), { bigint: true, throwIfNoEntry: false }),
    );
    return (isFolder ? facts?.isDirectory() : facts?.isFile()) ? facts : undefined;
  }
}

/** The listing's facts about a file or a folder. A folder has no content. */
const listed = (facts: BigIntStats): ListedObject => {
  const size = facts.isDirectory() ? 0 : Number(facts.size);
  return {
    size,
    etag: `"${hash('md5', `${size} ${facts.mtimeNs} ${facts.ino}`)}"`,
    lastModified: facts.mtime,
  };
};
