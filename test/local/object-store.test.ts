import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { Agent, type ClientRequest, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type PutObjectCommandInput,
  S3Client,
  type S3ClientConfig,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ObjectStore, startObjectStore } from '../../local/object-store/object-store.ts';

const Bucket = 'results';
const MIB = 2 ** 20;

const clientOf = (store: Pick<ObjectStore, 'url' | 'region' | 'credentials'>, more: S3ClientConfig = {}) =>
  new S3Client({
    ...more,
    endpoint: store.url,
    region: store.region,
    credentials: store.credentials,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });

let directory: string;
let store: ObjectStore;
let s3: S3Client;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'object-store-'));
  store = await startObjectStore({ directory, buckets: [Bucket], createOnlyPrefixes: ['once/'] });
  s3 = clientOf(store);
});

afterAll(async () => {
  s3.destroy();
  await store.close();
  await rm(directory, { recursive: true });
});

const put = (Key: string, Body: string | Buffer, more: Partial<PutObjectCommandInput> = {}) =>
  s3.send(new PutObjectCommand({ Bucket, Key, Body, ...more }));
const presign = (Key: string, expiresIn = 60) =>
  getSignedUrl(s3, new GetObjectCommand({ Bucket, Key }), { expiresIn });
const presignPut = (Key: string) => getSignedUrl(s3, new PutObjectCommand({ Bucket, Key }));
const read = async (Key: string) => (await fetch(await presign(Key))).text();
const statusOf = async (Key: string) => (await fetch(await presign(Key))).status;
const keys = async (Prefix: string) =>
  (await s3.send(new ListObjectsV2Command({ Bucket, Prefix }))).Contents?.map(({ Key }) => Key) ?? [];

/** The status, code and message of an error answer. */
const refusal = async (response: Response) => {
  const xml = await response.text();
  const element = (name: string) => new RegExp(`<${name}>(.*)</${name}>`).exec(xml)?.[1];
  return { status: response.status, code: element('Code'), message: element('Message') };
};

