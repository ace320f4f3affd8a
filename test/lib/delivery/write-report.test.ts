import { gunzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { NotEngineCsv } from '../../../lib/csv/not-engine-csv.ts';
import { MAX_SMALL_BYTES, reportFile, writeReport } from '../../../lib/delivery/write-report.ts';
import { Overloaded } from '../../../lib/problems/problem.ts';
import { memoryBucket } from './memory-bucket.ts';
import { CSV, START } from './setting.ts';
import { settled, useFakeTime } from './settled.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
vi.mock('../../../lib/results/gzipped.ts', () => import('./gzipped-at-once.ts'));
useFakeTime();

const KEY = 'reports/q1/report.csv';
const GZIPPED = `${KEY}.gz`;
const RESULT = '"Day","Clicks"\n"2026-01-01T00:00:00Z","1"\n';
const wanted = {
  key: KEY,
  columns: [
    { name: 'Day', type: 'datetime' },
    { name: 'Clicks', type: 'integer' },
  ],
  file: reportFile('report.csv', 'q1', 'v1'),
} as const;
const write = (results: ReturnType<typeof memoryBucket>, text = RESULT) =>
  writeReport(results, wanted, Buffer.from(text));
/** Replaces the function that writes the gzipped file. */
const gzippedWrites = (results: ReturnType<typeof memoryBucket>, as: () => Promise<void>) => {
  const { writeFile } = results;
  results.writeFile = (key, ...given) => (key === GZIPPED ? as() : writeFile(key, ...given));
};

describe('reportFile', () => {
  it('names the execution, and the data version if the report has one', () => {
    expect(reportFile('report.csv', 'q1', 'v1')).toEqual({
      fileName: 'report.csv',
      metadata: { 'query-execution-id': 'q1', 'data-version': 'v1' },
    });
    expect(reportFile('report.csv', 'q1', undefined).metadata).toEqual({ 'query-execution-id': 'q1' });
  });
});

describe('writeReport', () => {
  it('makes both files from the result, and returns their sizes', async () => {
    const results = memoryBucket();
    const files = await settled(write(results));
    const [plain, gzip] = [results.objects.get(KEY), results.objects.get(GZIPPED)];
    expect(plain).toMatchObject({ text: CSV, file: wanted.file });
    expect(gzip?.file).toEqual({ ...wanted.file, encoding: 'gzip' });
    expect(gunzipSync(gzip?.content as Buffer).toString()).toBe(CSV);
    expect(files).toEqual({ plain: CSV.length, gzip: gzip?.bytes });
    expect([...results.calls].sort()).toEqual([`writeFile ${KEY}`, `writeFile ${GZIPPED}`]);
  });

  it('does not overwrite files that another request has written', async () => {
    const results = memoryBucket();
    await settled(write(results));
    const etags = () => [KEY, GZIPPED].map((key) => results.objects.get(key)?.etag);
    const before = etags();
    await settled(write(results));
    expect(etags()).toEqual(before);
  });

  it('tries to write the gzipped file once, and the plain one for as long as the request has time', async () => {
    const results = memoryBucket();
    const tries = new Map<string, number | undefined>();
    results.writeFile = async (key, _file, _content, most) => void tries.set(key, most);
    await settled(write(results));
    expect(tries).toEqual(
      new Map([
        [KEY, undefined],
        [GZIPPED, 1],
      ]),
    );
  });

  it('writes only the plain file if the gzipped one can not be written', async () => {
    const results = memoryBucket();
    gzippedWrites(results, () => Promise.reject(new Overloaded('Later.', 30)));
    expect(await settled(write(results))).toEqual({ plain: CSV.length });
    expect(Date.now()).toBeLessThan(START + 10);
  });

  it('waits at most a second for the gzipped file after the plain one is written', async () => {
    const results = memoryBucket();
    gzippedWrites(results, () => new Promise((resolve) => setTimeout(resolve, 60_000)));
    expect(await settled(write(results))).toEqual({ plain: CSV.length });
    expect(Date.now()).toBe(START + 1_000);
  });

  it('returns both sizes if the gzipped file is written within a second after the plain one', async () => {
    const results = memoryBucket();
    gzippedWrites(results, () => new Promise((resolve) => setTimeout(resolve, 999)));
    expect(await settled(write(results))).toEqual({ plain: CSV.length, gzip: expect.any(Number) });
  });

  it('throws if the plain file can not be written', async () => {
    const results = memoryBucket();
    const late = new Overloaded('Later.', 30);
    const { writeFile } = results;
    results.writeFile = (key, ...given) => (key === KEY ? Promise.reject(late) : writeFile(key, ...given));
    await expect(settled(write(results))).rejects.toBe(late);
  });

  it("writes nothing of a result that is not the engine's CSV", async () => {
    const results = memoryBucket();
    await expect(settled(write(results, 'nonsense'))).rejects.toThrow(NotEngineCsv);
    expect(results.calls).toEqual([]);
  });
});

it('a request publishes a result of up to 16 MiB without the publishing function', () => {
  expect(MAX_SMALL_BYTES).toBe(16 * 1024 ** 2);
});
