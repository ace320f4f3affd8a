import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Overloaded, Unavailable } from '../../../lib/answers/problem.ts';
import { AwsCallFailed } from '../../../lib/aws/aws-call-failed.ts';
import { type Clients, makeClients } from '../../../lib/aws/clients.ts';
import { s3ResultsBucket } from '../../../lib/aws/results-bucket.ts';
import { NotEngineCsv } from '../../../lib/csv/not-engine-csv.ts';
import type { ResultsBucket } from '../../../lib/delivery/results.ts';
import { createFaults } from '../../../local/faults/faults.ts';
import { type ObjectStore, startObjectStore } from '../../../local/object-store.ts';

const Bucket = 'results';
const MIB = 2 ** 20;
const faults = createFaults();
let directory: string;
let store: ObjectStore;
let clients: Clients;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'results-bucket-'));
  store = await startObjectStore({ directory, buckets: [Bucket], writtenOnce: ['reports/'], faults });
  // As on Lambda, where region, credentials and endpoints come from the environment.
  vi.stubEnv('AWS_ENDPOINT_URL_S3', store.url);
  vi.stubEnv('AWS_REGION', store.region);
  vi.stubEnv('AWS_ACCESS_KEY_ID', store.credentials.accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', store.credentials.secretAccessKey);
  clients = makeClients();
});
beforeEach(() => faults.set([]));
afterAll(async () => {
  vi.unstubAllEnvs();
  clients.s3.destroy();
  await store.close();
  await rm(directory, { recursive: true });
});

/** The bucket, for calls that end within so many milliseconds. */
const results = (patienceMs = 10_000) => s3ResultsBucket(clients.s3, Bucket, Date.now() + patienceMs);
let keys = 0;
const freshKey = (folder = 'orders') => `${folder}/${++keys}.json`;
const put = (Key: string, text: string) =>
  clients.s3.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.from(text) }));
