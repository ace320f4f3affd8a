import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Overloaded, Unavailable } from '../../../lib/answers/problem.ts';
import { claimNext } from '../../../lib/delivery/claim-try.ts';
import { leadQuery } from '../../../lib/delivery/lead-query.ts';
import { recordKey } from '../../../lib/delivery/order.ts';
import type { EngineResult } from '../../../lib/delivery/results.ts';
import type { Plan } from './memory-queries.ts';
import { CSV, LARGE, START, setting } from './setting.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
beforeEach(() => {
  vi.useFakeTimers({ now: START });
  return () => vi.useRealTimers();
});

const busy = async () => {
  throw new Overloaded('busy', 30);
};

/** A request that has claimed the first try of its order. */
async function claiming(...plans: Plan[]) {
  const of = setting(...plans);
  const run = await of.run();
  const key = recordKey(run.order, run.data);
  const claimed = await claimNext(run, undefined, undefined, false);
  if (!claimed) throw new Error('not claimed');
  const lead = async () => {
    const leading = leadQuery(run, claimed).then(
      (delivery) => ({ delivery }),
      (error: unknown) => ({ error }),
    );
    await vi.advanceTimersByTimeAsync(60_000);
    return leading as Promise<{ delivery?: Awaited<ReturnType<typeof leadQuery>>; error?: unknown }>;
  };
  return {
    ...of,
    run,
    key,
    claimed,
    lead,
    record: () => of.results.document(key) as Record<string, unknown>,
  };
}

