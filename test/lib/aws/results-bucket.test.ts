import { describe, expect, it, vi } from 'vitest';
import { makeClients, makeUploadClient } from '../../../lib/aws/clients.ts';
import { downloadOrigins, s3ResultsBucket } from '../../../lib/aws/results-bucket.ts';
import { Overloaded } from '../../../lib/problems/problem.ts';
import { Bucket, file, freshFile, freshKey, resultsStore } from './results-store.ts';

const { store, s3, head } = await resultsStore(() => makeClients().s3);

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
    'links a file of %i bytes, for which the stage has an edge, at %s',
    async (bytes, origin, cacheControl) => {
      const link = new URL(await results(10_000, EDGE).presign('reports/1/a b.csv', 60, bytes));
      expect([link.origin, link.pathname]).toEqual([origin, '/results/reports/1/a%20b.csv']);
      expect(link.searchParams.get('response-cache-control')).toBe(cacheControl);
    },
  );
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
  it('make one try of each small call, since call.ts repeats it; give up dead connections; allow more calls at a time than the SDK’s 50; and add checksums only where S3 requires them', async () => {
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
