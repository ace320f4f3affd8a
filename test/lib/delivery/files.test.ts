import { gunzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { NotEngineCsv } from '../../../lib/csv/not-engine-csv.ts';
import {
  abandonPublication,
  awaitPublication,
  MAX_SMALL_BYTES,
  type Publication,
  publishLarge,
  readPublication,
  writeReport,
} from '../../../lib/delivery/files.ts';
import { Overloaded } from '../../../lib/problems/problem.ts';
import type { JobRecord } from '../../../lib/results/job-record.ts';
import { jobRecordKey } from '../../../lib/results/keys.ts';
import { type MemoryBucket, memoryBucket } from './memory-bucket.ts';
import {
  CSV,
  doneRecord,
  ENGINE_CSV,
  failedRecord,
  publishingRecord,
  START,
  setting,
  underWayRecord,
} from './setting.ts';
import { settled, useFakeTime } from './settled.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
vi.mock('../../../lib/results/gzipped.ts', () => import('./gzipped-at-once.ts'));
useFakeTime();

const KEY = 'reports/q1/report.csv';
const GZIPPED = `${KEY}.gz`;
const REQUEST = 'publications/q1.json';
const ABANDONED = 'abandoned/q1.json';
const RECORD = 'jobs/job-1.json';
const least: Publication = {
  form: 1,
  executionId: 'q1',
  location: 's3://results/athena/q1.csv',
  key: KEY,
  fileName: 'report.csv',
  columns: [
    { name: 'Day', type: 'datetime' },
    { name: 'Clicks', type: 'integer' },
  ],
};
const publication: Publication = { ...least, dataVersion: 'v1', record: RECORD, partner: 'first-partner' };
const metadata = { 'query-execution-id': 'q1', 'data-version': 'v1' };
const file = { fileName: 'report.csv', metadata };
const waiting = publishingRecord({ goodForMs: 9, slot: 's' });
const { location, ...published } = waiting;
const SIZES = { plain: CSV.length, gzip: expect.any(Number) };

/** A bucket with the result of the publication's query, and the record that waits for its files. */
function withResult(text = ENGINE_CSV, bytes?: number, record: JobRecord = waiting): MemoryBucket {
  const results = memoryBucket();
  results.putResult(publication.location, text, bytes);
  results.put(RECORD, record);
  return results;
}

describe('writeReport', () => {
  const write = (results: MemoryBucket, text = ENGINE_CSV) =>
    settled(writeReport(results, publication, Buffer.from(text)));
  /** Replaces the writes of one file. */
  const writing = (key: string, as: () => Promise<void>) => {
    const results = memoryBucket();
    const { writeFile } = results;
    results.writeFile = (of, ...given) => (of === key ? as() : writeFile(of, ...given));
    return results;
  };
  const pause = (ms: number) => () => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const late = () => Promise.reject(new Overloaded('Later.', 30));

  it('makes both files from the result, and returns their sizes and the number of rows', async () => {
    const results = memoryBucket();
    expect(await write(results, `${ENGINE_CSV}"2026-01-02T00:00:00Z",\n`)).toEqual({
      files: { plain: CSV.length + 24, gzip: results.objects.get(GZIPPED)?.bytes },
      rows: 2,
    });
    const [plain, gzip] = [results.objects.get(KEY), results.objects.get(GZIPPED)];
    expect(plain).toMatchObject({ text: `${CSV}"2026-01-02T00:00:00Z",\n`, file });
    expect(gzip).toMatchObject({ text: plain?.text, file: { ...file, encoding: 'gzip' } });
    expect([...results.calls].sort()).toEqual([`writeFile ${KEY}`, `writeFile ${GZIPPED}`]);
  });

  it('names no data version in the files if the report has none', async () => {
    const results = memoryBucket();
    await settled(writeReport(results, least, Buffer.from(ENGINE_CSV)));
    expect(results.objects.get(KEY)?.file?.metadata).toEqual({ 'query-execution-id': 'q1' });
  });

  it('tries to write the gzipped file once, and the plain one for as long as the request has time', async () => {
    const results = memoryBucket();
    const tries = new Map<string, number | undefined>();
    results.writeFile = async (key, _file, _content, most) => void tries.set(key, most);
    await write(results);
    expect([tries.get(KEY), tries.get(GZIPPED)]).toEqual([undefined, 1]);
  });

  it.each<[string, () => Promise<void>, object, number]>([
    ['can’t be written', late, { plain: CSV.length }, 0],
    ['is not written within a second after the plain one', pause(60_000), { plain: CSV.length }, 1_000],
    ['is written within a second after the plain one', pause(999), SIZES, 999],
  ])('waits for the gzipped file only a little: if it %s', async (_what, as, files, ms) => {
    expect((await write(writing(GZIPPED, as))).files).toEqual(files);
    expect(Date.now() - START).toBe(ms);
  });

  it('throws if the plain file can’t be written', async () => {
    await expect(write(writing(KEY, late))).rejects.toThrow(Overloaded);
  });

  it("writes nothing of a result that is not the engine's CSV", async () => {
    const results = memoryBucket();
    await expect(write(results, 'nonsense')).rejects.toThrow(NotEngineCsv);
    expect(results.calls).toEqual([]);
  });

  it('is for results of up to 16 MiB', () => {
    expect(MAX_SMALL_BYTES).toBe(16 * 1024 ** 2);
  });
});

describe('publishLarge', () => {
  /** The record's state and members each time that it is written. */
  const writesOf = (results: MemoryBucket) => {
    const writes: unknown[] = [];
    const { replace } = results;
    results.replace = (was, key, document) => {
      writes.push(document);
      return replace(was, key, document);
    };
    return writes;
  };

  it('writes the gzipped file, then the plain one, and records each as soon as it is written', async () => {
    const results = withResult();
    const writes = writesOf(results);
    vi.setSystemTime(START + 4_000);
    expect(await publishLarge(results, publication)).toBe(true);
    expect(results.objects.get(KEY)).toMatchObject({ text: CSV, file });
    expect(results.objects.get(GZIPPED)?.file).toEqual({ ...file, encoding: 'gzip' });
    expect(gunzipSync(results.objects.get(GZIPPED)?.content as Buffer).toString()).toBe(CSV);
    const { gzip } = SIZES;
    const both = { ...published, rows: 1 };
    expect(writes).toEqual([
      { ...both, location, files: { gzip }, endedForMs: 4_000 },
      { ...both, state: 'done', files: SIZES, endedForMs: 4_000 },
    ]);
  });

  it('counts how long ago the query ended from record to record', async () => {
    const results = withResult(ENGINE_CSV, undefined, publishingRecord({ endedForMs: 1_000 }));
    results.before(`uploadFile ${KEY}`, () => vi.setSystemTime(START + 3_000));
    await publishLarge(results, publication);
    expect(results.document(RECORD)).toMatchObject({ state: 'done', endedForMs: 4_000 });
  });

  it.each<[string, string[], string[], object]>([
    ['the gzipped file', [GZIPPED], [KEY], { files: { plain: CSV.length, gzip: 4 }, rows: 1 }],
    ['the plain file', [KEY], [], { files: { plain: 4 } }],
    ['both files', [KEY, GZIPPED], [], { files: { plain: 4, gzip: 4 } }],
  ])(
    'goes on after an earlier run was killed, and writes nothing twice: it had written %s',
    async (_, were, uploads, more) => {
      const results = withResult();
      for (const key of were) results.putFile(key, 'file');
      expect(await publishLarge(results, publication)).toBe(true);
      expect(results.callsOf('uploadFile')).toEqual(uploads.map((key) => `uploadFile ${key}`));
      expect(results.document(RECORD)).toEqual({ ...published, state: 'done', endedForMs: 0, ...more });
    },
  );

  it.each([
    [20 * 1024 ** 3, [GZIPPED, KEY]],
    [20 * 1024 ** 3 + 1, [KEY]],
  ])('gzips a result of %d bytes only if there is time: it writes %j', async (bytes, keys) => {
    const results = withResult(ENGINE_CSV, bytes);
    expect(await publishLarge(results, publication)).toBe(true);
    expect(results.callsOf('uploadFile')).toEqual(keys.map((key) => `uploadFile ${key}`));
    expect(results.document(RECORD)).toMatchObject({ state: 'done', rows: 1 });
  });

  it.each<[string, number, string[]]>([
    ['already', 0, []],
    ['before it is opened', 1, []],
    ['between the gzipped file and the plain file', 2, [GZIPPED]],
  ])('returns false if the result is gone %s', async (_, opened, files) => {
    const results = withResult();
    const remove = () => void results.objects.delete('athena/q1.csv');
    // A hook runs once: the first one sets the second one, for the next call that opens the result.
    if (opened === 0) remove();
    if (opened === 1) results.before('openResult', remove);
    if (opened === 2) results.before('openResult', () => results.before('openResult', remove));
    expect(await publishLarge(results, publication)).toBe(false);
    expect([results.keys(/^reports/), results.document(RECORD)]).toMatchObject([
      files,
      { state: 'publishing' },
    ]);
  });

  it("throws if the result is not the engine's CSV, and writes no file", async () => {
    const results = withResult('nonsense');
    await expect(publishLarge(results, publication)).rejects.toThrow(NotEngineCsv);
    expect([...results.objects.keys()]).toEqual(['athena/q1.csv', RECORD]);
  });

  it.each<[string, unknown]>([
    ['of another execution', publishingRecord({ executionId: 'q2' })],
    ['of a report that is done', doneRecord()],
    ['of the next attempt', underWayRecord()],
    ['that can’t be read', { form: 1 }],
  ])('does not change a record %s', async (_, document) => {
    const results = withResult();
    const { etag } = results.put(RECORD, document);
    expect(await publishLarge(results, publication)).toBe(true);
    expect(results.objects.get(RECORD)?.etag).toBe(etag);
  });

  it('records its files even if another request changes the record at the same moment', async () => {
    const results = withResult();
    results.before(`replace ${RECORD}`, () => results.put(RECORD, publishingRecord({ writer: 'other' })));
    await publishLarge(results, publication);
    expect(results.document(RECORD)).toMatchObject({ state: 'done', writer: 'other', rows: 1 });
  });

  it('creates no record: neither for release 1.0.0, which names none, nor if it was removed', async () => {
    const results = withResult();
    results.objects.delete(RECORD);
    expect(await publishLarge(results, publication)).toBe(true);
    results.putResult(publication.location, ENGINE_CSV);
    expect(await publishLarge(results, { ...least, key: 'reports/q1/other.csv' })).toBe(true);
    expect(results.keys(/^jobs/)).toEqual([]);
  });
});

describe('awaitPublication', () => {
  const FILE = 'reports/q1/publisherperformance_20260101T000000Z_20260103T000000Z.csv';

  /** Waits for the files of a job, whose record is stored. */
  async function awaited(
    before: (results: MemoryBucket, key: string) => void,
    waitMs = 60_000,
    isOfVersion = true,
  ) {
    const of = setting();
    const target = await of.target();
    const key = jobRecordKey(target.job);
    const record = publishingRecord({ isOfVersion });
    const stored = of.results.put(key, record);
    before(of.results, key);
    const run = of.run({ waitUntil: START + waitMs, partner: 'first-partner' });
    const latest = await settled(awaitPublication(run, target, stored, record));
    return { ...of, target, key, latest, isChanged: latest?.etag !== stored.etag, ms: Date.now() - START };
  }

  it('requests the publication, and waits until the record has changed', async () => {
    const done = doneRecord();
    const made = await awaited((results, key) => void setTimeout(() => results.put(key, done), 3_000));
    expect([made.latest?.document, made.isChanged]).toEqual([done, true]);
    expect(made.ms).toBeGreaterThanOrEqual(3_000);
    expect(made.ms).toBeLessThan(3_500);
    expect(made.results.document(REQUEST)).toEqual({
      ...publication,
      key: FILE,
      fileName: FILE.slice(11),
      dataVersion: made.target.data.version,
      record: made.key,
    });
    expect(made.results.calls.length).toBeLessThan(30);
  });

  it('requests no version for a report that has none', async () => {
    const { results } = await awaited(() => {}, 0, false);
    expect(results.document(REQUEST)).not.toHaveProperty('dataVersion');
  });

  it('requests a publication that is already requested no second time', async () => {
    const { results } = await awaited((bucket) => bucket.put(REQUEST, publication), 0);
    expect(results.document(REQUEST)).toEqual(publication);
  });

  it.each([
    [0, 1],
    [1_234, 1_234],
  ])('ends when its request must be answered, after %d ms', async (waitMs, ms) => {
    const made = await awaited(() => {}, waitMs);
    expect([made.isChanged, made.ms <= ms]).toEqual([false, true]);
  });

  // The publishing function has died after it wrote the files, or is of release 1.0.0.
  it.each<[string, string[], boolean, object]>([
    ['both files', [FILE, `${FILE}.gz`], true, { state: 'done', files: { plain: 4, gzip: 4 } }],
    ['the plain file', [FILE], true, { state: 'done', files: { plain: 4 } }],
    ['the gzipped file', [`${FILE}.gz`], true, { state: 'publishing', files: { gzip: 4 } }],
    ['no file', [], false, { state: 'publishing', files: {} }],
  ])('records files of which the record does not know: %s', async (_, keys, isChanged, record) => {
    const made = await awaited((results) => keys.map((key) => results.putFile(key, 'file')), 10);
    expect([made.isChanged, made.latest?.document]).toMatchObject([isChanged, record]);
    expect(made.latest?.document).not.toHaveProperty('rows');
  });

  it.each<[string, string[], object]>([
    ['fails', [], { state: 'failed', why: 'unpublished' }],
    ['is done nevertheless if its plain file exists', [FILE], { state: 'done' }],
  ])('of a publication that release 1.0.0 has given up: it %s', async (_, keys, record) => {
    const { isChanged, latest, results } = await awaited((bucket) => {
      bucket.put(ABANDONED, {});
      for (const key of keys) bucket.putFile(key, 'file');
    }, 10);
    expect([isChanged, latest?.document]).toMatchObject([true, record]);
    expect(results.document(ABANDONED)).toEqual({});
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

  it.each<[string, unknown]>([
    ...Object.keys(least).map((member): [string, unknown] => [
      `without ${member}`,
      { ...publication, [member]: undefined },
    ]),
    ['of another form', { ...publication, form: 2 }],
    ['with a key of another prefix', { ...publication, key: 'elsewhere/q1/report.csv' }],
    ['with a column of an unknown type', { ...publication, columns: [{ name: 'Day', type: 'day' }] }],
    ['with a column without a name', { ...publication, columns: [{ type: 'float' }] }],
  ])('treats a request %s as absent', async (_, document) => {
    expect(await read(document)).toBeUndefined();
  });

  it.each(['publications/q2.json', 'elsewhere/q1.json'])('finds nothing at another key: %s', async (key) => {
    expect(await read(publication, key)).toBeUndefined();
  });
});

describe('abandonPublication', () => {
  it('records in the job’s record that the report was not published', async () => {
    const results = withResult();
    results.put(REQUEST, publication);
    vi.setSystemTime(START + 4_000);
    const named = { queryExecutionId: 'q1', partner: 'first-partner' };
    expect(await abandonPublication(results, REQUEST)).toEqual(named);
    const failed = failedRecord('unpublished', { isOfVersion: true, reason: 'was not published', slot: 's' });
    expect(results.document(RECORD)).toMatchObject({ ...failed, endedForMs: 4_000 });
    for (const member of ['files', 'location', 'goodForMs'])
      expect(results.document(RECORD)).not.toHaveProperty(member);
    // Twice is as once.
    const { etag } = results.objects.get(RECORD) ?? {};
    await abandonPublication(results, REQUEST);
    expect([results.objects.get(RECORD)?.etag, results.keys(/^abandoned/)]).toEqual([etag, []]);
  });

  it.each<[string, unknown, object]>([
    ['for release 1.0.0', least, { queryExecutionId: 'q1' }],
    ['if the request can’t be read', { form: 2 }, { queryExecutionId: 'q1' }],
  ])('writes an object of its own %s', async (_, document, named) => {
    const results = withResult();
    results.put(REQUEST, document);
    expect(await abandonPublication(results, REQUEST)).toEqual(named);
    await abandonPublication(results, REQUEST);
    expect(results.objects.get(ABANDONED)).toMatchObject({ document: {}, etag: '"4"' });
    expect(results.document(RECORD)).toEqual(waiting);
  });
});