/** The total size of all files under a directory. It shows how much of an upload has arrived. */
const bytesUnder = async (path: string): Promise<number> => {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const sizes = entries.map((entry) =>
    entry.isFile()
      ? stat(join(entry.parentPath, entry.name)).then(
          ({ size }) => size,
          () => 0,
        )
      : 0,
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
};

/** Starts a PUT of `body`, and resolves when the first half of it is on the store's disk. */
const putHalf = async (url: string, body: Buffer, path: string, headers = {}): Promise<ClientRequest> => {
  const before = await bytesUnder(path);
  const half = request(url, { method: 'PUT', headers: { 'content-length': body.length, ...headers } });
  half.on('error', () => undefined);
  half.write(body.subarray(0, body.length / 2));
  await vi.waitFor(async () => expect(await bytesUnder(path)).toBe(before + body.length / 2), {
    timeout: 60_000,
  });
  return half;
};

describe('an object', () => {
  it('is read with the bytes and headers with which it was written', async () => {
    await put('headers.csv', '"Day"\n', {
      ContentType: 'text/csv; charset=utf-8',
      ContentDisposition: 'attachment; filename="two  spaces.csv"',
      CacheControl: 'private, max-age=60',
      Metadata: { report: 'publisher' },
    });

    const response = await fetch(await presign('headers.csv'));

    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="two  spaces.csv"',
      'cache-control': 'private, max-age=60',
      'x-amz-meta-report': 'publisher',
      'content-length': '6',
      'accept-ranges': 'bytes',
      etag: `"${createHash('md5').update('"Day"\n').digest('hex')}"`,
      'last-modified': expect.stringMatching(/ GMT$/),
    });
    expect(await response.text()).toBe('"Day"\n');
  });

  it.each(['../up', '..'])('may be named %j', async (key) => {
    await put(key, key);
    // The SDK reads the object, because fetch removes `..` from a URL.
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: key }));
    expect(await Body?.transformToString()).toBe(key);
    expect(await keys(key)).toContain(key);
  });

  it.each([
    ['bytes=0-0', 206, 'bytes 0-0/10', '0'],
    ['bytes=2-4', 206, 'bytes 2-4/10', '234'],
    ['bytes=7-', 206, 'bytes 7-9/10', '789'],
    ['bytes=7-99', 206, 'bytes 7-9/10', '789'],
    ['bytes=-3', 206, 'bytes 7-9/10', '789'],
    ['bytes=-99', 206, 'bytes 0-9/10', '0123456789'],
    ['bytes=0-1,4-5', 200, null, '0123456789'],
    ['lines=1-2', 200, null, '0123456789'],
  ])('answers the range %s with %i', async (range, status, contentRange, body) => {
    await put('range', '0123456789');
    const response = await fetch(await presign('range'), { headers: { range } });
    expect([response.status, response.headers.get('content-range'), await response.text()]).toEqual([
      status,
      contentRange,
      body,
    ]);
    expect(response.headers.get('content-length')).toBe(String(body.length));
  });

  it.each([
    ['range', 'bytes=10-'],
    ['range', 'bytes=-0'],
    ['nothing', 'bytes=0-'],
  ])('with the key "%s" does not have the range %s', async (key, range) => {
    await put('range', '0123456789');
    await put('nothing', Buffer.alloc(0));
    const response = await fetch(await presign(key), { headers: { range } });
    expect(await refusal(response)).toMatchObject({ status: 416, code: 'InvalidRange' });
  });

  it('gives 304 to a client that already has this version', async () => {
    const { ETag = '' } = await put('cached', 'x');
    const url = await presign('cached');
    expect((await fetch(url, { headers: { 'if-none-match': ETag } })).status).toBe(304);
    expect((await fetch(url, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  it.each([{ IfNoneMatch: '*' }, { IfMatch: 'its own' }])(
    'is not written with the condition %j if it is deleted during the write',
    async (condition) => {
      const Key = `deleted ${Object.keys(condition)}`;
      const { ETag = '' } = await put(Key, 'old');
      if (condition.IfNoneMatch) await s3.send(new DeleteObjectCommand({ Bucket, Key }));
      const more = condition.IfMatch ? { IfMatch: ETag } : condition;
      const url = await getSignedUrl(s3, new PutObjectCommand({ Bucket, Key, ...more }), {
        unhoistableHeaders: new Set(['if-none-match', 'if-match']),
      });
      const headers = condition.IfMatch ? { 'if-match': ETag } : { 'if-none-match': '*' };
      const half = await putHalf(url, randomBytes(2 * MIB), directory, headers);
      await s3.send(new DeleteObjectCommand({ Bucket, Key }));
      const answered = once(half, 'response');
      half.end(randomBytes(MIB));
      const [answer] = await answered;
      expect([answer.statusCode, await text(answer)]).toEqual([
        409,
        expect.stringContaining('<Code>ConditionalRequestConflict</Code>'),
      ]);
      expect(await statusOf(Key)).toBe(404);
    },
  );
});

describe('a listing', () => {
  beforeAll(async () => {
    for (const key of ['list/a', 'list/a-b', 'list/a/', 'list/a/1', 'list/a/2', 'list/b'])
      await put(key, key);
  });

  it('with a delimiter is not implemented', async () => {
    const command = new ListObjectsV2Command({ Bucket, Prefix: 'list/', Delimiter: '/' });
    await expect(s3.send(command)).rejects.toMatchObject({ name: 'NotImplemented' });
  });
});

describe('a multipart upload', () => {
  it('makes no object before it is completed, and can be completed only once', async () => {
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key: 'late' }));
    const part = { Bucket, Key: 'late', UploadId, PartNumber: 1 };
    const { ETag } = await s3.send(new UploadPartCommand({ ...part, Body: 'part' }));
    const upload = { ...part, MultipartUpload: { Parts: [{ PartNumber: 1, ETag }] } };
    expect(await statusOf('late')).toBe(404);
    expect(await keys('late')).toEqual([]);

    await s3.send(new CompleteMultipartUploadCommand(upload));
    expect(await read('late')).toBe('part');
    await expect(s3.send(new CompleteMultipartUploadCommand(upload))).rejects.toMatchObject({
      name: 'NoSuchUpload',
    });
  });

  it('with If-None-Match succeeds only once if two of them run at the same time', async () => {
    const bodies = ['a', 'b'].map((letter) => Buffer.alloc(6 * MIB, letter));
    const outcomes = await Promise.allSettled(
      bodies.map((Body) =>
        new Upload({ client: s3, params: { Bucket, Key: 'race', Body, IfNoneMatch: '*' } }).done(),
      ),
    );
    const winner = outcomes.findIndex(({ status }) => status === 'fulfilled');
    expect(outcomes[1 - winner]).toMatchObject({ reason: { name: 'PreconditionFailed' } });
    const response = await fetch(await presign('race'));
    expect(Buffer.from(await response.arrayBuffer()).equals(bodies[winner] as Buffer)).toBe(true);
  });
});

