import { beforeEach, describe, expect, it, vi } from 'vitest';
import { deliverFile } from '../../../lib/delivery/deliver-file.ts';
import { type DeliveryTerms, PublicationFailed } from '../../../lib/delivery/delivery.ts';
import { Unavailable } from '../../../lib/problems/problem.ts';
import { cachedReportKey } from '../../../lib/results/keys.ts';
import { LARGE, START, setting, succeededRecord } from './setting.ts';
import { settled } from './settled.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
vi.mock('../../../lib/results/gzipped.ts', () => import('./gzipped-at-once.ts'));
beforeEach(() => {
  vi.useFakeTimers({ now: START });
  return () => vi.useRealTimers();
});

const record = succeededRecord();
const written = succeededRecord({ files: { plain: 50, gzip: 20 } });
const large = succeededRecord({ resultBytes: LARGE });
const REQUEST = 'publications/q1.json';
const ABANDONED = 'abandoned/q1.json';

async function begin(terms: Partial<DeliveryTerms> = {}) {
  const of = setting();
  const target = await of.target();
  const key = `reports/q1/${target.job.fileName}`;
  const run = of.run(terms);
  return {
    ...of,
    target,
    key,
    run,
    deliver: (given: typeof record) => settled(deliverFile(run, target, given)),
    /** Delivers to a caller that already waits for this execution. */
    deliverToWaiting: (given: typeof record) => settled(deliverFile(run, target, given, 'miss', true)),
    ready: (more: object) => ({
      delivery: { state: 'ready', key, cacheStatus: 'hit', dataVersion: target.data.version, ...more },
    }),
  };
}

describe('deliverFile, for a record that says which files exist,', () => {
  it('makes no call to the bucket', async () => {
    const { deliver, ready, results, facts, target } = await begin();
    expect(await deliver(written)).toEqual(ready({ bytes: 50 }));
    expect(results.calls).toEqual([]);
    const { data } = target;
    expect(facts).toEqual({ queryExecutionId: 'q1', dataVersion: data.version });
  });

  it('gives the gzipped file to a caller that accepts gzip', async () => {
    const { deliver, ready, key } = await begin({ acceptsGzip: true });
    expect(await deliver(written)).toEqual(ready({ key: `${key}.gz`, bytes: 20 }));
  });

  it('gives the plain file to a caller that accepts gzip if there is no gzipped one', async () => {
    const { deliver, ready } = await begin({ acceptsGzip: true });
    expect(await deliver(succeededRecord({ files: { plain: 50 } }))).toEqual(ready({ bytes: 50 }));
  });

  it('gives no data version with a report that has none', async () => {
    const { deliver, facts, key } = await begin();
    expect(await deliver({ ...written, isOfVersion: false })).toEqual({
      delivery: { state: 'ready', key, bytes: 50, cacheStatus: 'hit' },
    });
    expect(facts).toEqual({ queryExecutionId: 'q1' });
  });

  it('answers `miss` to a caller that started the query and waited for it', async () => {
    const { deliverToWaiting, ready } = await begin();
    expect(await deliverToWaiting(written)).toEqual(ready({ bytes: 50, cacheStatus: 'miss' }));
  });
});

