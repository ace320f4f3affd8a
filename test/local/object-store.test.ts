import { randomBytes } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { type ClientRequest, request } from 'node:http';
import { join } from 'node:path';
import { GetObjectCommand, PutObjectCommand, S3, type S3ClientConfig } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startObjectStore } from '../../local/object-store/object-store.ts';
import { ownFolder } from '../own-folder.ts';

const Bucket = 'results';
const MIB = 2 ** 20;

const directory = await ownFolder();
const store = await startObjectStore({ directory, buckets: [Bucket], createOnlyPrefixes: ['once/'] });
const clientOf = (more: S3ClientConfig = {}) => {
  const checksums = 'WHEN_REQUIRED';
  const { url: endpoint, region, credentials } = store;
  const none = { requestChecksumCalculation: checksums, responseChecksumValidation: checksums } as const;
  return new S3({ endpoint, region, credentials, ...none, ...more });
};
const s3 = clientOf();
afterAll(async () => {
  s3.destroy();
  await store.close();
});

const put = (Key: string, Body: string | Buffer) => s3.putObject({ Bucket, Key, Body });
const presign = (Key: string) => getSignedUrl(s3, new GetObjectCommand({ Bucket, Key }));
const presignPut = (Key: string) => getSignedUrl(s3, new PutObjectCommand({ Bucket, Key }));
const read = async (Key: string) => (await fetch(await presign(Key))).text();
const keys = async (Prefix: string) =>
  (await s3.listObjectsV2({ Bucket, Prefix })).Contents?.map(({ Key }) => Key) ?? [];

const refusal = async (response: Response) => {
  const xml = await response.text();
  const element = (name: string) => new RegExp(`<${name}>(.*)</${name}>`).exec(xml)?.[1];
  return { status: response.status, code: element('Code'), message: element('Message') };
};

/** The total size of all files under a directory. It shows how much of an upload has arrived. */
const bytesUnder = async (path: string): Promise<number> => {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = files.map(({ parentPath, name }) => stat(join(parentPath, name)).catch(() => ({ size: 0 })));
  return (await Promise.all(sizes)).reduce((sum, { size }) => sum + size, 0);
};

/** Starts a PUT of `body`, and resolves when the first half of it is on the store's disk. */
const putHalf = async (url: string, body: Buffer, path: string): Promise<ClientRequest> => {
  const before = await bytesUnder(path);
  const half = request(url, { method: 'PUT', headers: { 'content-length': body.length } });
  half.on('error', () => undefined);
  half.write(body.subarray(0, body.length / 2));
  await expect.poll(() => bytesUnder(path)).toBe(before + body.length / 2);
  return half;
};

describe('an object', () => {
  it.each(['../up', '..'])('may be named %j', async (key) => {
    await put(key, key);
    // The SDK reads the object, because fetch removes `..` from a URL.
    const { Body } = await s3.getObject({ Bucket, Key: key });
    expect(await Body?.transformToString()).toBe(key);
    expect(await keys(key)).toContain(key);
  });

  it.each([
    ['range', 'bytes=2-4', 206, 'bytes 2-4/10', '234'],
    ['range', 'bytes=7-99', 206, 'bytes 7-9/10', '789'],
    ['range', 'bytes=-3', 206, 'bytes 7-9/10', '789'],
    ['range', 'bytes=0-1,4-5', 200, null, '0123456789'],
    ['range', 'lines=1-2', 200, null, '0123456789'],
    ['range', 'bytes=10-', 416, null, expect.stringContaining('<Code>InvalidRange</Code>')],
    ['nothing', 'bytes=0-', 416, null, expect.stringContaining('<Code>InvalidRange</Code>')],
  ])('with the key "%s" answers the range %s with %i', async (key, range, status, contentRange, body) => {
    await put('range', '0123456789');
    await put('nothing', Buffer.alloc(0));
    const response = await fetch(await presign(key), { headers: { range } });
    const seen = [response.status, response.headers.get('content-range'), await response.text()];
    expect(seen).toEqual([status, contentRange, body]);
  });

  it('is not sent again to a client that names its ETag', async () => {
    const { ETag = '' } = await put('known', 'a');
    const response = await fetch(await presign('known'), { headers: { 'if-none-match': ETag } });
    expect([response.status, await response.text()]).toEqual([304, '']);
  });
});