describe('a write', () => {
  it('shows no part of the object before the object is complete', async () => {
    const body = randomBytes(2 * MIB);
    const half = await putHalf(await presignPut('growing'), body, directory);
    expect(await statusOf('growing')).toBe(404);
    expect(await keys('growing')).toEqual([]);

    const answered = once(half, 'response');
    half.end(body.subarray(MIB));
    const [answer] = await answered;
    answer.resume();
    expect(answer.statusCode).toBe(200);
    expect(await keys('growing')).toEqual(['growing']);
  });

  it('that is cut off leaves the old object, and no partial file', async () => {
    await put('broken', 'before');
    const before = await bytesUnder(directory);
    const half = await putHalf(await presignPut('broken'), randomBytes(2 * MIB), directory);
    half.destroy();
    await vi.waitFor(async () => expect(await bytesUnder(directory)).toBe(before), { timeout: 60_000 });
    expect(await read('broken')).toBe('before');
  });

  it('does not change the bytes for a reader that has begun to read', async () => {
    const old = randomBytes(20 * MIB);
    await put('overwritten', old);
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: 'overwritten' }));
    await put('overwritten', 'new');
    await s3.send(new DeleteObjectCommand({ Bucket, Key: 'overwritten' }));
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
    const other = clientOf({ ...store, credentials: { ...store.credentials, ...wrong } });
    onTestFinished(() => other.destroy());
    const answer = other.send(new GetObjectCommand({ Bucket, Key: 'secret' }));
    await expect(answer).rejects.toMatchObject({ name, $metadata: { httpStatusCode: 403 } });
  });

  it('is denied with only a bearer token', async () => {
    const response = await fetch(`${store.url}/results/secret`, { headers: { authorization: 'Bearer x' } });
    expect(await refusal(response)).toMatchObject({
      status: 400,
      code: 'InvalidArgument',
      message: 'Unsupported Authorization Type',
    });
  });
});

describe('a presigned URL', () => {
  beforeAll(() => put('signed', 'x'));

  it.each<[string, (url: URL) => unknown]>([
    ['another path', (url) => Object.assign(url, { pathname: '/results/secret' })],
    ['an added, later expiry', (url) => url.searchParams.append('X-Amz-Expires', '604800')],
    ['one more parameter', (url) => url.searchParams.set('response-content-type', 'text/html')],
  ])('is refused with %s', async (_, tamper) => {
    const url = new URL(await presign('signed'));
    tamper(url);
    expect(await refusal(await fetch(url))).toMatchObject({ status: 403, code: 'SignatureDoesNotMatch' });
  });

  it.each(['soon', '-1', '1e3', ''])(
    'is refused with the expiry %j, even if its signature is valid',
    async (expiry) => {
      const response = await fetch(await presign('signed', expiry as unknown as number));
      expect(await refusal(response)).toMatchObject({
        status: 400,
        code: 'AuthorizationQueryParametersError',
      });
    },
  );

  it('is refused after its time', async () => {
    const command = new GetObjectCommand({ Bucket, Key: 'signed' });
    const url = await getSignedUrl(s3, command, {
      expiresIn: 60,
      signingDate: new Date(Date.now() - 62_000),
    });
    const [status, code, message] = [403, 'AccessDenied', 'Request has expired'];
    expect(await refusal(await fetch(url))).toEqual({ status, code, message });
  });

  it.each(['Bearer token', 'AWS4-HMAC-SHA256 x'])(
    'is refused together with the header Authorization: %s',
    async (authorization) => {
      const response = await fetch(await presign('signed'), { headers: { authorization } });
      expect(await refusal(response)).toMatchObject({
        status: 400,
        code: 'InvalidArgument',
        message: expect.stringMatching(/^Only one auth mechanism allowed/),
      });
    },
  );
});

