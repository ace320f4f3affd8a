import { encodeUri, utf8Order, xmlDocument, xmlText } from './s3-text.ts';
import type { StoreAnswer, StoreRequest } from './store-request.ts';

// The maximum number of entries in a page of S3's listing.
const MAX_KEYS = 1000;

/** The keys that a listing asks for. */
export interface KeyRange {
  readonly prefix: string;
  /** Only keys after this one are needed. */
  readonly after: string;
  /** Whether all keys that begin with this one are listed as one common prefix. */
  isCollapsed(key: string): boolean;
}

/** The facts about an object in a listing. The entity tag has its quotes. */
export interface ListedObject {
  readonly size: number;
  readonly etag: string;
  readonly lastModified: Date;
}

/** A bucket that can be listed. */
export interface Listable {
  /** The keys that begin with the prefix, in S3's order. They may include keys that the range does not need. */
  keys(range: KeyRange): Iterable<string>;
  /** Undefined if the object was removed after its key was seen. */
  describe(key: string): ListedObject | undefined;
  /** Returns the result of a `scan` that saw the bucket at one moment. Needed if other programs change the bucket. */
  atOneMoment?<T>(scan: () => T): T;
}

/** ListObjectsV2. */
export function listObjects({ bucket, parameters }: StoreRequest, objects: Listable): StoreAnswer {
  const query = new Map(parameters);
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter') ?? '';
  const maxKeys = Math.min(Number(query.get('max-keys') ?? MAX_KEYS), MAX_KEYS);
  const token = query.get('continuation-token');
  const after =
    (token === undefined ? query.get('start-after') : Buffer.from(token, 'base64url').toString()) ?? '';

  const isCommonPrefix = (entry: string) => delimiter !== '' && entry.includes(delimiter, prefix.length);
  const upToDelimiter = (key: string) =>
    isCommonPrefix(key) ? key.slice(0, key.indexOf(delimiter, prefix.length) + delimiter.length) : key;
  const scan = () => {
    const entries = new Set<string>();
    for (const key of objects.keys({ prefix, after, isCollapsed: isCommonPrefix })) {
      const entry = upToDelimiter(key);
      if (utf8Order(entry, after) > 0) entries.add(entry);
      // One entry more than a page holds shows that there is another page.
      if (entries.size > maxKeys) break;
    }
    const page = [...entries].slice(0, maxKeys);
    const found = page.flatMap((key) => {
      const object = isCommonPrefix(key) ? undefined : objects.describe(key);
      return object ? [{ key, ...object }] : [];
    });
    return { entries, page, found };
  };
  const { entries, page, found } = objects.atOneMoment?.(scan) ?? scan();
  const prefixes = page.filter(isCommonPrefix);

  const isEncoded = query.get('encoding-type') === 'url';
  const name = (key: string) => xmlText(isEncoded ? key.split('/').map(encodeUri).join('/') : key);
  const isTruncated = page.length > 0 && entries.size > page.length;
  const body = xmlDocument(
    [
      '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
      `<Name>${bucket}</Name><Prefix>${name(prefix)}</Prefix><MaxKeys>${maxKeys}</MaxKeys>`,
      `<KeyCount>${found.length + prefixes.length}</KeyCount><IsTruncated>${isTruncated}</IsTruncated>`,
      isTruncated ? `<NextContinuationToken>${base64url(page.at(-1))}</NextContinuationToken>` : '',
      ...found.map(
        ({ key, size, etag, lastModified }) =>
          `<Contents><Key>${name(key)}</Key><LastModified>${wholeSeconds(lastModified)}</LastModified>` +
          `<ETag>${xmlText(etag)}</ETag><Size>${size}</Size><StorageClass>STANDARD</StorageClass></Contents>`,
      ),
      ...prefixes.map((entry) => `<CommonPrefixes><Prefix>${name(entry)}</Prefix></CommonPrefixes>`),
      '</ListBucketResult>',
    ].join('\n'),
  );
  return { status: 200, headers: { 'content-type': 'application/xml' }, body };
}

/** S3 stores no fraction of a second, but its listings contain one: `2026-01-31T10:30:00.000Z`. */
const wholeSeconds = (time: Date): string => time.toISOString().replace(/\.\d+Z$/, '.000Z');

const base64url = (text = ''): string => Buffer.from(text).toString('base64url');
