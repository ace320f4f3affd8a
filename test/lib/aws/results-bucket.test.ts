import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Upload } from '@aws-sdk/lib-storage';
import { describe, expect, it, vi } from 'vitest';
import { makeClients, makeUploadClient } from '../../../lib/aws/clients.ts';
import { s3LargeFiles } from '../../../lib/aws/large-files.ts';
import { downloadOrigins, s3ResultsBucket } from '../../../lib/aws/results-bucket.ts';
import { NotEngineCsv } from '../../../lib/csv/retype-csv.ts';
import { Overloaded } from '../../../lib/problems/problem.ts';
import { Bucket, file, freshFile, freshKey, location, MIB, resultsStore } from './results-store.ts';

const { store, s3, uploads, put, get, head } = await resultsStore();

/** The bucket, for calls that end within `callerWaitMs`. */
const results = (callerWaitMs = 10_000, edge?: string) =>
  s3ResultsBucket(s3, Bucket, Date.now() + callerWaitMs, edge);

describe('create and replace', () => {
  it('store a document as JSON', async () => {
    const key = freshKey();
    const first = await results().create(key, { a: 1 });
    expect((await head(key)).ContentType).toBe('application/json');
    await (first && results().replace(first, key, { a: 2 }));
    expect((await head(key)).ContentType).toBe('application/json');
  });
});

describe('writeFile', () => {
  it('makes no more tries than its caller allows', async () => {
    const key = freshFile();
    store.faults.set([{ on: 's3', match: `PUT ${key}`, status: 500 }]);
    await expect(results().writeFile(key, file, Buffer.from('a'), 1)).rejects.toThrow(Overloaded);
    expect(store.struck()).toEqual([1]);
    await expect(results().writeFile(key, file, Buffer.from('a'), 3)).rejects.toThrow(Overloaded);
    expect(store.struck()).toEqual([4]);
  });
});

describe('presign', () => {
  it('signs no header that a client would have to send', async () => {
    const url = await results().presign(freshKey(), 60, 1);
    const { searchParams } = new URL(url);
    expect(searchParams.get('X-Amz-Expires')).toBe('60');
    expect(searchParams.get('X-Amz-SignedHeaders')).toBe('host');
    expect([...searchParams.keys()].filter((name) => /checksum/i.test(name))).toEqual([]);
  });

  const EDGE = 'https://edge.example';
  // A file that is larger than the edge accepts is linked at the bucket.
  it.each([
    [30_000_000_000, EDGE, 'no-store'],
    [30_000_000_001, store.url, null],
  ])(
    'links a file of %i bytes at the edge, if the stage has one that takes it',
    async (bytes, origin, caching) => {
      const link = new URL(await results(10_000, EDGE).presign('reports/1/a b.csv', 60, bytes));
      expect([link.origin, link.pathname]).toEqual([origin, '/results/reports/1/a%20b.csv']);
      expect(link.searchParams.get('response-cache-control')).toBe(caching);
    },
  );
});

/** The bucket's large files, for calls that end within this many milliseconds. */
const files = (callerWaitMs = 10_000) => s3LargeFiles(uploads, Bucket, Date.now() + callerWaitMs);