describe('a write', () => {
  it('shows no part of the object before it is complete, and leaves the old object if it is cut off', async () => {
    await put('written', 'before');
    const before = await bytesUnder(directory);
    const half = await putHalf(await presignPut('written'), randomBytes(2 * MIB), directory);
    expect(await read('written')).toBe('before');
    half.destroy();
    await expect.poll(() => bytesUnder(directory)).toBe(before);
    expect(await read('written')).toBe('before');
  });

  it('does not change the bytes for a reader that has begun to read', async () => {
    const old = randomBytes(20 * MIB);
    await put('overwritten', old);
    const { Body } = await s3.getObject({ Bucket, Key: 'overwritten' });
    await put('overwritten', 'new');
    await s3.deleteObject({ Bucket, Key: 'overwritten' });
    expect(Buffer.from((await Body?.transformToByteArray()) ?? []).equals(old)).toBe(true);
  });
});

describe('a client without the right credentials', () => {
  beforeAll(() => put('secret', 'secret'));

  it.each([
    ['GET', '/results/no-such'],
    ['PUT', '/results/secret'],
    ['DELETE', '/results/secret'],
    ['OPTIONS', '/results/secret'],
  ])('is denied %s %s', async (method, path) => {
    const headers = { origin: 'http://example.com', 'access-control-request-method': 'GET' };
    const response = await fetch(store.url + path, { method, headers });
    expect(response.headers.get('content-type')).toBe('application/xml');
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    expect(await refusal(response)).toEqual({ status: 403, code: 'AccessDenied', message: 'Access Denied' });
    expect(await read('secret')).toBe('secret');
  });

  it.each([
    ['InvalidAccessKeyId', { accessKeyId: 'OTHER' }],
    ['SignatureDoesNotMatch', { secretAccessKey: 'guess' }],
  ])('is denied: %s', async (name, wrong) => {
    const other = clientOf({ credentials: { ...store.credentials, ...wrong } });
    onTestFinished(() => other.destroy());
    const refused = { name, $metadata: { httpStatusCode: 403 } };
    await expect(other.getObject({ Bucket, Key: 'secret' })).rejects.toMatchObject(refused);
  });

  it('is denied with only a bearer token', async () => {
    const response = await fetch(`${store.url}/results/secret`, { headers: { authorization: 'Bearer x' } });
    const message = 'Unsupported Authorization Type';
    expect(await refusal(response)).toEqual({ status: 400, code: 'InvalidArgument', message });
  });
});

type Signed = { path: string; query: Record<string, string>; headers: Record<string, string> };
const stamp = (ms: number) => new Date(Date.now() + ms).toISOString().replaceAll(/[-:]|\.\d+/g, '');
const SHA = 'x-amz-content-sha256';
const MISMATCH = 'SignatureDoesNotMatch';

it.each<[string, (request: Signed) => unknown, code: string]>([
  ['another path', (request) => Object.assign(request, { path: '/results/other' }), MISMATCH],
  ['another query', ({ query }) => Object.assign(query, { prefix: 'x' }), MISMATCH],
  ['another header', ({ headers }) => Object.assign(headers, { range: '0-0' }), MISMATCH],
  ['an unsigned payload', ({ headers }) => (headers[SHA] = 'UNSIGNED-PAYLOAD'), MISMATCH],
  ['a late clock', ({ headers }) => (headers['x-amz-date'] = stamp(-901_000)), 'RequestTimeTooSkewed'],
  ['an early clock', ({ headers }) => (headers['x-amz-date'] = stamp(910_000)), 'RequestTimeTooSkewed'],
])('a request with a signature in its header is refused if it comes with %s', async (_, change, name) => {
  const command = new GetObjectCommand({ Bucket, Key: 'secret', Range: 'bytes=0-1' });
  command.middlewareStack.add(
    (next) => (args) => {
      change(args.request as Signed);
      return next(args);
    },
    { step: 'finalizeRequest', priority: 'low' },
  );
  const client = clientOf({ maxAttempts: 1 });
  await expect(client.send(command)).rejects.toMatchObject({ name });
  client.destroy();
});

it.each(Object.entries({ 'one request': 1, parts: 6 * MIB }))(
  'a prefix of objects that are written only once accepts a write in %s only with If-None-Match',
  async (name, size) => {
    const write = (Key: string, condition = {}) =>
      new Upload({ client: s3, params: { Bucket, Key, Body: Buffer.alloc(size), ...condition } }).done();
    const Key = `once/${name}`;
    await write(Key, { IfNoneMatch: '*' });
    const withMatch = () => write(Key, { IfMatch: '"any"' });
    for (const refused of [() => write(Key), () => write(`${Key}, other`), withMatch])
      await expect(refused()).rejects.toMatchObject({ name: 'AccessDenied' });
    expect(await keys(Key)).toEqual([Key]);
  },
);
