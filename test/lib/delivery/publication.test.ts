import { gunzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import * as publications from '../../../lib/delivery/publication.ts';
import { Overloaded } from '../../../lib/problems/problem.ts';
import { jobRecordKey } from '../../../lib/results/keys.ts';
import { readPublication } from '../../../lib/results/publication-request.ts';
import { type MemoryBucket, memoryBucket } from './memory-bucket.ts';
import { CSV, doneRecord, ENGINE_CSV, publication, publishingRecord, START, setting } from './setting.ts';
import { useFakeTime } from './settled.ts';

const { abandonPublication, publishLarge, requestPublication } = publications;

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
vi.mock('../../../lib/results/gzipped.ts', () => import('./gzipped-at-once.ts'));
useFakeTime();
const { key: KEY, record: RECORD, location } = publication;
const GZIPPED = `${KEY}.gz`;
const REQUEST = 'publications/q1.json';
const { location: _, ...published } = publishingRecord({ goodForMs: 9, slot: 's' });
/** A request of release 1.0.0, which names no record, partner or version of the data. */
const { dataVersion: _1, record: _2, partner: _3, ...least } = publication;
const file = { fileName: 'report.csv', metadata: { 'query-execution-id': 'q1', 'data-version': 'v1' } };
const SIZES = { plain: CSV.length, gzip: expect.any(Number) };

/** A bucket with the result of the publication's query, and the record that waits for its files. */
function withResult(text = ENGINE_CSV, bytes?: number, record: object = { ...published, location }) {
  const results = memoryBucket();
  results.putResult(location, text, bytes);
  results.put(RECORD, record);
  return results;
}

describe('publishLarge', () => {
  it('writes the gzipped file, then the plain one, and records each as soon as it is written', async () => {
    const results = withResult();
    const writes = vi.spyOn(results, 'replace');
    vi.setSystemTime(START + 4_000);
    const later = () => void vi.setSystemTime(START + 7_000);
    results.before(`uploadFile ${KEY}`, () => results.before(`uploadFile ${KEY}`, later));
    expect(await publishLarge(results, publication)).toBe(true);
    expect(results.objects.get(KEY)).toMatchObject({ text: CSV, file });
    expect(results.objects.get(GZIPPED)?.file).toEqual({ ...file, encoding: 'gzip' });
    expect(gunzipSync(results.objects.get(GZIPPED)?.content as Buffer).toString()).toBe(CSV);
    // The time since the query's end goes on from record to record.
    expect(writes.mock.calls.map(([, , document]) => document)).toEqual([
      { ...published, rows: 1, location, files: { gzip: SIZES.gzip }, endedForMs: 4_000 },
      { ...published, rows: 1, location, state: 'done', files: SIZES, endedForMs: 7_000 },
    ]);
  });

  it('writes the plain file first if the first caller takes no gzip', async () => {
    const results = withResult();
    const writes = vi.spyOn(results, 'replace');
    const plainFirst = { ...publication, isPlainFirst: true };
    expect(await publishLarge(results, plainFirst)).toBe(true);
    const done = { ...published, rows: 1, location, state: 'done', endedForMs: 0 };
    expect(writes.mock.calls.map(([, , document]) => document)).toEqual([
      { ...done, files: { plain: CSV.length } },
      { ...done, files: SIZES },
    ]);
    // If the gzipped file can't be made, the plain one is the report.
    const without = withResult();
    const { uploadFile } = without;
    without.uploadFile = (key, ...given) =>
      key === KEY ? uploadFile(key, ...given) : Promise.reject(new Overloaded('Later.', 30));
    await expect(publishLarge(without, plainFirst)).rejects.toThrow(Overloaded);
    without.put(REQUEST, plainFirst);
    await abandonPublication(without, REQUEST);
    expect(without.document(RECORD)).toEqual({ ...done, files: { plain: CSV.length } });
  });

  const GIB = 1024 ** 3;
  // What an earlier run had written before it was killed; the result's size; what this run writes, and records.
  it.each<[string[], number, string[], object]>([
    [[GZIPPED], 1, [KEY], { files: { plain: CSV.length, gzip: 4 }, rows: 1 }],
    [[KEY], 1, [GZIPPED], { files: { plain: 4, gzip: SIZES.gzip }, rows: 1 }],
    [[], 20 * GIB + 1, [KEY], { files: { plain: CSV.length }, rows: 1 }],
    [[KEY, GZIPPED], 1, [], { files: { plain: 4, gzip: 4 } }],
    [[], 20 * GIB, [GZIPPED, KEY], { files: SIZES, rows: 1 }],
  ])('writes nothing twice: after %j, a result of %d bytes', async (were, bytes, now, more) => {
    const results = withResult(ENGINE_CSV, bytes);
    for (const key of were) results.putFile(key, 'file');
    expect(await publishLarge(results, publication)).toBe(true);
    expect(results.callsOf('uploadFile')).toEqual(now.map((key) => `uploadFile ${key}`));
    const done = { ...published, location, state: 'done', endedForMs: 0 };
    expect(results.document(RECORD)).toEqual({ ...done, ...more });
  });

  it.each([0, 1, 2])('returns false if the result is gone after it was opened %d times', async (opened) => {
    const results = withResult();
    const remove = () => void results.objects.delete('athena/q1.csv');
    // A hook runs once: the first one sets the second one, for the next call that opens the result.
    if (opened === 0) remove();
    if (opened === 1) results.before('openResult', remove);
    if (opened === 2) results.before('openResult', () => results.before('openResult', remove));
    expect(await publishLarge(results, publication)).toBe(false);
    expect(results.keys(/^reports/)).toEqual(opened === 2 ? [GZIPPED] : []);
    expect(results.document(RECORD)).toMatchObject({ state: 'publishing' });
  });

  it.each<[string, object]>([
    ['of another publication', publishingRecord({ executionId: 'q2' })],
    ['of another report that is done', doneRecord({ executionId: 'q2' })],
    ['that can’t be read', { form: 1 }],
  ])('does not change a record %s', async (_, document) => {
    const results = withResult(ENGINE_CSV, undefined, document);
    expect(await publishLarge(results, publication)).toBe(true);
    expect([results.document(RECORD), results.callsOf('replace')]).toEqual([document, []]);
  });

  it('records its files if another changes the record at the same moment, and creates no record', async () => {
    const results = withResult();
    results.before(`replace ${RECORD}`, () => results.put(RECORD, publishingRecord({ writer: 'other' })));
    await publishLarge(results, publication);
    expect(results.document(RECORD)).toMatchObject({ state: 'done', writer: 'other', rows: 1 });
    results.objects.delete(RECORD);
    // Release 1.0.0 names no record.
    for (const wanted of [publication, least]) expect(await publishLarge(results, wanted)).toBe(true);
    expect(results.keys(/^jobs/)).toEqual([]);
  });
});

describe('requestPublication', () => {
  const FILE = 'reports/q1/publisherperformance_20260101T000000Z_20260103T000000Z.csv';

  /** Stores a job's record, runs `before`, and then requests the job's files. */
  async function requested(before: (results: MemoryBucket) => unknown = () => {}, isOfVersion = true) {
    const of = setting();
    const job = await of.job();
    const record = publishingRecord({ isOfVersion });
    const { etag } = of.results.put(jobRecordKey(job), record);
    before(of.results);
    const wait = of.wait(job, { partner: 'first-partner', acceptsGzip: true });
    const latest = await requestPublication(wait, record);
    const document = latest?.document as Record<string, unknown>;
    return { ...of, job, document, isChanged: latest?.etag !== etag };
  }

  it('stores what the publishing function needs; no version for a report that has none', async () => {
    const { results, job } = await requested();
    const { version: dataVersion } = job.data;
    const named = { key: FILE, fileName: FILE.slice(11), dataVersion, record: jobRecordKey(job) };
    expect(results.document(REQUEST)).toEqual({ ...publication, ...named });
    const { results: others } = await requested(() => {}, false);
    expect(others.document(REQUEST)).not.toHaveProperty('dataVersion');
  });

  // The publishing function has died after it wrote the files, or is of release 1.0.0, which tells by an object of its
  // own that it has given a publication up.
  it.each<[string, string[], boolean, object]>([
    ['both files', [FILE, `${FILE}.gz`], true, { state: 'done', files: { plain: 4, gzip: 4 } }],
    ['the plain file', [FILE], true, { state: 'done', files: { plain: 4 } }],
    ['the gzipped file', [`${FILE}.gz`], true, { state: 'publishing', files: { gzip: 4 } }],
    ['no file', ['reports/q0/x.csv'], false, { state: 'publishing', files: {} }],
    ['that it was given up', ['abandoned/q1.json'], true, { state: 'failed', why: 'unpublished' }],
    ['that it was given up, and the plain file', ['abandoned/q1.json', FILE], true, { state: 'done' }],
  ])('records what the record does not know: %s', async (_, keys, isChanged, record) => {
    const made = await requested((results) => keys.map((key) => results.putFile(key, 'file')));
    expect(made).toMatchObject({ isChanged, document: record });
    expect([made.document['rows'], made.results.callsOf('create abandoned')]).toEqual([undefined, []]);
  });
});

describe('readPublication', () => {
  const read = async (document: unknown, key = REQUEST) => {
    const results = memoryBucket();
    results.put(REQUEST, document);
    return readPublication(results, key);
  };
  const types = (['datetime', 'integer', 'string', 'float'] as const).map((type) => ({ name: type, type }));

  it.each([publication, least, { ...least, columns: types }])('reads every member: %o', async (document) => {
    expect(await read(document)).toEqual(document);
  });

  it.each<[string, object]>([
    ...Object.keys(least).map((name): [string, object] => [`without ${name}`, { [name]: undefined }]),
    ['of another form', { form: 2 }],
    ['with a key of another prefix', { key: 'elsewhere/q1/report.csv' }],
    ['with a column of an unknown type', { columns: [{ name: 'Day', type: 'day' }] }],
    ['with a column without a name', { columns: [{ type: 'float' }] }],
  ])('treats a request %s as absent', async (_, more) => {
    expect(await read({ ...publication, ...more })).toBeUndefined();
    expect(await read(publication, 'elsewhere/q1.json')).toBeUndefined();
  });
});

describe('abandonPublication', () => {
  it('records once in the job’s record that the report was not published', async () => {
    const results = withResult();
    results.put(REQUEST, publication);
    vi.setSystemTime(START + 4_000);
    const told = { queryExecutionId: 'q1', partner: 'first-partner' };
    for (const _ of [1, 2]) expect(await abandonPublication(results, REQUEST)).toEqual(told);
    const { files: _, goodForMs: __, ...record } = published;
    const failed = { state: 'failed', why: 'unpublished', reason: 'was not published', seenAfterMs: 0 };
    expect(results.document(RECORD)).toEqual({ ...record, ...failed, endedForMs: 4_000 });
    expect([results.callsOf('replace').length, results.keys(/^abandoned/)]).toEqual([1, []]);
  });

  it('fails if S3 does not answer, so that Lambda tries again', async () => {
    const results = withResult();
    results.put(REQUEST, publication);
    vi.spyOn(results, 'read').mockRejectedValueOnce(new Overloaded('Later.', 30));
    await expect(abandonPublication(results, REQUEST)).rejects.toThrow('Later.');
    expect(results.keys(/^abandoned/)).toEqual([]);
  });

  it.each<[string, object]>([
    ['for release 1.0.0', least],
    ['if the request can’t be read', { form: 2 }],
  ])('writes an object of its own once, %s', async (_, document) => {
    const results = withResult();
    results.put(REQUEST, document);
    const told = { queryExecutionId: 'q1' };
    for (const _ of [1, 2]) expect(await abandonPublication(results, REQUEST)).toEqual(told);
    expect(results.objects.get('abandoned/q1.json')).toMatchObject({ document: {}, etag: '"4"' });
    expect(results.document(RECORD)).toEqual({ ...published, location });
  });
});
