import type { Context } from '@20minutes/s3rver';
import { encodeURIComponentRFC3986 as encode } from '@20minutes/s3rver/lib/utils.js';
import type { sharedScans } from './share-scans.ts';
import { utf8Order } from './utf8-order.ts';

// S3's page of a listing.
const MAX_KEYS = 1000;

/** Which keys a listing asks for. */
export interface KeyRange {
  readonly prefix: string;
  /** Only keys behind this one are needed. */
  readonly after: string;
  /** Whether all keys that begin with this one are listed as one common prefix. */
  isCollapsed(key: string): boolean;
}

/** What a listing tells of an object. The entity tag has its quotes. */
export interface ListedObject {
  readonly size: number;
  readonly etag: string;
  readonly lastModified: Date;
}

/** A page of a listing, before it becomes XML. */
export interface Scan {
  readonly entries: ReadonlySet<string>;
  readonly page: readonly string[];
  readonly found: readonly ({ readonly key: string } & ListedObject)[];
}

/** A bucket that can be listed. */
export interface Listable {
  /** Keys that begin with the prefix, in S3's order; may have more than the range needs. */
  keys(range: KeyRange): AsyncIterable<string>;
  /** null where the object has gone since its key was seen. */
  describe(key: string): Promise<ListedObject | null>;
  /** Set for a bucket that others write to as well: a scan may see half of a change there. */
  readonly share?: ReturnType<typeof sharedScans<Scan>>;
}

/**
 * ListObjectsV2. Stands in for s3rver's, which loses keys between pages and encrypts its continuation tokens
 * with DES, which Node's OpenSSL no longer has: every listing of more than one page would be a 500.
 */
export async function listObjects(ctx: Context, objects: Listable): Promise<void> {
  const { bucket } = ctx.params;
  const query = new URLSearchParams(ctx.querystring);
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter') ?? '';
  const maxKeys = Math.min(Number(query.get('max-keys') ?? MAX_KEYS), MAX_KEYS);
  const token = query.get('continuation-token');
  const after =
    (token === null ? query.get('start-after') : Buffer.from(token, 'base64url').toString()) ?? '';

  const isCommonPrefix = (entry: string) => delimiter !== '' && entry.includes(delimiter, prefix.length);
  const upToDelimiter = (key: string) =>
    isCommonPrefix(key) ? key.slice(0, key.indexOf(delimiter, prefix.length) + delimiter.length) : key;
  const scan = async (): Promise<Scan> => {
    const entries = new Set<string>();
    for await (const key of objects.keys({ prefix, after, isCollapsed: isCommonPrefix })) {
      const entry = upToDelimiter(key);
      if (utf8Order(entry, after) > 0) entries.add(entry);
      // One more tells that there is another page.
      if (entries.size > maxKeys) break;
    }
    const page = [...entries].slice(0, maxKeys);
    const described = await Promise.all(
      page.map(async (key) => ({ key, object: isCommonPrefix(key) ? null : await objects.describe(key) })),
    );
    const found = described.flatMap(({ key, object }) => (object ? [{ key, ...object }] : []));
    return { entries, page, found };
  };
  const { entries, page, found } = await (objects.share
    ? objects.share(ctx.querystring, () => atOneMoment(scan))
    : scan());
  const prefixes = page.filter(isCommonPrefix);

  const name = (key: string) =>
    xml(query.get('encoding-type') === 'url' ? key.split('/').map(encode).join('/') : key);
  const isTruncated = page.length > 0 && entries.size > page.length;
  ctx.type = 'application/xml';
  // Written here, because s3rver's XML writer escapes `&` and `'` twice.
  ctx.body = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
    `<Name>${bucket}</Name><Prefix>${name(prefix)}</Prefix><MaxKeys>${maxKeys}</MaxKeys>`,
    `<KeyCount>${found.length + prefixes.length}</KeyCount><IsTruncated>${isTruncated}</IsTruncated>`,
    isTruncated ? `<NextContinuationToken>${base64url(page.at(-1))}</NextContinuationToken>` : '',
    ...found.map(
      ({ key, size, etag, lastModified }) =>
        `<Contents><Key>${name(key)}</Key><LastModified>${wholeSeconds(lastModified)}</LastModified>` +
        `<ETag>${xml(etag)}</ETag><Size>${size}</Size><StorageClass>STANDARD</StorageClass></Contents>`,
    ),
    ...prefixes.map((entry) => `<CommonPrefixes><Prefix>${name(entry)}</Prefix></CommonPrefixes>`),
    '</ListBucketResult>',
  ].join('\n');
}

/** After so many scans that differ, the last one is taken. */
const MAX_SCANS = 10;

/**
 * Scans until two scans agree: a page of S3 shows the bucket at one moment, while folders are read one after another,
 * and what is moved meanwhile from one to the other would be seen twice or not at all.
 */
async function atOneMoment<T extends { readonly found: unknown }>(scan: () => Promise<T>): Promise<T> {
  let last = await scan();
  for (let scans = 1; scans < MAX_SCANS; scans++) {
    const next = await scan();
    if (JSON.stringify(next.found) === JSON.stringify(last.found)) return next;
    last = next;
  }
  return last;
}

/** S3 keeps no fraction of a second, though it writes one: `2026-01-31T10:30:00.000Z`. */
const wholeSeconds = (time: Date): string => time.toISOString().replace(/\.\d+Z$/, '.000Z');

const xml = (text = ''): string => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

const base64url = (text = ''): string => Buffer.from(text).toString('base64url');