describe('a request with a signature in its header', () => {
  type Signed = { path: string; query: Record<string, string>; headers: Record<string, string> };
  const stamp = (ms: number) => new Date(Date.now() + ms).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const SHA = 'x-amz-content-sha256';

  it.each<[string, (request: Signed) => unknown, status: number, code: string]>([
    [
      'another path',
      (request) => Object.assign(request, { path: '/results/signed' }),
      403,
      'SignatureDoesNotMatch',
    ],
    ['another query', ({ query }) => Object.assign(query, { prefix: 'x' }), 403, 'SignatureDoesNotMatch'],
    [
      'another header',
      ({ headers }) => Object.assign(headers, { range: '0-0' }),
      403,
      'SignatureDoesNotMatch',
    ],
    ['another time', ({ headers }) => (headers['x-amz-date'] = stamp(-5_000)), 403, 'SignatureDoesNotMatch'],
    ['a late clock', ({ headers }) => (headers['x-amz-date'] = stamp(-901_000)), 403, 'RequestTimeTooSkewed'],
    [
      'an early clock',
      ({ headers }) => (headers['x-amz-date'] = stamp(910_000)),
      403,
      'RequestTimeTooSkewed',
    ],
    [
      'an unsigned payload',
      ({ headers }) => (headers[SHA] = 'UNSIGNED-PAYLOAD'),
      403,
      'SignatureDoesNotMatch',
    ],
    [
      'chunks',
      ({ headers }) => (headers[SHA] = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'),
      400,
      'InvalidArgument',
    ],
  ])('is refused if it comes with %s', async (_, change, httpStatusCode, name) => {
    const command = new GetObjectCommand({ Bucket, Key: 'secret', Range: 'bytes=0-1' });
    command.middlewareStack.add(
      (next) => (args) => {
        change(args.request as Signed);
        return next(args);
      },
      { step: 'finalizeRequest', priority: 'low' },
    );
    const client = clientOf(store, { maxAttempts: 1 });
    await expect(client.send(command)).rejects.toMatchObject({ name, $metadata: { httpStatusCode } });
    client.destroy();
  });
});

describe('an AWS header that is not signed', () => {
  it('is refused, except the x-amz-cf-id of CloudFront', async () => {
    await put('unsigned', 'a');
    const withHeader = async (name: string) => fetch(await presign('unsigned'), { headers: { [name]: 'x' } });
    expect(await refusal(await withHeader('x-amz-request-payer'))).toMatchObject({
      status: 403,
      code: 'AccessDenied',
      message: 'There were headers present in the request which were not signed',
    });
    expect((await withHeader('x-amz-cf-id')).status).toBe(200);
  });
});

describe('a request that the store does not support', () => {
  it('is refused, and changes nothing', async () => {
    await put('untouched', 'x');
    const command = new DeleteObjectCommand({ Bucket, Key: 'untouched', VersionId: '1' });
    await expect(s3.send(command)).rejects.toMatchObject({ name: 'NotImplemented' });
    expect(await read('untouched')).toBe('x');
  });
});

describe('a prefix under which objects are written only once', () => {
  const sizes = { 'one request': 1, parts: 6 * MIB };

  it.each(Object.entries(sizes))('accepts a write in %s only with If-None-Match', async (name, size) => {
    const write = (Key: string, condition = {}) =>
      new Upload({ client: s3, params: { Bucket, Key, Body: Buffer.alloc(size), ...condition } }).done();
    const Key = `once/${name}`;
    await write(Key, { IfNoneMatch: '*' });
    for (const [key, condition] of [
      [Key, {}],
      [`${Key}, other`, {}],
      [Key, { IfMatch: '"any"' }],
    ] as const)
      await expect(write(key, condition)).rejects.toMatchObject({
        name: 'AccessDenied',
        $metadata: { httpStatusCode: 403 },
      });
    expect(await keys(Key)).toEqual([Key]);
  });
});

describe('close', () => {
  it('ends idle connections and unfinished requests at once', async () => {
    const path = await mkdtemp(join(tmpdir(), 'object-store-'));
    onTestFinished(() => rm(path, { recursive: true }));
    const closing = await startObjectStore({ directory: path, buckets: [Bucket] });
    const client = clientOf(closing);
    const agent = new Agent({ keepAlive: true });
    const idle = request(closing.url, { agent }).end();
    const [answer] = await once(idle, 'response');
    await text(answer);
    const url = await getSignedUrl(client, new PutObjectCommand({ Bucket, Key: 'cut' }));
    await putHalf(url, randomBytes(2 * MIB), path);

    await closing.close();

    await expect(fetch(closing.url)).rejects.toThrow();
    agent.destroy();
    client.destroy();
    await vi.waitFor(async () => expect(await bytesUnder(path)).toBe(0), { timeout: 60_000 });
  });
});
