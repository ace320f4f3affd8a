import type { Readable } from 'node:stream';
import S3Object from '@20minutes/s3rver/lib/models/object.js';
import type { StoredFile } from './stored-file.ts';

/** Where the controller for GET and HEAD finds objects. `range` is a `Range` header. */
export interface ObjectReader {
  getObject(bucket: string, key: string, range?: string): Promise<S3Object | null>;
}

/** What the controller answers from. It answers `InvalidRange` to an object that has a range and no content. */
export async function readObject(
  file: StoredFile,
  {
    bucket,
    key,
    range,
  }: { readonly bucket: string; readonly key: string; readonly range?: string | undefined },
): Promise<S3Object> {
  const object = new S3Object<Readable | null>(bucket, key, null, file.metadata);
  const part = range ? byteRange(range, file.size) : undefined;
  if (part) object.range = part;
  if (part && part.start > part.end) await file.close();
  else object.content = await file.read(part?.start ?? 0, part?.end ?? file.size - 1);
  return object;
}

/** The bytes that a `Range` header asks for, both ends inclusive; undefined where it must be ignored. */
const byteRange = (header: string, size: number): { start: number; end: number } | undefined => {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header) ?? [];
  if (first) return { start: Number(first), end: Math.min(last ? Number(last) : size, size - 1) };
  if (last) return { start: Math.max(0, size - Number(last)), end: size - 1 };
  return undefined;
};