describe('leadQuery', () => {
  it('starts the try with its token and its query, records the execution, and then its end', async () => {
    const { lead, run, queries, claimed, record, results, key } = await claiming({ afterMs: 5_000 });
    const leading = lead();
    await vi.advanceTimersByTimeAsync(0);
    expect(record()).toEqual({ ...claimed.record, state: 'under-way', executionId: 'q1', startedAt: START });
    expect((await leading).delivery).toMatchObject({ state: 'ready', cacheStatus: 'miss' });
    expect(queries.started).toMatchObject([{ token: claimed.record.token, query: run.order.query }]);
    expect(record()['state']).toBe('succeeded');
    expect(results.calls.filter((call) => call === `replace ${key}`)).toHaveLength(2);
  });

  it('releases the try for the next request, where the engine is at its limit', async () => {
    const { lead, run, queries, claimed, record, ends } = await claiming({ afterMs: 100 });
    queries.start = busy;
    expect((await lead()).error).toBeInstanceOf(Overloaded);
    expect(record()).toEqual({ ...claimed.record, askedUntil: 0 });
    expect([run.follows, ends]).toEqual([claimed.record.token, []]);
  });

  it('releases the try too after any other error of the start, and throws it', async () => {
    const { lead, queries, claimed, record } = await claiming({});
    const boom = new Error('boom');
    queries.start = () => Promise.reject(boom);
    expect((await lead()).error).toBe(boom);
    expect(record()).toEqual({ ...claimed.record, askedUntil: 0 });
  });

  it('releases a started try, with its execution, where the engine can not be asked', async () => {
    const { lead, queries, claimed, record } = await claiming({ ends: 'failed', afterMs: 100 });
    const boom = new Error('boom');
    queries.onGet = () => {
      throw boom;
    };
    expect((await lead()).error).toBe(boom);
    expect(record()).toEqual({
      ...claimed.record,
      state: 'under-way',
      executionId: 'q1',
      startedAt: START,
      askedUntil: 0,
    });
  });

  it('releases no record that is no longer its own', async () => {
    const { lead, queries, results, key, record } = await claiming({});
    const boom = new Error('boom');
    queries.start = async () => {
      results.put(key, { form: 0 });
      throw boom;
    };
    expect((await lead()).error).toBe(boom);
    expect(record()).toEqual({ form: 0 });
  });

  it('throws the first error where the release fails too', async () => {
    const { lead, queries, results, key } = await claiming({});
    const boom = new Error('boom');
    queries.start = () => Promise.reject(boom);
    results.before(`replace ${key}`, () => {
      throw new Overloaded('busy', 30);
    });
    expect((await lead()).error).toBe(boom);
  });

  it('makes the report from the result, which it opens once', async () => {
    const { lead, results, run } = await claiming({});
    await lead();
    expect(results.calls.filter((call) => call.startsWith('openResult'))).toHaveLength(1);
    const file = results.objects.get(`reports/q1/${run.order.fileName}`);
    expect([file?.text, file?.file?.metadata]).toEqual([
      CSV,
      { 'query-execution-id': 'q1', 'data-version': run.data.version },
    ]);
  });

  it('does not start what another request has started', async () => {
    const { run, results, queries, key, claimed, ends } = await claiming({ afterMs: 100 });
    const executionId = await queries.start(run.order.query, claimed.record.token);
    const record = { ...claimed.record, state: 'under-way', executionId, startedAt: START } as const;
    const stored = results.put(key, record);
    const leading = leadQuery(run, { stored, record });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await leading).toMatchObject({ state: 'ready' });
    expect(queries.started).toHaveLength(1);
    expect(ends).toEqual(['succeeded']);
  });

  it('publishes, and does not count, where another request has taken its place meanwhile', async () => {
    const { lead, results, key, ends } = await claiming({ afterMs: 5_000 });
    setTimeout(() => results.put(key, { form: 0 }), 1_000);
    expect((await lead()).delivery).toMatchObject({ state: 'ready' });
    expect(ends).toEqual([]);
  });

  it('publishes where its place was taken before it could record the execution', async () => {
    const { lead, results, key, ends, record } = await claiming({ afterMs: 5_000 });
    results.put(key, { form: 0 });
    expect((await lead()).delivery).toMatchObject({ state: 'ready' });
    expect([ends, record()]).toEqual([[], { form: 0 }]);
  });

  it('is undefined, so that the order is judged anew, where another request starts the next try', async () => {
    const { lead, results, key } = await claiming({ ends: 'retryable', afterMs: 1_000 });
    results.put(key, { form: 0 });
    expect(await lead()).toEqual({ delivery: undefined });
  });

  it('counts no retry that another request has claimed', async () => {
    const { lead, results, key, ends } = await claiming({ ends: 'retryable', afterMs: 3_000 });
    setTimeout(() => results.put(key, { form: 0 }), 1_000);
    expect(await lead()).toEqual({ delivery: undefined });
    expect(ends).toEqual([]);
  });

  it('does not retry a retry', async () => {
    const { lead, queries } = await claiming({ ends: 'retryable' }, { ends: 'retryable' });
    expect((await lead()).error).toMatchObject({ name: 'QueryFailed' });
    expect(queries.started).toHaveLength(2);
  });

  it('does not retry a retry, also where a try was lost in between', async () => {
    const { lead, queries } = await claiming(
      { ends: 'retryable' },
      { ends: 'forgotten' },
      { ends: 'retryable' },
    );
    expect((await lead()).error).toMatchObject({ name: 'QueryFailed' });
    expect(queries.started).toHaveLength(3);
  });

  it('retries the first failure also after a try that was lost', async () => {
    const { lead, queries } = await claiming({ ends: 'forgotten' }, { ends: 'retryable' }, {});
    expect((await lead()).delivery).toMatchObject({ state: 'ready' });
    expect(queries.started).toHaveLength(3);
  });

  it('has no figures of a query that has not ended', async () => {
    const { lead, facts } = await claiming({ ends: 'never' });
    expect((await lead()).delivery).toMatchObject({ state: 'waiting' });
    expect(Object.keys(facts)).toEqual(['queryExecutionId']);
  });

  it('throws, after the query, where the record of the execution can not be written', async () => {
    const { lead, results, key } = await claiming({ afterMs: 100 });
    results.before(`replace ${key}`, () => {
      throw new Unavailable('busy', 30);
    });
    expect((await lead()).error).toBeInstanceOf(Unavailable);
  });

  it('does not leave a large result open', async () => {
    const { lead, results } = await claiming({ bytes: LARGE });
    const { openResult } = results;
    let opened: EngineResult | undefined;
    results.openResult = async (location) => {
      opened = await openResult(location);
      return opened;
    };
    await lead();
    expect(opened?.content.destroyed).toBe(true);
  });

  it('records a large result before it waits for its publication', async () => {
    const { lead, results, record, run } = await claiming({ bytes: LARGE });
    expect((await lead()).delivery).toMatchObject({
      state: 'waiting',
      progress: { token: run.follows, cacheStatus: 'miss' },
    });
    expect(record()).toMatchObject({ state: 'succeeded', resultBytes: LARGE });
    expect(results.calls.findIndex((call) => call.startsWith('create publications/'))).toBeGreaterThan(
      results.calls.findLastIndex((call) => call.startsWith('replace')),
    );
  });

  it('compares listings only where the lake can be listed', async () => {
    const { run, lake, queries, results } = await claiming({ ends: 'failed' });
    const looked = lake.looks.length;
    run.data = { ...run.data, isListed: false };
    const stored = await results.read(recordKey(run.order, run.data));
    const claimed = stored && (await claimNext(run, stored, 'x', false));
    const leading = (claimed ? leadQuery(run, claimed) : Promise.reject()).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await leading).toMatchObject({ name: 'QueryFailed' });
    expect([lake.looks.length - looked, queries.started.length]).toEqual([0, 1]);
  });
});
