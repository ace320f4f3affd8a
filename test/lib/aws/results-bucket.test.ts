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
  for (const client of Object.values(clients)) client.destroy();
  await store.close();
  await rm(directory, { recursive: true });
});

/** The bucket, for calls that end within so many milliseconds. */
const results = (patienceMs = 10_000) => s3ResultsBucket(clients, Bucket, Date.now() + patienceMs);
let keys = 0;
const freshKey = (folder = 'jobs') => `${folder}/${++keys}.json`;
const put = (Key: string, text: string) =>
  clients.s3.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.from(text) }));
const get = async (Key: string) =>
  (await clients.s3.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString();
const remove = (Key: string) => clients.s3.send(new DeleteObjectCommand({ Bucket, Key }));
const location = (key: string) => `s3://${Bucket}/${key}`;
const MOMENT = expect.toSatisfy((ageMs: unknown) => ageMs === 0 || ageMs === 1_000);
const struck = () => faults.current().map(({ struck: times }) => times);

describe('head', () => {
  it('gives size and age of an object, and undefined where there is none', async () => {
    const key = freshKey();
    expect(await results().head(key)).toBeUndefined();
    await put(key, '12345');
    expect(await results().head(key)).toEqual({ bytes: 5, ageMs: MOMENT });
  });

  it('throws where the bucket is not ours', async () => {
    const elsewhere = s3ResultsBucket(clients, 'elsewhere', Date.now() + 5_000);
    await expect(elsewhere.read('x')).rejects.toThrow('S3 GetObject: NoSuchBucket, status 404');
  });
});

describe('read', () => {
  it('gives a document, its ETag and its age, and undefined where there is none', async () => {
    const key = freshKey();
    expect(await results().read(key)).toBeUndefined();
    const { ETag } = await put(key, '{"a":[1,"ü"]}');
    expect(await results().read(key)).toEqual({ document: { a: [1, 'ü'] }, etag: ETag, ageMs: MOMENT });
  });

  it.each(['', 'no JSON', '{"a":'])(
    'gives an object without JSON (%j) that may be replaced',
    async (body) => {
      const key = freshKey();
      await put(key, body);
      const stored = await results().read(key);
      expect(stored).toEqual({ document: undefined, etag: expect.stringMatching(/^"\w+"$/), ageMs: MOMENT });
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
    expect(written).toEqual({ document: { a: 1 }, etag: expect.stringMatching(/^"\w+"$/), ageMs: 0 });
    expect(await results().read(key)).toEqual({ ...written, ageMs: MOMENT });
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
    expect(await results().read(key)).toEqual({ ...winner, ageMs: MOMENT });
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

describe('readResult', () => {
  it("reads the engine's result where it says, and undefined where that is gone", async () => {
    await put('athena/q 1+ü.csv', 'a,b');
    const result = await results().readResult(location('athena/q%201+%C3%BC.csv'), 3);
    expect(result).toEqual({ bytes: 3, content: new Uint8Array(Buffer.from('a,b')) });
    expect(await results().readResult(location('athena/gone.csv'), 3)).toBeUndefined();
  });

  it('reads an empty result', async () => {
    await put('athena/empty.csv', '');
    expect(await results().readResult(location('athena/empty.csv'), 0)).toEqual({
      bytes: 0,
      content: new Uint8Array(),
    });
  });

  it('tells only the size of a larger one', async () => {
    await put('athena/larger.csv', 'a,b\n');
    expect(await results().readResult(location('athena/larger.csv'), 3)).toEqual({ bytes: 4 });
  });

  it('gives each reader bytes of its own', async () => {
    await put('athena/shared.csv', 'a,b');
    const read = async () => (await results().readResult(location('athena/shared.csv'), 3))?.content;
    const [one, other] = await Promise.all([read(), read()]);
    one?.fill(0);
    expect(Buffer.from(other ?? []).toString()).toBe('a,b');
  });

  it('throws where it may not be read', async () => {
    await expect(results().readResult('s3://elsewhere/athena/q1.csv', 9)).rejects.toThrow(AwsCallFailed);
  });
});

describe('openResult', () => {
  it("opens the engine's result where it says, and undefined where that is gone", async () => {
    await put('athena/q 2+ü.csv', 'a,b');
    const result = await results().openResult(location('athena/q%202+%C3%BC.csv'));
    expect(result && (await text(result))).toBe('a,b');
    expect(await results().openResult(location('athena/gone.csv'))).toBeUndefined();
  });

  it('can be read after the time by which it had to be opened', async () => {
    const body = 'x'.repeat(3 * MIB);
    await put('athena/long.csv', body);
    const bucket = results(500);
    const result = await bucket.openResult(location('athena/long.csv'));
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(result && (await text(result)).length).toBe(body.length);
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

const file = { fileName: 'report.csv', metadata: { 'query-execution-id': 'q1' } };
const freshFile = () => freshKey('reports').replace('.json', '/report.csv');

describe('writeFile', () => {
  it('writes a file with the headers that a browser needs', async () => {
    const key = freshFile();
    await results().writeFile(key, file, Buffer.from('a,b\n'));
    expect(await get(key)).toBe('a,b\n');
    const head = await clients.s3.send(new HeadObjectCommand({ Bucket, Key: key }));
    expect(head).toMatchObject({
      ContentType: 'text/csv; charset=utf-8',
      ContentDisposition: 'attachment; filename="report.csv"',
      Metadata: { 'query-execution-id': 'q1' },
    });
    expect(head.ContentEncoding).toBeUndefined();
  });

  it('says how the content is encoded', async () => {
    const key = freshFile();
    await results().writeFile(key, { ...file, encoding: 'gzip' }, Buffer.from('any'));
    const head = await clients.s3.send(new HeadObjectCommand({ Bucket, Key: key }));
    expect(head).toMatchObject({ ContentEncoding: 'gzip', ContentType: 'text/csv; charset=utf-8' });
  });

  it('leaves what is there as it is', async () => {
    const key = freshFile();
    await results().writeFile(key, file, Buffer.from('first'));
    await results().writeFile(key, file, Buffer.from('second'));
    expect(await get(key)).toBe('first');
  });

  it('tries again where another writer is at it this instant, or S3 fails', async () => {
    const key = freshFile();
    faults.set([
      { on: 's3', match: `PUT ${key}`, status: 409, times: 1 },
      { on: 's3', match: `PUT ${key}`, status: 500, times: 2 },
    ]);
    await results().writeFile(key, file, Buffer.from('a,b\n'));
    expect(await get(key)).toBe('a,b\n');
  });

  it('asks S3 no more often than it is told to', async () => {
    const key = freshFile();
    faults.set([{ on: 's3', match: `PUT ${key}`, status: 500 }]);
    await expect(results().writeFile(key, file, Buffer.from('a'), 1)).rejects.toThrow(Overloaded);
    expect(struck()).toEqual([1]);
    await expect(results().writeFile(key, file, Buffer.from('a'), 3)).rejects.toThrow(Overloaded);
    expect(struck()).toEqual([4]);
  });

  it('throws where S3 refuses', async () => {
    const elsewhere = s3ResultsBucket(clients, 'elsewhere', Date.now() + 5_000);
    await expect(elsewhere.writeFile('reports/x', file, Buffer.from('a'))).rejects.toThrow(AwsCallFailed);
  });
});

describe('uploadFile', () => {
  async function* content(...chunks: (string | Buffer | Error)[]): AsyncIterable<Uint8Array> {
    for (const chunk of chunks) {
      if (chunk instanceof Error) throw chunk;
      yield Buffer.from(chunk);
    }
  }
  const opening = (...chunks: (string | Buffer | Error)[]) => vi.fn(async () => content(...chunks));

  it('writes a file with the headers that a browser needs, and tells its size', async () => {
    const key = freshFile();
    expect(await results().uploadFile(key, { ...file, encoding: 'gzip' }, opening('a,', 'b\n'))).toBe(4);
    expect(await get(key)).toBe('a,b\n');
    expect(await clients.s3.send(new HeadObjectCommand({ Bucket, Key: key }))).toMatchObject({
      ContentType: 'text/csv; charset=utf-8',
      ContentEncoding: 'gzip',
      ContentDisposition: 'attachment; filename="report.csv"',
      Metadata: { 'query-execution-id': 'q1' },
    });
  });

  it('writes a large file in parts', async () => {
    const key = freshFile();
    const part = Buffer.alloc(5 * MIB, 'x');
    faults.set([{ on: 's3', match: 'PUT reports/' }]);
    expect(await results().uploadFile(key, file, opening(part, part, part, part))).toBe(20 * MIB);
    expect((await results().head(key))?.bytes).toBe(20 * MIB);
    // 8 MiB each.
    expect(faults.current()[0]?.matched).toBe(3);
  });

  it('tries a part three times before it begins the file again', async () => {
    const key = freshFile();
    const open = opening(Buffer.alloc(9 * MIB, 'x'));
    faults.set([{ on: 's3', match: `PUT ${key}`, status: 500, times: 2 }]);
    expect(await results().uploadFile(key, file, open)).toBe(9 * MIB);
    expect([struck(), open.mock.calls.length]).toEqual([[2], 1]);
  });

  it('begins the file again, with its content from the start, where that was not enough', async () => {
    const key = freshFile();
    const open = opening('a,b\n');
    faults.set([{ on: 's3', match: `PUT ${key}`, status: 500, times: 3 }]);
    expect(await results().uploadFile(key, file, open)).toBe(4);
    expect([struck(), open.mock.calls.length]).toEqual([[3], 2]);
    expect(await get(key)).toBe('a,b\n');
  });

  it.each([
    ['a small', [Buffer.from('second')]],
    ['a large', [Buffer.alloc(9 * MIB, 'x')]],
  ])('leaves what is there as it is, with %s file', async (_, chunks) => {
    const key = freshFile();
    await results().writeFile(key, file, Buffer.from('first'));
    expect(await results().uploadFile(key, file, opening(...chunks))).toBe(chunks[0]?.length);
    expect(await get(key)).toBe('first');
  });

  it('writes nothing where there is no content', async () => {
    const key = freshFile();
    expect(await results().uploadFile(key, file, async () => undefined)).toBeUndefined();
    expect(await results().head(key)).toBeUndefined();
  });

  it.each([
    ['a small', ['a,b\n'], 0],
    ['a large', [Buffer.alloc(9 * MIB), Buffer.alloc(9 * MIB)], 1],
  ])("throws the error of %s file's content after one try, and leaves no part", async (_, chunks, begun) => {
    const key = freshFile();
    const fault = new NotEngineCsv('a quote', 4, 1);
    const open = opening(...chunks, fault);
    faults.set([{ on: 's3', match: `DELETE ${key}` }]);
    await expect(results().uploadFile(key, file, open)).rejects.toBe(fault);
    expect(open).toHaveBeenCalledTimes(1);
    expect(await results().head(key)).toBeUndefined();
    // A multipart upload that was begun is given up.
    expect(faults.current()[0]?.matched).toBe(begun);
  });

  it('tries again after an error of the content only where it is retryable', async () => {
    const key = freshFile();
    const broken = Object.assign(new Error('socket'), { code: 'ECONNRESET' });
    let tries = 0;
    const open = async () => (tries++ === 0 ? content('a,', broken) : content('a,b\n'));
    // The size is that of the file that was written, without the piece of the first try.
    expect(await results().uploadFile(key, file, open)).toBe(4);
    expect([tries, await get(key)]).toEqual([2, 'a,b\n']);
    await expect(results().uploadFile(freshFile(), file, opening(new TypeError('ours')))).rejects.toThrow(
      'S3 PutObject: TypeError, status none',
    );
  });

  it('throws where S3 refuses', async () => {
    const elsewhere = s3ResultsBucket(clients, 'elsewhere', Date.now() + 5_000);
    await expect(elsewhere.uploadFile('reports/x', file, opening('a'))).rejects.toThrow(AwsCallFailed);
  });

  it('ends by its time where opening the result took all of it, with nothing begun', async () => {
    const key = freshFile();
    faults.set([{ on: 's3', match: `PUT ${key}`, stall: true }]);
    const open = async () => {
      await new Promise((resolve) => setTimeout(resolve, 250));
      return content('a');
    };
    const from = Date.now();
    await expect(results(200).uploadFile(key, file, open)).rejects.toThrow(Overloaded);
    expect(Date.now() - from).toBeLessThan(2_000);
    expect(struck()).toEqual([0]);
  });
});

describe('uploadFile, of a result that it opens', () => {
  const copying = (bucket: ResultsBucket, from: string) =>
    bucket.uploadFile(freshFile(), file, () => bucket.openResult(from));

  it('throws Overloaded where S3 does not give the result in time', async () => {
    faults.set([{ on: 's3', match: 'GET athena/busy', status: 500 }]);
    const error = await copying(results(1_000), location('athena/busy.csv')).catch((each: unknown) => each);
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
});

describe('locationOf', () => {
  it('names an object as Athena does', () => {
    expect(results().locationOf('athena/q1.csv')).toBe('s3://results/athena/q1.csv');
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
  const calls: [string, string, (bucket: ResultsBucket, key: string) => Promise<unknown>][] = [
    ['head', 'HEAD', (bucket, key) => bucket.head(key)],
    ['read', 'GET', (bucket, key) => bucket.read(key)],
    ['create', 'PUT', (bucket, key) => bucket.create(key, {})],
    ['replace', 'PUT', (bucket, key) => bucket.replace({ document: 1, etag: '"1"', ageMs: 0 }, key, {})],
    ['readResult', 'GET', (bucket, key) => bucket.readResult(location(key), 9)],
    ['writeFile', 'PUT', (bucket, key) => bucket.writeFile(key, file, Buffer.from('a'))],
  ];
  // Here the SDK pauses between tries of its own.
  const upload: (typeof calls)[number] = [
    'uploadFile',
    'PUT',
    (bucket, key) => bucket.uploadFile(key, file, async () => Readable.from([Buffer.from('a')])),
  ];

  it.each([...calls, upload])('%s ends in time where S3 does not answer', async (_, method, make) => {
    const key = freshKey();
    faults.set([{ on: 's3', match: `${method} ${key}`, stall: true }]);
    const from = Date.now();
    await expect(make(results(200), key)).rejects.toThrow(Unavailable);
    expect(Date.now() - from).toBeLessThan(2_000);
  });

  it.each(calls)(
    '%s throws Overloaded, with the call’s name, where S3 always throttles',
    async (_, method, make) => {
      const key = freshKey();
      faults.set([{ on: 's3', match: `${method} ${key}`, throttle: true }]);
      const error = (await make(results(400), key).catch((thrown: unknown) => thrown)) as Unavailable;
      expect(error).toBeInstanceOf(Unavailable);
      expect(error.cause).toMatchObject({
        operation: { HEAD: 'S3 HeadObject', GET: 'S3 GetObject', PUT: 'S3 PutObject' }[method],
        httpStatus: 503,
      });
    },
  );
});

describe('the clients', () => {
  it('make one try of a small call, since call.ts tries again, and give up on dead connections', async () => {
    const { athena, s3, uploads } = makeClients();
    expect(await athena.config.maxAttempts()).toBe(1);
    expect(await s3.config.maxAttempts()).toBe(1);
    expect(await uploads.config.maxAttempts()).toBe(3);
    for (const { config } of [athena, s3, uploads]) {
      const handler = config.requestHandler as unknown as {
        httpHandlerConfigs(): object;
        configProvider: Promise<object>;
      };
      expect(await handler.configProvider).toMatchObject({ connectionTimeout: 3_000, socketTimeout: 10_000 });
    }
    for (const { config } of [s3, uploads]) {
      expect(await config.requestChecksumCalculation()).toBe('WHEN_REQUIRED');
      expect(await config.responseChecksumValidation()).toBe('WHEN_REQUIRED');
    }
  });
});
