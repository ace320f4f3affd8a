import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { NotEngineCsv } from '../../../lib/csv/not-engine-csv.ts';
import {
  abandonPublication,
  awaitPublication,
  isLarge,
  type Publication,
  publish,
  publishLarge,
  readPublication,
} from '../../../lib/delivery/publication.ts';
import type { EngineResult, ResultsBucket } from '../../../lib/delivery/results.ts';
import { only } from '../../only.ts';
import { memoryBucket } from './memory-bucket.ts';
import { CSV, START } from './setting.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
beforeEach(() => {
  vi.useFakeTimers({ now: START });
  return () => vi.useRealTimers();
});

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
};

/** The promise's outcome and how long it took, by the fake clock. */
async function timed<T>(outcome: Promise<T>): Promise<[T, number]> {
  const ended = outcome.then((value): [T, number] => [value, Date.now() - START]);
  await vi.runAllTimersAsync();
  return ended;
}

describe('isLarge', () => {
  it('is true above 16 MiB', () => {
    expect([0, 16 * 1024 ** 2, 16 * 1024 ** 2 + 1].map(isLarge)).toEqual([false, false, true]);
  });
});

describe('publish', () => {
  it("writes the engine's result as the report's file, with execution and version as metadata", async () => {
    const results = memoryBucket();
    results.putResult(publication.location, ENGINE_CSV);
    expect(await publish(results, publication)).toBe(true);
    expect(results.objects.get(KEY)).toMatchObject({
      text: CSV,
      file: { fileName: 'report.csv', metadata: { 'query-execution-id': 'q1', 'data-version': 'v1' } },
    });
  });

  it('names no version of the data where the report has none', async () => {
    const results = memoryBucket();
    results.putResult(publication.location, ENGINE_CSV);
    const { dataVersion: _, ...ofNone } = publication;
    await publish(results, ofNone);
    expect(results.objects.get(KEY)?.file?.metadata).toEqual({ 'query-execution-id': 'q1' });
  });

  it('reads a result that has been opened already, and opens it anew for a second try', async () => {
    const read: string[] = [];
    const result = (text: string): EngineResult => ({
      bytes: text.length,
      content: (async function* () {
        yield Buffer.from(text);
      })() as unknown as EngineResult['content'],
    });
    const results = only<ResultsBucket>({
      openResult: async () => result(ENGINE_CSV.replace('"1"', '"2"')),
      writeOnce: async (_key, _file, open) => {
        for (let tries = 0; tries < 2; tries++) {
          let text = '';
          for await (const chunk of (await open()) ?? []) text += Buffer.from(chunk).toString();
          read.push(text);
        }
        return true;
      },
    });
    await publish(results, publication, result(ENGINE_CSV));
    expect(read).toEqual([CSV, CSV.replace(',1', ',2')]);
  });

  it('gives one try to write the file 5 s, unless it is told otherwise', async () => {
    const longest: (number | undefined)[] = [];
    const results = only<ResultsBucket>({
      writeOnce: async (_key, _file, _open, longestTryMs) => longest.push(longestTryMs) > 0,
    });
    await publish(results, publication);
    await publish(results, publication, undefined, Number.POSITIVE_INFINITY);
    expect(longest).toEqual([5_000, Number.POSITIVE_INFINITY]);
  });

  it('is false where the result is gone', async () => {
    const results = memoryBucket();
    expect(await publish(results, publication)).toBe(false);
    expect(results.objects.size).toBe(0);
  });

  it("throws where the result is not the engine's CSV", async () => {
    const results = memoryBucket();
    results.putResult(publication.location, 'nonsense');
    await expect(publish(results, publication)).rejects.toThrow(NotEngineCsv);
    expect(results.objects.has(KEY)).toBe(false);
  });
});

describe('publishLarge', () => {
  it('writes the zipped file first, so that a request that finds the plain one finds both', async () => {
    const results = memoryBucket();
    results.putResult(publication.location, ENGINE_CSV);
    expect(await publishLarge(results, publication)).toBe(true);
    const metadata = { 'query-execution-id': 'q1', 'data-version': 'v1' };
    expect(results.objects.get(KEY)).toMatchObject({ text: CSV, file: { fileName: 'report.csv', metadata } });
    const zipped = results.objects.get(`${KEY}.gz`);
    expect(zipped?.file).toEqual({ fileName: 'report.csv', metadata, encoding: 'gzip' });
    expect(gunzipSync(zipped?.content as Buffer).toString()).toBe(CSV);
    const writes = results.calls.filter((call) => call.startsWith('writeOnce'));
    expect(writes).toEqual([`writeOnce ${KEY}.gz`, `writeOnce ${KEY}`]);
  });

  it('goes on where an earlier run was killed', async () => {
    const results = memoryBucket();
    results.putResult(publication.location, ENGINE_CSV);
    results.put(`${KEY}.gz`, {});
    expect(await publishLarge(results, publication)).toBe(true);
    expect(results.calls.filter((call) => call.startsWith('writeOnce'))).toEqual([`writeOnce ${KEY}`]);
    results.calls.length = 0;
    expect(await publishLarge(results, publication)).toBe(true);
    expect(results.calls).toEqual([`head ${KEY}`]);
  });

  it('leaves a result plain that could not be zipped in time', async () => {
    const results = memoryBucket();
    results.putResult(publication.location, ENGINE_CSV, 20 * 1024 ** 3 + 1);
    expect(await publishLarge(results, publication)).toBe(true);
    expect(results.objects.has(`${KEY}.gz`)).toBe(false);
    expect(results.objects.get(KEY)?.text).toBe(CSV);
  });

  it('is false where the result is gone', async () => {
    expect(await publishLarge(memoryBucket(), publication)).toBe(false);
  });

  it("throws where the result is not the engine's CSV, and leaves nothing", async () => {
    const results = memoryBucket();
    results.putResult(publication.location, 'nonsense');
    await expect(publishLarge(results, publication)).rejects.toThrow(NotEngineCsv);
    expect([...results.objects.keys()]).toEqual(['athena/q1.csv']);
  });
});