const get = async (Key: string) =>
  (await clients.s3.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString();
const remove = (Key: string) => clients.s3.send(new DeleteObjectCommand({ Bucket, Key }));
const struck = () => faults.current().map(({ struck: times }) => times);

describe('head', () => {
  it('gives size and time of an object, and undefined where there is none', async () => {
    const key = freshKey();
    expect(await results().head(key)).toBeUndefined();
    await put(key, '12345');
    const facts = await results().head(key);
    expect(facts?.bytes).toBe(5);
    expect(Math.abs((facts?.lastModified ?? 0) - Date.now())).toBeLessThan(10_000);
  });

  it('throws where the bucket is not ours', async () => {
    const elsewhere = s3ResultsBucket(clients.s3, 'elsewhere', Date.now() + 5_000);
    await expect(elsewhere.read('x')).rejects.toThrow('S3 GetObject: NoSuchBucket, status 404');
  });
});

describe('read', () => {
  it('gives a document and its ETag, and undefined where there is none', async () => {
    const key = freshKey();
    expect(await results().read(key)).toBeUndefined();
    const { ETag } = await put(key, '{"a":[1,"ü"]}');
    expect(await results().read(key)).toEqual({ document: { a: [1, 'ü'] }, etag: ETag });
  });

  it.each(['', 'no JSON', '{"a":'])(
    'gives an object without JSON (%j) that may be replaced',
    async (body) => {
      const key = freshKey();
      await put(key, body);
      const stored = await results().read(key);
      expect(stored).toEqual({ document: undefined, etag: expect.stringMatching(/^"\w+"$/) });
      expect(stored && (await results().replace(stored, key, { b: 1 }))).toMatchObject({
        document: { b: 1 },
      });
    },
  );
});

describe('create', () => {
  it('writes a document where there is none, as JSON', async () => {
    const key = freshKey();
    const written = await results().create(key, { a: 1 });
    expect(written).toEqual({ document: { a: 1 }, etag: expect.stringMatching(/^"\w+"$/) });
    expect(await results().read(key)).toEqual(written);
    const head = await clients.s3.send(new HeadObjectCommand({ Bucket, Key: key }));
    expect(head.ContentType).toBe('application/json');
  });

  it('writes nothing where the key is taken', async () => {
    const key = freshKey();
    await results().create(key, { a: 1 });
    expect(await results().create(key, { a: 2 })).toBeUndefined();
    expect(await get(key)).toBe('{"a":1}');
  });

  it('succeeds for one of many that come at one time', async () => {
    const key = freshKey();
    const created = await Promise.all([1, 2, 3, 4, 5].map((a) => results().create(key, { a })));
    const [winner] = created.filter((each) => each !== undefined);
    expect(created.filter((each) => each !== undefined)).toHaveLength(1);
    expect(await results().read(key)).toEqual(winner);
  });
});

describe('replace', () => {
  it('writes where the object is still what was read; what it returns can be replaced again', async () => {
    const key = freshKey();
    const first = await results().create(key, { a: 1 });
    const second = first && (await results().replace(first, key, { a: 2 }));
    const third = second && (await results().replace(second, key, { a: 3 }));
    expect(third).toMatchObject({ document: { a: 3 } });
    expect(await get(key)).toBe('{"a":3}');
  });

  it('writes nothing where the object has changed, or is gone', async () => {
    const key = freshKey();
    const first = await results().create(key, { a: 1 });
    if (!first) throw new Error('not written');
    await results().replace(first, key, { a: 2 });
    expect(await results().replace(first, key, { a: 9 })).toBeUndefined();
    expect(await get(key)).toBe('{"a":2}');
    await remove(key);
    expect(await results().replace(first, key, { a: 9 })).toBeUndefined();
  });

  it('counts a conflict with another writer (409) as a write that came too late', async () => {
    const key = freshKey();
    faults.set([{ on: 's3', match: `PUT ${key}`, status: 409, times: 1 }]);
    expect(await results().create(key, {})).toBeUndefined();
    expect(struck()).toEqual([1]);
  });
});

describe('openResult', () => {
  const location = (key: string) => `s3://${Bucket}/${key}`;

  it("opens the engine's result where it says, and undefined where that is gone", async () => {
    await put('athena/q 1+ü.csv', 'a,b');
    const result = await results().openResult(location('athena/q%201+%C3%BC.csv'));
    expect([result?.bytes, result && (await text(result.content))]).toEqual([3, 'a,b']);
    expect(await results().openResult(location('athena/gone.csv'))).toBeUndefined();
  });

  it('can be read after the time by which it had to be opened', async () => {
    const body = 'x'.repeat(3 * MIB);
    await put('athena/long.csv', body);
    const result = await results(60).openResult(location('athena/long.csv'));
    await new Promise((resolve) => setTimeout(resolve, 120));
    expect(result && (await text(result.content)).length).toBe(body.length);
  });

  it('ends in time where S3 does not answer', async () => {
    faults.set([{ on: 's3', match: 'GET athena/stalled', stall: true }]);
    const from = Date.now();
    await expect(results(300).openResult(location('athena/stalled.csv'))).rejects.toThrow(Unavailable);
    expect(Date.now() - from).toBeLessThan(2_000);
  });

  it('throws where it may not be read', async () => {
    await expect(results().openResult('s3://elsewhere/athena/q1.csv')).rejects.toThrow(AwsCallFailed);
  });
});

describe('writeOnce', () => {
  const file = { fileName: 'report.csv', metadata: { 'query-execution-id': 'q1' } };
  async function* content(...chunks: (string | Buffer | Error)[]): AsyncIterable<Uint8Array> {
    for (const chunk of chunks) {
      if (chunk instanceof Error) throw chunk;
      yield Buffer.from(chunk);
    }
  }
  const opening = (...chunks: (string | Buffer | Error)[]) => vi.fn(async () => content(...chunks));
  const write = (
    to: ResultsBucket,
    key: string,
    open: Parameters<ResultsBucket['writeOnce']>[2],
    longestTryMs = Number.POSITIVE_INFINITY,
  ) => to.writeOnce(key, file, open, longestTryMs);
  const freshFile = () => freshKey('reports').replace('.json', '/report.csv');

  it('writes a file with the headers that a browser needs', async () => {
    const key = freshFile();
    expect(await write(results(), key, opening('a,', 'b\n'))).toBe(true);
    expect(await get(key)).toBe('a,b\n');
    expect(await clients.s3.send(new HeadObjectCommand({ Bucket, Key: key }))).toMatchObject({
      ContentType: 'text/csv; charset=utf-8',
      ContentDisposition: 'attachment; filename="report.csv"',
      Metadata: { 'query-execution-id': 'q1' },
    });
  });

  it('writes a large file in parts', async () => {
    const key = freshFile();
    const part = Buffer.alloc(5 * MIB, 'x');
    faults.set([{ on: 's3', match: 'PUT reports/' }]);
    expect(await write(results(), key, opening(part, part, part, part))).toBe(true);
    expect((await results().head(key))?.bytes).toBe(20 * MIB);
    // 8 MiB each.
    expect(faults.current()[0]?.matched).toBe(3);
  });

  it.each([
    ['a small', [Buffer.from('second')]],
    ['a large', [Buffer.alloc(9 * MIB, 'x')]],
  ])('leaves what is there as it is, with %s file', async (_, chunks) => {
    const key = freshFile();
    await write(results(), key, opening('first'));
    expect(await write(results(), key, opening(...chunks))).toBe(true);
    expect(await get(key)).toBe('first');
  });

  it('writes nothing where there is no content', async () => {
    const key = freshFile();
    expect(await write(results(), key, async () => undefined)).toBe(false);
    expect(await results().head(key)).toBeUndefined();
  });

  it('opens the content anew for each try', async () => {
    const key = freshFile();
    faults.set([{ on: 's3', match: `PUT ${key}`, status: 409, times: 1 }]);
    const open = opening('a,b\n');
    expect(await write(results(), key, open)).toBe(true);
    expect(open).toHaveBeenCalledTimes(2);
    expect(await get(key)).toBe('a,b\n');
  });

  it("throws the content's error after one try, and writes nothing", async () => {
    const key = freshFile();
    const fault = new NotEngineCsv('a quote', 4, 1);
    const open = opening('a,b\n', fault);
    await expect(write(results(), key, open)).rejects.toBe(fault);
    expect(open).toHaveBeenCalledTimes(1);
    expect(await results().head(key)).toBeUndefined();
  });

  it("throws the content's error of a large file too, and leaves no part of it", async () => {
    const key = freshFile();
    const fault = new NotEngineCsv('a quote', 4, 1);
    await expect(
      write(results(), key, opening(Buffer.alloc(9 * MIB), Buffer.alloc(9 * MIB), fault)),
    ).rejects.toBe(fault);
    expect(await results().head(key)).toBeUndefined();
  });

  it('tries again after an error of the content only where it is retryable', async () => {
    const key = freshFile();
    const broken = Object.assign(new Error('socket'), { code: 'ECONNRESET' });
    let tries = 0;
    const open = async () => (tries++ === 0 ? content('a,', broken) : content('a,b\n'));
    expect(await write(results(), key, open)).toBe(true);
    expect([tries, await get(key)]).toEqual([2, 'a,b\n']);
    await expect(write(results(), freshFile(), opening(new TypeError('ours')))).rejects.toThrow(
      'S3 PutObject: TypeError, status none',
    );
  });

  it('gives one try as long as it is told to, and tries again', async () => {
    const key = freshFile();
    faults.set([{ on: 's3', match: `PUT ${key}`, stall: true, times: 1 }]);
    const open = opening('a,b\n');
    expect(await write(results(), key, open, 500)).toBe(true);
    expect(open.mock.calls.length).toBeGreaterThan(1);
    expect(await get(key)).toBe('a,b\n');
  });

  it('throws where S3 refuses', async () => {
    const elsewhere = s3ResultsBucket(clients.s3, 'elsewhere', Date.now() + 5_000);
    await expect(write(elsewhere, 'reports/x', opening('a'))).rejects.toThrow(AwsCallFailed);
  });

  it('ends in time where S3 does not answer', async () => {
    const key = freshFile();
    faults.set([{ on: 's3', match: `PUT ${key}`, stall: true }]);
    const from = Date.now();
    await expect(write(results(300), key, opening('a'))).rejects.toThrow(Unavailable);
    expect(Date.now() - from).toBeLessThan(2_000);
  });
});

describe('writeOnce, of a result that it opens', () => {
  const file = { fileName: 'report.csv', metadata: {} };
  const copying = (bucket: ReturnType<typeof results>, from: string) =>
    bucket.writeOnce(
      freshKey('reports').replace('.json', '/report.csv'),
      file,
      async () => (await bucket.openResult(from))?.content,
      5_000,
    );

  it('throws Overloaded where S3 does not give the result in time', async () => {
    faults.set([{ on: 's3', match: 'GET athena/busy', status: 500 }]);
    const bucket = results(1_000);
    const error = await copying(bucket, `s3://${Bucket}/athena/busy.csv`).catch((each: unknown) => each);
    expect(error).toBeInstanceOf(Overloaded);
    expect(error).toMatchObject({ cause: { operation: 'S3 GetObject', httpStatus: 500 } });
  });

  it('names the call that failed: that of the result', async () => {
    const from = Date.now();
    await expect(copying(results(9_000), 's3://elsewhere/athena/q1.csv')).rejects.toThrow(
      'S3 GetObject: NoSuchBucket, status 404',
    );
    expect(Date.now() - from).toBeLessThan(5_000);
  });

  it('ends by its time where opening the result took longer than a try', async () => {
    const key = freshKey('reports').replace('.json', '/report.csv');
    faults.set([{ on: 's3', match: `PUT ${key}`, stall: true }]);
    const open = async () => {
      await new Promise((resolve) => setTimeout(resolve, 150));
      return Readable.from([Buffer.from('a')]);
    };
    const from = Date.now();
    await expect(results(500).writeOnce(key, file, open, 100)).rejects.toThrow(Overloaded);
    expect(Date.now() - from).toBeLessThan(2_000);
    // No multipart upload was left open.
    expect(struck()).toEqual([0]);
  });
});

describe('presign', () => {
  it('gives a URL that needs no credentials and signs no header that a client would have to send', async () => {
    const key = freshKey();
    await put(key, 'a,b');
    const url = await results().presign(key, 60);
    expect(await (await fetch(url)).text()).toBe('a,b');
    const { searchParams } = new URL(url);
    expect(searchParams.get('X-Amz-Expires')).toBe('60');
    expect(searchParams.get('X-Amz-SignedHeaders')).toBe('host');
    expect([...searchParams.keys()].filter((name) => /checksum/i.test(name))).toEqual([]);
  });
});

describe('every call', () => {
  // The SDK's own retries would take most of so short a time.
  const hurried = () => {
    const { url: endpoint, region, credentials } = store;
    const s3 = new S3Client({ endpoint, region, credentials, maxAttempts: 1 });
    return s3ResultsBucket(s3, Bucket, Date.now() + 200);
  };
  const calls: [string, string, (key: string) => Promise<unknown>][] = [
    ['head', 'HEAD', (key) => hurried().head(key)],
    ['read', 'GET', (key) => hurried().read(key)],
    ['create', 'PUT', (key) => hurried().create(key, {})],
    ['replace', 'PUT', (key) => hurried().replace({ document: 1, etag: '"1"' }, key, {})],
  ];

  it.each(calls)('%s ends in time where S3 does not answer', async (_, method, make) => {
    const key = freshKey();
    faults.set([{ on: 's3', match: `${method} ${key}`, stall: true }]);
    const from = Date.now();
    await expect(make(key)).rejects.toThrow(Unavailable);
    expect(Date.now() - from).toBeLessThan(2_000);
  });

  it.each(calls)(
    '%s throws Overloaded, with the call’s name, where S3 always throttles',
    async (_, method, make) => {
      const key = freshKey();
      faults.set([{ on: 's3', match: `${method} ${key}`, throttle: true }]);
      const error = (await make(key).catch((thrown: unknown) => thrown)) as Unavailable;
      expect(error).toBeInstanceOf(Unavailable);
      expect(error.cause).toMatchObject({
        operation: { HEAD: 'S3 HeadObject', GET: 'S3 GetObject', PUT: 'S3 PutObject' }[method],
        httpStatus: 503,
      });
    },
  );
});

describe('the clients', () => {
  it('make one try a call, since call.ts tries again, and give up on dead connections', async () => {
    const { athena, s3 } = makeClients();
    expect(await athena.config.maxAttempts()).toBe(1);
    for (const { config } of [athena, s3]) {
      const handler = config.requestHandler as unknown as {
        httpHandlerConfigs(): object;
        configProvider: Promise<object>;
      };
      expect(await handler.configProvider).toMatchObject({ connectionTimeout: 3_000, socketTimeout: 10_000 });
    }
    expect(await s3.config.requestChecksumCalculation()).toBe('WHEN_REQUIRED');
    expect(await s3.config.responseChecksumValidation()).toBe('WHEN_REQUIRED');
  });
});
