import type { Context } from '@20minutes/s3rver';
import { encodeURIComponentRFC3986 as encode } from '@20minutes/s3rver/lib/utils.js';
import type { ObjectFiles } from './object-files.ts';

// S3's page of a listing.
const MAX_KEYS = 1000;

/**
 * ListObjectsV2. Stands in for s3rver's, which loses keys between pages and encrypts its continuation tokens
 * with DES, which Node's OpenSSL no longer has: every listing of more than one page would be a 500.
 */
export async function listObjects(ctx: Context, objects: ObjectFiles): Promise<void> {
  const { bucket } = ctx.params;
  const query = new URLSearchParams(ctx.querystring);
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter') ?? '';
  const maxKeys = Math.min(Number(query.get('max-keys') ?? MAX_KEYS), MAX_KEYS);
  const token = query.get('continuation-token');
  const after = token === null ? query.get('start-after') : Buffer.from(token, 'base64url').toString();

  const upToDelimiter = (key: string) => {
    const at = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
    return at === -1 ? key : key.slice(0, at + delimiter.length);
  };
  const keys = (await objects.listKeys(bucket)).filter((key) => key.startsWith(prefix));
  const entries = [...new Set(keys.map(upToDelimiter))].filter((entry) => entry > (after ?? ''));
  const page = entries.slice(0, maxKeys);
  const isKey = new Set(keys);
  const found = await Promise.all(
    page.filter((entry) => isKey.has(entry)).map((key) => objects.headObject(bucket, key)),
  );

  const isTruncated = page.length > 0 && entries.length > page.length;
  const encoded = (key: string) =>
    query.get('encoding-type') === 'url' ? key.split('/').map(encode).join('/') : key;
  ctx.body = {
    ListBucketResult: {
      '@': { xmlns: 'http://s3.amazonaws.com/doc/2006-03-01/' },
      Name: bucket,
      Prefix: encoded(prefix),
      Delimiter: delimiter || undefined,
      EncodingType: query.get('encoding-type') ?? undefined,
      MaxKeys: maxKeys,
      KeyCount: page.length,
      IsTruncated: isTruncated,
      NextContinuationToken: isTruncated ? Buffer.from(page.at(-1) ?? '').toString('base64url') : undefined,
      Contents: found
        .filter((object) => object !== null)
        .map((object) => ({
          Key: encoded(object.key),
          LastModified: object.lastModifiedDate.toISOString(),
          ETag: object.metadata['etag'],
          Size: object.size,
          StorageClass: 'STANDARD',
        })),
      CommonPrefixes: page.filter((entry) => !isKey.has(entry)).map((entry) => ({ Prefix: encoded(entry) })),
    },
  };
}
