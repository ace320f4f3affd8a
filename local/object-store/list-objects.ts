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
  const isCommonPrefix = (entry: string) => delimiter !== '' && entry.includes(delimiter, prefix.length);
  const found = await Promise.all(
    page.filter((entry) => !isCommonPrefix(entry)).map((key) => objects.headObject(bucket, key)),
  );

  const name = (key: string) =>
    xml(query.get('encoding-type') === 'url' ? key.split('/').map(encode).join('/') : key);
  const isTruncated = page.length > 0 && entries.length > page.length;
  ctx.type = 'application/xml';
  // Written here, as s3rver's way from an object to XML escapes `&` and `'` twice.
  ctx.body = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
    `<Name>${bucket}</Name><Prefix>${name(prefix)}</Prefix><MaxKeys>${maxKeys}</MaxKeys>`,
    `<KeyCount>${page.length}</KeyCount><IsTruncated>${isTruncated}</IsTruncated>`,
    isTruncated ? `<NextContinuationToken>${base64url(page.at(-1))}</NextContinuationToken>` : '',
    ...found
      .filter((object) => object !== null)
      .map(
        (object) =>
          `<Contents><Key>${name(object.key)}</Key>` +
          `<LastModified>${object.lastModifiedDate.toISOString()}</LastModified>` +
          `<ETag>${xml(object.metadata['etag'])}</ETag><Size>${object.size}</Size>` +
          '<StorageClass>STANDARD</StorageClass></Contents>',
      ),
    ...page
      .filter(isCommonPrefix)
      .map((entry) => `<CommonPrefixes><Prefix>${name(entry)}</Prefix></CommonPrefixes>`),
    '</ListBucketResult>',
  ].join('\n');
}

const xml = (text = ''): string => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

const base64url = (text = ''): string => Buffer.from(text).toString('base64url');
