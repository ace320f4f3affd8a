import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, afterEach, vi } from 'vitest';
import { makeClients, makeUploadClient } from '../../../lib/aws/clients.ts';
import type { ResultsKey } from '../../../lib/results/keys.ts';
import { createFaults, type Faults } from '../../../local/faults/faults.ts';
import { startObjectStore } from '../../../local/object-store/object-store.ts';

export const Bucket = 'results';
export const MIB = 2 ** 20;

/** The location of an object of the bucket, `s3://bucket/key`. */
export const location = (key: string) => `s3://${Bucket}/${key}`;

/** What is stored with a report's file. */
export const file = { fileName: 'report.csv', executionId: 'q1' };

/** Starts the one-machine S3 with a results bucket, and sets the environment so that the functions' clients use it. */
export async function startResultsStore() {
  const faults: Faults = createFaults();
  const directory = await mkdtemp(join(tmpdir(), 'results-store-'));
  const prefixes = { buckets: [Bucket], createOnlyPrefixes: ['reports/'] };
  const store = await startObjectStore({ directory, ...prefixes, faults });
  // As on Lambda, the environment gives region, credentials and endpoints.
  vi.stubEnv('AWS_ENDPOINT_URL_S3', store.url);
  vi.stubEnv('AWS_REGION', store.region);
  vi.stubEnv('AWS_ACCESS_KEY_ID', store.credentials.accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', store.credentials.secretAccessKey);
  const close = async () => {
    vi.unstubAllEnvs();
    await store.close();
    await rm(directory, { recursive: true });
  };
  // `struck` tells how often each fault has struck.
  return { url: store.url, faults, struck: () => faults.current().map(({ struck: times }) => times), close };
}

/** A store for all tests of a file, each of which begins without faults, and ways to its objects beside the code. */
export async function resultsStore() {
  const store = await startResultsStore();
  const [s3, uploads] = [makeClients().s3, makeUploadClient()];
  afterEach(() => {
    store.faults.set([]);
    vi.restoreAllMocks();
  });
  afterAll(async () => {
    for (const client of [s3, uploads]) client.destroy();
    await store.close();
  });
  const put = (Key: string, text: string) =>
    s3.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.from(text) }));
  const get = async (Key: string) =>
    (await s3.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString();
  const head = (Key: string) => s3.send(new HeadObjectCommand({ Bucket, Key }));
  return { store, s3, uploads, put, get, head };
}

let keys = 0;
export const freshKey = (): ResultsKey => `jobs/${++keys}.json`;
export const freshFile = (): ResultsKey => `reports/${++keys}/report.csv`;
