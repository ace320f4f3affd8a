import { noSuchKey, S3Error } from './s3-error.ts';
import type { StoreAnswer, StoreRequest } from './store-request.ts';
import type { StoredFile } from './stored-file.ts';

/** The response headers that a presigned URL may override. */
const OVERRIDES = new Set(
  [
    'content-type',
    'content-language',
    'expires',
    'cache-control',
    'content-disposition',
    'content-encoding',
  ].map((name) => `response-${name}`),
);

/** GetObject and HeadObject. Throws S3's error if the file is missing or does not have the range. */
export function readObject(
  { method, key, headers, parameters }: StoreRequest,
  file: StoredFile | undefined,
): StoreAnswer {
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
const isKnown = (headers: StoreRequest['headers'], metadata: Readonly<Record<string, string>>): boolean => {
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
  const overrides: Record<string, string> = {};
  for (const [name, value] of parameters) {
    if (!name.startsWith('response-')) continue;
    if (!OVERRIDES.has(name))
      throw new S3Error('InvalidArgument', `${name} is not in the set of overridable response headers.`, {
        ArgumentName: name,
        ArgumentValue: value,
      });
    overrides[name.slice('response-'.length)] = value;
  }
  return overrides;
}