describe('openResult', () => {
  it('gives a result that can still be read after the deadline for opening it', async () => {
    const body = 'x'.repeat(3 * MIB);
    await put('athena/long.csv', body);
    const bucket = files(500);
    const result = await bucket.openResult(location('athena/long.csv'));
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(result && (await text(result)).length).toBe(body.length);
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

  it('writes a large file in parts', async () => {
    const key = freshFile();
    const part = Buffer.alloc(5 * MIB, 'x');
    store.faults.set([{ on: 's3', match: 'PUT reports/' }]);
    expect(await files().uploadFile(key, file, opening(part, part, part, part))).toBe(20 * MIB);
    expect((await head(key)).ContentLength).toBe(20 * MIB);
    // Three parts of at most 8 MiB each.
    expect(store.faults.current()[0]?.matched).toBe(3);
  });

  it('tries a part up to three times before it begins the file again', async () => {
    const key = freshFile();
    const open = opening(Buffer.alloc(9 * MIB, 'x'));
    store.faults.set([{ on: 's3', match: `PUT ${key}`, status: 500, times: 2 }]);
    expect(await files().uploadFile(key, file, open)).toBe(9 * MIB);
    expect([store.struck(), open.mock.calls.length]).toEqual([[2], 1]);
  });

  it('begins the file again, with its content from the start, after three failed tries', async () => {
    const key = freshFile();
    const open = opening('a,b\n');
    store.faults.set([{ on: 's3', match: `PUT ${key}`, status: 500, times: 3 }]);
    expect(await files().uploadFile(key, file, open)).toBe(4);
    expect([store.struck(), open.mock.calls.length]).toEqual([[3], 2]);
    expect(await get(key)).toBe('a,b\n');
  });

  it.each([
    ['a small', ['a,b\n'], 0],
    ['a large', [Buffer.alloc(9 * MIB), Buffer.alloc(9 * MIB)], 1],
  ])(
    'if the content of %s file fails, throws that error after one try, and aborts a multipart upload that has begun',
    async (_, chunks, begun) => {
      const key = freshFile();
      const fault = new NotEngineCsv('a quote', 4, 1);
      const open = opening(...chunks, fault);
      store.faults.set([{ on: 's3', match: `DELETE ${key}` }]);
      await expect(files().uploadFile(key, file, open)).rejects.toBe(fault);
      expect(open).toHaveBeenCalledTimes(1);
      // If a multipart upload has begun, a DELETE aborts it.
      expect(store.faults.current()[0]?.matched).toBe(begun);
    },
  );

  it('tries again after an error in the content only if that error is retryable', async () => {
    const key = freshFile();
    const broken = Object.assign(new Error('socket'), { code: 'ECONNRESET' });
    let tries = 0;
    const open = async () => (tries++ === 0 ? content('a,', broken) : content('a,b\n'));
    // The size of what was written: the piece that the first try had sent does not count.
    expect(await files().uploadFile(key, file, open)).toBe(4);
    expect([tries, await get(key)]).toEqual([2, 'a,b\n']);
    await expect(files().uploadFile(freshFile(), file, opening(new TypeError('ours')))).rejects.toThrow(
      'S3 PutObject: TypeError, status none',
    );
  });

  it('gives one try all of the time, however slow the content is', async () => {
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    // The test makes all time limits a hundred times shorter: the usual 4 s are 40 ms, and this content needs 100 ms.
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(Math.ceil(ms / 100)));
    const open = vi.fn(async () => {
      if (open.mock.calls.length === 1) await new Promise((resolve) => setTimeout(resolve, 100));
      return content('a,b\n');
    });
    expect(await files(1_000_000).uploadFile(freshFile(), file, open)).toBe(4);
    expect(open).toHaveBeenCalledTimes(1);
  });

  it('throws Overloaded, and begins no upload, if opening the result took all of the time', async () => {
    const key = freshFile();
    store.faults.set([{ on: 's3', match: `PUT ${key}`, stall: true }]);
    const open = async () => {
      await new Promise((resolve) => setTimeout(resolve, 250));
      return content('a');
    };
    await expect(files(200).uploadFile(key, file, open)).rejects.toThrow(Overloaded);
    expect(store.struck()).toEqual([0]);
  });
});

describe('an upload that S3 does not answer', () => {
  it('is aborted when its time is up', async () => {
    const abort = vi.spyOn(Upload.prototype, 'abort');
    const key = freshFile();
    store.faults.set([{ on: 's3', match: `PUT ${key}`, stall: true }]);
    const uploading = files(300).uploadFile(key, file, async () => Readable.from([Buffer.from('a')]));
    await expect(uploading).rejects.toThrow(Overloaded);
    expect(abort).toHaveBeenCalledOnce();
  });
});

describe('the origins of downloads', () => {
  const EDGE = 'https://edge.example';
  const OURS = 'http://127.0.0.1:9000';
  const BUCKET = 'https://results.s3.eu-west-1.amazonaws.com';

  it.each([
    ['the origin of the bucket', undefined, undefined, [BUCKET]],
    ['the S3 endpoint that the environment names', OURS, undefined, [OURS]],
    ['the origins of the bucket and of the edge', undefined, EDGE, [BUCKET, EDGE]],
  ])('consist of %s', async (_, endpoint, edge, expected) => {
    vi.stubEnv('AWS_REGION', 'eu-west-1');
    vi.stubEnv('AWS_ENDPOINT_URL_S3', endpoint);
    expect(await downloadOrigins('results', edge)).toEqual(expected);
  });
});

describe('the clients', () => {
  it('make one try of each small call, since call.ts repeats it; give up dead connections; have 1,000 connections; and add checksums only where S3 requires them', async () => {
    const { athena, s3 } = makeClients();
    const uploads = makeUploadClient();
    expect(await athena.config.maxAttempts()).toBe(1);
    expect(await s3.config.maxAttempts()).toBe(1);
    expect(await uploads.config.maxAttempts()).toBe(3);
    for (const { config } of [athena, s3, uploads]) {
      const handler = config.requestHandler as unknown as { configProvider: Promise<object> };
      const patience = { connectionTimeout: 3_000, socketTimeout: 10_000 };
      const httpsAgent = expect.objectContaining({ maxSockets: 1_000 });
      expect(await handler.configProvider).toMatchObject({ ...patience, httpsAgent });
    }
    for (const { config } of [s3, uploads]) {
      expect(await config.requestChecksumCalculation()).toBe('WHEN_REQUIRED');
      expect(await config.responseChecksumValidation()).toBe('WHEN_REQUIRED');
    }
  });
});
