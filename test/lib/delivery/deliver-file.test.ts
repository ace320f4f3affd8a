import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Unavailable } from '../../../lib/answers/problem.ts';
import { deliverFile } from '../../../lib/delivery/deliver-file.ts';
import { PublicationFailed } from '../../../lib/delivery/delivery.ts';
import { LARGE, START, setting, succeededRecord } from './setting.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
beforeEach(() => {
  vi.useFakeTimers({ now: START });
  return () => vi.useRealTimers();
});

const record = succeededRecord();
const large = succeededRecord({ resultBytes: LARGE });
const REQUEST = 'publications/q1.json';
const ABANDONED = 'abandoned/q1.json';

const begin = async (...terms: Parameters<ReturnType<typeof setting>['run']>) => {
  const made = setting();
  const run = await made.run(...terms);
  return { ...made, run, key: `reports/q1/${run.order.fileName}` };
};
/** The promise's outcome once all timers have run. */
const outcome = async <T>(promise: Promise<T>) => {
  const settled = promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  await vi.runAllTimersAsync();
  return settled;
};

describe('deliverFile', () => {
  it('looks once where the file is there', async () => {
    const { run, results, key } = await begin();
    results.put(key, {});
    expect(await deliverFile(run, large)).toMatchObject({ state: 'ready', key });
    expect(results.calls).toEqual([`head ${key}`]);
  });

  it('publishes a small result again where its file is gone', async () => {
    const { run, results, key } = await begin();
    results.putResult(record.location, '"Day","Clicks"\n');
    expect(await deliverFile(run, record)).toMatchObject({ state: 'ready', key });
    expect(results.objects.get(key)?.file?.metadata).toEqual({
      'query-execution-id': 'q1',
      'data-version': run.data.version,
    });
    expect(results.objects.has(REQUEST)).toBe(false);
  });

  it('is undefined, for another try, where the result is gone too', async () => {
    const { run } = await begin();
    expect(await deliverFile(run, record)).toBeUndefined();
  });

  it('never publishes a large result itself', async () => {
    const { run, results, key } = await begin();
    results.putResult(large.location, 'not even read');
    setTimeout(() => results.put(key, {}), 2_000);
    expect(await outcome(deliverFile(run, large))).toMatchObject({ value: { state: 'ready', key } });
    expect(results.calls.filter((call) => /^(openResult|writeOnce)/.test(call))).toEqual([]);
    expect(results.document(REQUEST)).toMatchObject({ executionId: 'q1', key });
  });

  it('keeps its caller waiting for a large result that is not published in time', async () => {
    const { run } = await begin();
    const delivered = await outcome(deliverFile(run, large));
    expect(delivered).toMatchObject({ value: { state: 'waiting', progress: { token: 'token-1' } } });
    expect(run.follows).toBe('token-1');
    expect(Date.now()).toBe(START + 25_000);
  });

  it('gives up when the time to publish is over', async () => {
    const { run } = await begin({ waitUntil: START + 10, publishUntil: START + 10 });
    expect(await outcome(deliverFile(run, large))).toMatchObject({ error: expect.any(Unavailable) });
  });

  it('keeps its caller waiting while a millisecond of that time is left', async () => {
    const { run } = await begin({ waitUntil: START + 10, publishUntil: START + 11 });
    expect(await outcome(deliverFile(run, large))).toMatchObject({ value: { state: 'waiting' } });
  });

  it('fails for those who waited for a publication that was given up', async () => {
    const { run, results } = await begin();
    run.follows = large.token;
    setTimeout(() => results.put(ABANDONED, {}), 1_000);
    const { error } = (await outcome(deliverFile(run, large))) as { error: unknown };
    expect(error).toBeInstanceOf(PublicationFailed);
    expect(error).toMatchObject({
      name: 'PublicationFailed',
      message: 'the result of query q1 was not published',
    });
  });

  it('is undefined, for another try, for those who come after the publication was given up', async () => {
    const { run, results } = await begin();
    results.put(ABANDONED, {});
    expect(await outcome(deliverFile(run, large))).toEqual({ value: undefined });
  });
});
