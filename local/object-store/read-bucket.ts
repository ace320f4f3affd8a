/** GetObject, HeadObject and ListObjectsV2. */
import type { Readable } from 'node:stream';
import {
  encodeUri,
  invalidArgument,
  noSuchKey,
  S3Error,
  type StoreAnswer,
  type StoreRequest,
  utf8Order,
  xmlDocument,
  xmlText,
} from './s3-protocol.ts';

// The maximum number of entries in a page of S3's listing.
const MAX_KEYS = 1000;

/** The keys that a listing asks for. */
export interface KeyRange {
  readonly prefix: string;
  /** Only keys after this one are needed. */
  readonly after: string;
}

/** The facts about an object in a listing. The entity tag has its quotes. */
export interface ListedObject {
  readonly size: number;
  readonly etag: string;
  readonly lastModified: Date;
}

/** The headers that S3 keeps with an object and sends with it. Their names are in lower case. */
export type Metadata = Readonly<Record<string, string>>;

/** An open file. Its bytes and metadata stay the same, even if the file is replaced or removed meanwhile. */
export interface StoredFile {
  readonly size: number;
  readonly metadata: Metadata;
  /** Returns the bytes from `start` to `end`, both inclusive, and closes the file after them. */
  read(start: number, end: number): Buffer | Readable;
  close(): void;
}

/** A bucket that can be read. */
export interface ReadableBucket {
  open(key: string): StoredFile | undefined;
  /** The keys that begin with the prefix, in S3's order. They may include keys that the range does not need. */
  keys(range: KeyRange): Iterable<string>;
  /** Undefined if the object was removed after its key was seen. */
  describe(key: string): ListedObject | undefined;
  /** Returns the result of a `scan` that saw the bucket at one moment. Needed if other programs change the bucket. */
  atOneMoment?<T>(scan: () => T): T;
}

/** The response headers that a presigned URL may override. */
const OVERRIDES =
  /^response-(content-type|content-language|expires|cache-control|content-disposition|content-encoding)$/;

/** GetObject and HeadObject. Throws S3's error if the file is missing or does not have the range. */
export function readObject(
  { method, key, headers, parameters }: StoreRequest,
  bucket: ReadableBucket,
): StoreAnswer {
  const file = bucket.open(key);
  if (!file) throw noSuchKey({ Key: key });
  const { size, metadata } = file;
  const range = byteRange(headers.range, size);
  let isRead = false;
  try {
    if (range && range.start > range.end)
      throw new S3Error('InvalidRange', 'The requested range is not satisfiable', {
        RangeRequested: headers.range,
        ActualObjectSize: size,
      });
    if (isKnown(headers, metadata)) return { status: 304 };
    const { start, end } = range ?? { start: 0, end: size - 1 };
    const answer = {
      status: range ? 206 : 200,
      headers: {
        'accept-ranges': 'bytes',
        ...metadata,
        'content-length': end + 1 - start,
        ...(range && { 'content-range': `bytes ${start}-${end}/${size}` }),
        ...overridesOf(parameters),
      },
    };
    if (method === 'HEAD') return answer;
    isRead = true;
    return { ...answer, body: file.read(start, end) };
  } finally {
    if (!isRead) file.close();
  }
}

/** Whether the client already has this version, as its conditional headers say. */
const isKnown = (headers: StoreRequest['headers'], metadata: Metadata): boolean => {
  const etag = headers['if-none-match'];
  const since = Date.parse(headers['if-modified-since'] ?? '');
  return etag === '*' || etag === metadata['etag'] || since >= Date.parse(metadata['last-modified'] ?? '');
};

/** The bytes that a `Range` header asks for, both ends inclusive. Undefined if the header must be ignored. */
const byteRange = (header = '', size: number): { start: number; end: number } | undefined => {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header) ?? [];
  if (first) return { start: Number(first), end: Math.min(last ? Number(last) : size, size - 1) };
  if (last) return { start: Math.max(0, size - Number(last)), end: size - 1 };
  return undefined;
};

function overridesOf(parameters: StoreRequest['parameters']): Record<string, string> {
  const named = parameters.filter(([name]) => name.startsWith('response-'));
  for (const [name, value] of named)
    if (!OVERRIDES.test(name))
      throw invalidArgument(`${name} is not in the set of overridable response headers.`, name, value);
  return Object.fromEntries(named.map(([name, value]) => [name.slice('response-'.length), value]));
}

/** ListObjectsV2, without a delimiter. */
export function listObjects({ bucket: name, parameters }: StoreRequest, bucket: ReadableBucket): StoreAnswer {
  const query = new Map(parameters);
  const prefix = query.get('prefix') ?? '';
  const maxKeys = Math.min(Number(query.get('max-keys') ?? MAX_KEYS), MAX_KEYS);
  const token = query.get('continuation-token');
  const after =
    (token === undefined ? query.get('start-after') : Buffer.from(token, 'base64url').toString()) ?? '';
  const scan = () => {
    const keys: string[] = [];
    for (const key of bucket.keys({ prefix, after })) {
      if (utf8Order(key, after) > 0) keys.push(key);
      // One key more than a page holds shows that there is another page.
      if (keys.length > maxKeys) break;
    }
    const page = keys.slice(0, maxKeys);
    const objects = page.map((key) => ({ key, ...bucket.describe(key) }));
    return { objects, last: keys.length > page.length ? page.at(-1) : undefined };
  };
  const { objects, last } = bucket.atOneMoment?.(scan) ?? scan();

  const isEncoded = query.get('encoding-type') === 'url';
  const spelled = (key: string) => xmlText(isEncoded ? key.split('/').map(encodeUri).join('/') : key);
  const next = last && Buffer.from(last).toString('base64url');
  const contents = objects.flatMap(({ key, size, etag, lastModified }) => {
    // The object was removed after its key was seen.
    if (!etag || !lastModified) return [];
    // S3 stores no fraction of a second, but its listings contain one: `2026-01-31T10:30:00.000Z`.
    const time = lastModified.toISOString().replace(/\.\d+Z$/, '.000Z');
    return [
      `<Contents><Key>${spelled(key)}</Key><LastModified>${time}</LastModified><ETag>${xmlText(etag)}</ETag>` +
        `<Size>${size}</Size><StorageClass>STANDARD</StorageClass></Contents>`,
    ];
  });
  return xmlDocument(
    [
      '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
      `<Name>${name}</Name><Prefix>${spelled(prefix)}</Prefix><MaxKeys>${maxKeys}</MaxKeys>`,
      `<KeyCount>${contents.length}</KeyCount><IsTruncated>${next !== undefined}</IsTruncated>`,
      next ? `<NextContinuationToken>${next}</NextContinuationToken>` : '',
      ...contents,
      '</ListBucketResult>',
    ].join('\n'),
  );
}