describe('deliverFile, for a record that names no files,', () => {
  it('looks for each file once, and gives the gzipped file to a caller that accepts gzip', async () => {
    const { deliver, ready, results, key } = await begin({ acceptsGzip: true });
    results.putFile(key, 'plain');
    results.putFile(`${key}.gz`, 'gz');
    expect(await deliver(large)).toEqual(ready({ key: `${key}.gz`, bytes: 2 }));
    expect(results.calls).toEqual([`head ${key}`, `head ${key}.gz`]);
  });

  it('gives a caller that accepts gzip the plain file if only that file exists', async () => {
    const { deliver, ready, results, key } = await begin({ acceptsGzip: true });
    results.putFile(key, 'plain');
    expect(await deliver(large)).toEqual(ready({ bytes: 5 }));
  });

  it('makes missing files again if the result is small', async () => {
    const { deliver, ready, results, key, target } = await begin();
    results.putResult(record.location, '"Day","Clicks"\n');
    expect(await deliver(record)).toEqual(ready({ bytes: 15 }));
    expect(results.objects.get(key)?.file?.metadata).toEqual({
      'query-execution-id': 'q1',
      'data-version': target.data.version,
    });
    expect(results.objects.has(`${key}.gz`)).toBe(true);
    expect(results.objects.has(REQUEST)).toBe(false);
  });

  it.each<[string, (results: ReturnType<typeof setting>['results']) => void]>([
    ['is gone too', () => {}],
    ['can not be read', (results) => results.putResult(record.location, 'nonsense')],
    ['is larger than was recorded', (results) => results.putResult(record.location, 'x', LARGE)],
  ])('returns undefined, so that the request creates another attempt, if the result %s', async (_, store) => {
    const { deliver, results } = await begin();
    store(results);
    expect(await deliver(record)).toBeUndefined();
    expect(results.keys(/^reports/)).toEqual([]);
  });

  it('throws the error of a file that can not be written', async () => {
    const { deliver, results } = await begin();
    results.putResult(record.location, '"Day","Clicks"\n');
    results.writeFile = () => Promise.reject(new TypeError('no such bucket'));
    await expect(deliver(record)).rejects.toThrow('no such bucket');
  });
});

describe('deliverFile, for a large result,', () => {
  it('asks the publishing function to publish the report, and waits for the file', async () => {
    const { deliver, ready, results, key, target } = await begin({ partner: 'first-partner' });
    results.putResult(large.location, 'not even read');
    setTimeout(() => results.putFile(key, 'plain'), 2_000);
    expect(await deliver(large)).toEqual(ready({ bytes: 5 }));
    expect(
      results.calls.filter((call) => /^(openResult|readResult|writeFile|uploadFile)/.test(call)),
    ).toEqual([]);
    expect(results.document(REQUEST)).toEqual({
      form: 1,
      executionId: 'q1',
      location: large.location,
      key,
      fileName: target.job.fileName,
      columns: [
        { name: 'Day', type: 'datetime' },
        { name: 'Clicks', type: 'integer' },
      ],
      dataVersion: target.data.version,
      cachedReport: cachedReportKey(target.job),
      partner: 'first-partner',
    });
  });

  it('names no version and no cached report in its request to publish if the report has no version', async () => {
    const { deliver, results } = await begin();
    await deliver({ ...large, isOfVersion: false });
    const requested = results.document(REQUEST) as object;
    for (const member of ['dataVersion', 'cachedReport', 'partner'])
      expect(requested).not.toHaveProperty(member);
  });

  it('keeps its caller waiting if the report is not published in time', async () => {
    const { deliver, deliverToWaiting, target } = await begin();
    const { listedAt: _, ...data } = target.data;
    const waiting = (cacheStatus: string) => ({
      delivery: {
        state: 'waiting',
        cacheStatus,
        progress: {
          waitsFor: 'attempt',
          data,
          cacheStatus,
          dataChanges: 0,
        },
      },
    });
    expect(await deliver(large)).toEqual(waiting('collapsed'));
    expect(Date.now()).toBe(START + 25_000);
    expect(await deliverToWaiting(large)).toEqual(waiting('miss'));
  });

  it.each([
    [START + 10, { refusal: expect.any(Unavailable) }],
    [START + 11, { delivery: expect.objectContaining({ state: 'waiting' }) }],
  ])(
    'refuses its caller at the time `publishUntil`, and not 1 ms before it (%d)',
    async (publishUntil, expected) => {
      const { deliver } = await begin({ waitUntil: START + 10, publishUntil });
      expect(await deliver(large)).toEqual(expected);
    },
  );

  it('refuses its caller with PublicationFailed if the caller waited for the publication that was given up', async () => {
    const { deliverToWaiting, results } = await begin();
    setTimeout(() => results.put(ABANDONED, {}), 1_000);
    expect(await deliverToWaiting(large)).toEqual({
      refusal: new PublicationFailed('the result of query q1 was not published'),
    });
  });

  it('returns undefined, so that the request creates another attempt, if the publication was given up before the caller came', async () => {
    const { deliver, results } = await begin();
    results.put(ABANDONED, {});
    expect(await deliver(large)).toBeUndefined();
  });
});