describe('awaitPublication', () => {
  it('requests nothing where the file is there', async () => {
    const results = memoryBucket();
    results.put(KEY, {});
    expect(await timed(awaitPublication(results, publication, START + 10_000))).toEqual(['published', 0]);
    expect(results.calls).toEqual([`head ${KEY}`]);
  });

  it('writes the request once, and waits for the file', async () => {
    const results = memoryBucket();
    setTimeout(() => results.put(KEY, {}), 3_000);
    const [outcome, ms] = await timed(awaitPublication(results, publication, START + 60_000));
    expect(outcome).toBe('published');
    expect(ms).toBeGreaterThanOrEqual(3_000);
    expect(ms).toBeLessThan(3_500);
    expect(results.document(REQUEST)).toEqual(publication);
    expect(results.calls.length).toBeLessThan(40);
  });

  it('makes one request where twelve wait', async () => {
    const results = memoryBucket();
    setTimeout(() => results.put(KEY, {}), 3_000);
    const waits = Array.from({ length: 12 }, () => awaitPublication(results, publication, START + 60_000));
    const [outcomes] = await timed(Promise.all(waits));
    expect(new Set(outcomes)).toEqual(new Set(['published']));
    expect(results.objects.get(REQUEST)?.etag).toBe('"1"');
  });

  it('answers “under way” when this request must be answered, and not later', async () => {
    const results = memoryBucket();
    expect(await timed(awaitPublication(results, publication, START + 1_234))).toEqual(['under-way', 1_234]);
  });

  it('looks once where there is no time to wait', async () => {
    const results = memoryBucket();
    expect(await timed(awaitPublication(results, publication, START - 1))).toEqual(['under-way', 0]);
    expect(results.calls).toEqual([`head ${KEY}`, `create ${REQUEST}`, `head ${KEY}`, `head ${ABANDONED}`]);
    expect(results.document(REQUEST)).toEqual(publication);
  });

  it('answers “abandoned” as soon as that is recorded', async () => {
    const results = memoryBucket();
    setTimeout(() => results.put(ABANDONED, {}), 1_000);
    const [outcome, ms] = await timed(awaitPublication(results, publication, START + 60_000));
    expect(outcome).toBe('abandoned');
    expect(ms).toBeLessThan(1_500);
  });

  it('answers “published” where the file is there in spite of the abandonment', async () => {
    const results = memoryBucket();
    results.put(ABANDONED, {});
    results.before(`head ${ABANDONED}`, () => results.put(KEY, {}));
    results.before(`create ${REQUEST}`, () => results.put(KEY, {}));
    expect((await timed(awaitPublication(results, publication, START + 60_000)))[0]).toBe('published');
  });

  it.each([
    [50 * 60_000, 'under-way'],
    [50 * 60_000 + 1, 'abandoned'],
  ])('of a request that was written %d ms ago answers “%s”', async (ageMs, expected) => {
    const results = memoryBucket();
    vi.setSystemTime(START - ageMs);
    results.put(REQUEST, publication);
    vi.setSystemTime(START);
    expect(await timed(awaitPublication(results, publication, START))).toEqual([expected, 0]);
  });

  it('answers “under way” where an earlier request is deleted at that moment', async () => {
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

  it('reads all that was requested', async () => {
    expect(await read(publication)).toEqual(publication);
  });

  it.each([
    ...Object.keys(publication)
      .filter((field) => field !== 'dataVersion')
      .map((field) => [`without its ${field}`, { ...publication, [field]: undefined }] as const),
    ['of another form', { ...publication, form: 2 }] as const,
    ['with a column of no type', { ...publication, columns: [{ name: 'Day', type: 'day' }] }] as const,
    ['with a column of no name', { ...publication, columns: [{ type: 'float' }] }] as const,
  ])('takes a request %s for absent', async (_, document) => {
    expect(await read(document)).toBeUndefined();
  });

  it('reads columns of every type', async () => {
    const columns = (['datetime', 'integer', 'string', 'float'] as const).map((type) => ({
      name: type,
      type,
    }));
    expect(await read({ ...publication, columns })).toMatchObject({ columns });
  });

  it('finds none where the request is gone', async () => {
    expect(await readPublication(memoryBucket(), REQUEST)).toBeUndefined();
  });
});

describe('abandonPublication', () => {
  it('records the abandonment under the execution, once', async () => {
    const results = memoryBucket();
    expect(await abandonPublication(results, 'publications/12ab.json')).toEqual({ queryExecutionId: '12ab' });
    expect(await abandonPublication(results, 'publications/12ab.json')).toEqual({ queryExecutionId: '12ab' });
    expect(results.objects.get('abandoned/12ab.json')).toMatchObject({ document: {}, etag: '"1"' });
  });
});
