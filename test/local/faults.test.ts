import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AthenaClient, GetQueryExecutionCommand } from '@aws-sdk/client-athena';
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Athena, startAthena } from '../../local/athena/athena.ts';
import { createFaults, type Faults } from '../../local/faults/faults.ts';
import { type ObjectStore, startObjectStore } from '../../local/object-store/object-store.ts';

let home: string;
let faults: Faults;
let store: ObjectStore;
let s3: S3Client;
let athena: Athena;
let client: AthenaClient;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'faults-'));
  await mkdir(join(home, 'events'));
  await writeFile(join(home, 'events', 'file'), 'x');
  faults = createFaults();
  const shown = { events: join(home, 'events') };
  store = await startObjectStore({ directory: join(home, 'storage'), buckets: ['results'], shown, faults });
  const { url: endpoint, region, credentials } = store;
  s3 = new S3Client({ endpoint, region, credentials, maxAttempts: 1 });
  athena = await startAthena({
    engine: { maxRunning: 1, run: () => Promise.reject(new Error('there is no engine here')) },
    results: store,
    resultsUri: 's3://results/',
    database: 'reports',
    workgroup: 'reports',
    faults,
  });
  client = new AthenaClient({ endpoint: athena.url, region, credentials, maxAttempts: 1 });
});

afterEach(async () => {
  client.destroy();
  s3.destroy();
  await athena.close();
  await store.close();
  await rm(home, { recursive: true });
});

const getFile = (abortSignal?: AbortSignal) =>
  s3.send(new GetObjectCommand({ Bucket: 'events', Key: 'file' }), { ...(abortSignal && { abortSignal }) });
const list = (abortSignal?: AbortSignal) =>
  s3.send(new ListObjectsV2Command({ Bucket: 'events', Prefix: 'fi' }), {
    ...(abortSignal && { abortSignal }),
  });
const getExecution = (abortSignal?: AbortSignal) =>
  client.send(new GetQueryExecutionCommand({ QueryExecutionId: 'none' }), {
    ...(abortSignal && { abortSignal }),
  });

/** Resolves when the faults have struck this many calls: the server then has the calls. */
const struck = async (count: number) =>
  expect.poll(() => faults.current().reduce((sum, fault) => sum + fault.struck, 0)).toBe(count);

const ABORTED = { name: 'AbortError' };

describe('a stalled call', () => {
  it('of S3 hangs until its client disconnects, and other calls get answers', async () => {
    faults.set([{ on: 's3', match: 'LIST events/f', stall: true }]);
    const abort = new AbortController();
    const stalled = list(abort.signal);
    await struck(1);
    expect(await (await getFile()).Body?.transformToString()).toBe('x');
    abort.abort();
    await expect(stalled).rejects.toMatchObject(ABORTED);
    faults.set([{ on: 's3', match: 'GET file', stall: true, times: 1 }]);
    expect((await list()).KeyCount).toBe(1);
    const reading = new AbortController();
    const read = getFile(reading.signal);
    await struck(1);
    reading.abort();
    await expect(read).rejects.toMatchObject(ABORTED);
    expect(await (await getFile()).Body?.transformToString()).toBe('x');
  });

  it('that should write an object to S3 writes nothing', async () => {
    faults.set([{ on: 's3', match: 'PUT', stall: true }]);
    const abort = new AbortController();
    const object = { Bucket: 'results', Key: 'key', Body: 'x' };
    const write = s3.send(new PutObjectCommand(object), { abortSignal: abort.signal });
    await struck(1);
    abort.abort();
    await expect(write).rejects.toMatchObject(ABORTED);
    expect((await s3.send(new ListObjectsV2Command({ Bucket: 'results' }))).KeyCount).toBe(0);
  });
});

it('if a fault has the status 500, the call fails with AWS’s internal error', async () => {
  faults.set([
    { on: 's3', match: 'GET', status: 500 },
    { on: 'athena', status: 500 },
  ]);
  await expect(getFile()).rejects.toMatchObject({
    name: 'InternalError',
    $metadata: { httpStatusCode: 500 },
  });
  await expect(getExecution()).rejects.toMatchObject({ name: 'InternalServerException' });
});
