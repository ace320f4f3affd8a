import { gunzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { NotEngineCsv } from '../../../lib/csv/not-engine-csv.ts';
import {
  abandonPublication,
  awaitPublication,
  filesOf,
  publishLarge,
} from '../../../lib/delivery/publication.ts';
import { type Publication, readPublication } from '../../../lib/results/publication-request.ts';
import { memoryBucket } from './memory-bucket.ts';
import { CSV, START, succeededRecord } from './setting.ts';
import { settled, useFakeTime } from './settled.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
vi.mock('../../../lib/results/gzipped.ts', () => import('./gzipped-at-once.ts'));
useFakeTime();

const KEY = 'reports/q1/report.csv';
const REQUEST = 'publications/q1.json';
const ABANDONED = 'abandoned/q1.json';
const ENGINE_CSV = '"Day","Clicks"\n"2026-01-01T00:00:00Z","1"\n';
const publication: Publication = {
  form: 1,
  executionId: 'q1',
  location: 's3://results/athena/q1.csv',
  key: KEY,
  fileName: 'report.csv',
  columns: [
    { name: 'Day', type: 'datetime' },
    { name: 'Clicks', type: 'integer' },
  ],
  dataVersion: 'v1',
  cachedReport: 'cached/job-1.json',
};

/** Resolves to the promise's outcome and the time that it took by the fake clock, in milliseconds. */
async function timed<T>(outcome: Promise<T>): Promise<[T, number]> {
  return settled(outcome.then((value): [T, number] => [value, Date.now() - START]));
}

const FILES = { plain: CSV.length, gzip: expect.any(Number) };

/** A bucket with the result of the publication's query. */
function withResult(text = ENGINE_CSV, bytes?: number) {
  const results = memoryBucket();
  results.putResult(publication.location, text, bytes);
  return results;
}

describe('filesOf', () => {
  it('gives the sizes of the existing files, and undefined if the plain one is missing', async () => {
    const results = memoryBucket();
    results.putFile(`${KEY}.gz`, 'gz');
    expect(await filesOf(results, KEY)).toBeUndefined();
    results.putFile(KEY, 'plain');
    expect(await filesOf(results, KEY)).toEqual({ plain: 5, gzip: 2 });
    results.objects.delete(`${KEY}.gz`);
    expect(await filesOf(results, KEY)).toEqual({ plain: 5 });
  });
});

describe('publishLarge', () => {
  it('writes the gzipped file first: a request that finds the plain file then finds both', async () => {
    const results = withResult();
    expect(await publishLarge(results, publication)).toBe(true);
    const metadata = { 'query-execution-id': 'q1', 'data-version': 'v1' };
    expect(results.objects.get(KEY)).toMatchObject({ text: CSV, file: { fileName: 'report.csv', metadata } });
    const gzip = results.objects.get(`${KEY}.gz`);
    expect(gzip?.file).toEqual({ fileName: 'report.csv', metadata, encoding: 'gzip' });
    expect(gunzipSync(gzip?.content as Buffer).toString()).toBe(CSV);
    expect(results.callsOf('uploadFile')).toEqual([`uploadFile ${KEY}.gz`, `uploadFile ${KEY}`]);
  });

  it('names no data version in the file if the report has none', async () => {
    const results = withResult();
    const { dataVersion: _, cachedReport: __, ...ofNone } = publication;
    expect(await publishLarge(results, ofNone)).toBe(true);
    expect(results.objects.get(KEY)?.file?.metadata).toEqual({ 'query-execution-id': 'q1' });
    expect(results.keys(/^cached/)).toEqual([]);
  });

  it('goes on after an earlier run was killed, and writes nothing twice', async () => {
    const results = withResult();
    results.putFile(`${KEY}.gz`, 'gz');
    expect(await publishLarge(results, publication)).toBe(true);
    expect(results.callsOf('uploadFile')).toEqual([`uploadFile ${KEY}`]);
    expect(await publishLarge(results, publication)).toBe(true);
    expect(results.callsOf('uploadFile')).toHaveLength(1);
  });

  it('writes only the plain file if the result is too large to be gzipped in time', async () => {
    const results = withResult(ENGINE_CSV, 20 * 1024 ** 3 + 1);
    expect(await publishLarge(results, publication)).toBe(true);
    expect(results.objects.has(`${KEY}.gz`)).toBe(false);
    expect(results.objects.get(KEY)?.text).toBe(CSV);
  });

  it('gzips a result of 20 GiB, the largest for which there is time', async () => {
    const results = withResult(ENGINE_CSV, 20 * 1024 ** 3);
    expect(await publishLarge(results, publication)).toBe(true);
    expect(results.objects.has(`${KEY}.gz`)).toBe(true);
  });

  it('returns false if the result is already gone, or disappears before it is opened', async () => {
    expect(await publishLarge(memoryBucket(), publication)).toBe(false);
    const results = withResult();
    results.before('openResult', () => results.objects.delete('athena/q1.csv'));
    expect(await publishLarge(results, publication)).toBe(false);
    expect(results.objects.size).toBe(0);
  });

  it('returns false if the result disappears between the gzipped file and the plain file', async () => {
    const results = withResult();
    // A hook runs once: the first one sets the second one, for the next call that opens the result.
    results.before('openResult', () =>
      results.before('openResult', () => results.objects.delete('athena/q1.csv')),
    );
    expect(await publishLarge(results, publication)).toBe(false);
    expect(results.keys(/^reports/)).toEqual([`${KEY}.gz`]);
  });

  it("throws if the result is not the engine's CSV, and writes no file", async () => {
    const results = withResult('nonsense');
    await expect(publishLarge(results, publication)).rejects.toThrow(NotEngineCsv);
    expect([...results.objects.keys()]).toEqual(['athena/q1.csv']);
  });
});

describe('publishLarge, for a publication that names a cached report,', () => {
  it('notes in the cached report which files exist, so that the next request does not look for them', async () => {
    const results = withResult();
    results.put('cached/job-1.json', succeededRecord());
    await publishLarge(results, publication);
    expect(results.document('cached/job-1.json')).toEqual(succeededRecord({ files: FILES as never }));
  });

  it('notes the files even if an earlier run was killed before it noted them', async () => {
    const results = memoryBucket();
    results.putFile(KEY, 'plain');
    results.put('cached/job-1.json', succeededRecord());
    expect(await publishLarge(results, publication)).toBe(true);
    expect(results.document('cached/job-1.json')).toMatchObject({ files: { plain: 5 } });
  });

  it.each<[string, unknown]>([
    ['of another execution', succeededRecord({ executionId: 'q2' })],
    ['that already names its files', succeededRecord({ files: { plain: 1 } })],
    ['that can not be read', { form: 0 }],
  ])('does not change a cached report %s', async (_, document) => {
    const results = withResult();
    const { etag } = results.put('cached/job-1.json', document);
    await publishLarge(results, publication);
    expect(results.objects.get('cached/job-1.json')?.etag).toBe(etag);
  });

  it('creates no cached report if the bucket has none', async () => {
    const results = withResult();
    await publishLarge(results, publication);
    expect(results.keys(/^cached/)).toEqual([]);
  });
});

describe('awaitPublication', () => {
  it('writes the request to publish once, and waits for the file', async () => {
    const results = memoryBucket();
    setTimeout(() => results.putFile(KEY, 'plain'), 3_000);
    const [outcome, ms] = await timed(awaitPublication(results, publication, START + 60_000));
    expect(outcome).toEqual({ plain: 5 });
    expect(ms).toBeGreaterThanOrEqual(3_000);
    expect(ms).toBeLessThan(3_500);
    expect(results.document(REQUEST)).toEqual(publication);
    expect(results.calls.length).toBeLessThan(50);
  });

  it('writes one request to publish if twelve requests wait', async () => {
    const results = memoryBucket();
    setTimeout(() => results.putFile(KEY, 'plain'), 3_000);
    const waits = Array.from({ length: 12 }, () => awaitPublication(results, publication, START + 60_000));
    const [outcomes] = await timed(Promise.all(waits));
    expect(outcomes).toEqual(Array(12).fill({ plain: 5 }));
    expect(results.objects.get(REQUEST)?.etag).toBe('"1"');
  });

  it('answers “under way” when its deadline is reached', async () => {
    const results = memoryBucket();
    expect(await timed(awaitPublication(results, publication, START + 1_234))).toEqual(['under-way', 1_234]);
  });

  it('looks for the files once if its deadline has passed already', async () => {
    const results = memoryBucket();
    expect(await timed(awaitPublication(results, publication, START - 1))).toEqual(['under-way', 0]);
    expect(results.calls).toEqual([
      `create ${REQUEST}`,
      `head ${KEY}`,
      `head ${KEY}.gz`,
      `head ${ABANDONED}`,
    ]);
    expect(results.document(REQUEST)).toEqual(publication);
  });

  it('answers “abandoned” soon after the abandonment is recorded', async () => {
    const results = memoryBucket();
    setTimeout(() => results.put(ABANDONED, {}), 1_000);
    const [outcome, ms] = await timed(awaitPublication(results, publication, START + 60_000));
    expect(outcome).toBe('abandoned');
    expect(ms).toBeLessThan(1_500);
  });

  it('gives an existing file even if the abandonment is recorded', async () => {
    const results = memoryBucket();
    results.put(ABANDONED, {});
    results.putFile(KEY, 'plain');
    expect((await timed(awaitPublication(results, publication, START + 60_000)))[0]).toEqual({ plain: 5 });
  });

  it.each([
    [50 * 60_000, 'under-way'],
    [50 * 60_000 + 1_000, 'abandoned'],
  ])('judges a request to publish that is %d ms old as “%s”', async (ageMs, expected) => {
    const results = memoryBucket();
    vi.setSystemTime(START - ageMs);
    results.put(REQUEST, publication);
    vi.setSystemTime(START);
    expect(await timed(awaitPublication(results, publication, START))).toEqual([expected, 0]);
  });

  it('answers “under way” if an earlier request to publish is deleted before its age is read', async () => {
    const results = memoryBucket();
    results.put(REQUEST, publication);
    results.before(`head ${REQUEST}`, () => results.objects.delete(REQUEST));
    expect((await timed(awaitPublication(results, publication, START + 10)))[0]).toBe('under-way');
  });
});

describe('readPublication', () => {
  const read = async (document: unknown) => {
    const results = memoryBucket();
    results.put(REQUEST, document);
    return readPublication(results, REQUEST);
  };

  it('reads every member of the request', async () => {
    expect(await read(publication)).toEqual(publication);
  });

  it.each([
    ...Object.keys(publication)
      .filter((field) => field !== 'dataVersion' && field !== 'cachedReport')
      .map((field) => [`without its ${field}`, { ...publication, [field]: undefined }] as const),
    ['of another form', { ...publication, form: 2 }] as const,
    [
      'with a column of an unknown type',
      { ...publication, columns: [{ name: 'Day', type: 'day' }] },
    ] as const,
    ['with a column without a name', { ...publication, columns: [{ type: 'float' }] }] as const,
  ])('treats a request %s as absent', async (_, document) => {
    expect(await read(document)).toBeUndefined();
  });

  it('reads columns of every type', async () => {
    const columns = (['datetime', 'integer', 'string', 'float'] as const).map((type) => ({
      name: type,
      type,
    }));
    expect(await read({ ...publication, columns })).toMatchObject({ columns });
  });

  it.each(['dataVersion', 'cachedReport'])(
    'accepts a request without %s, since a report without a version has none',
    async (member) => {
      const { [member as 'cachedReport']: _, ...others } = publication;
      expect(await read(others)).toEqual(others);
    },
  );

  it('returns undefined if the request is gone', async () => {
    expect(await readPublication(memoryBucket(), REQUEST)).toBeUndefined();
  });
});

describe('abandonPublication', () => {
  it('records the abandonment once, under the id of the execution', async () => {
    const results = memoryBucket();
    expect(await abandonPublication(results, 'publications/12ab.json')).toEqual({ queryExecutionId: '12ab' });
    expect(await abandonPublication(results, 'publications/12ab.json')).toEqual({ queryExecutionId: '12ab' });
    expect(results.objects.get('abandoned/12ab.json')).toMatchObject({ document: {}, etag: '"1"' });
  });

  it('names the partner that asked for the publication', async () => {
    const results = memoryBucket();
    results.put(REQUEST, { ...publication, partner: 'first-partner' });
    expect(await abandonPublication(results, REQUEST)).toEqual({
      queryExecutionId: 'q1',
      partner: 'first-partner',
    });
  });
});
