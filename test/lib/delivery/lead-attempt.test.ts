import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createAttempt } from '../../../lib/delivery/attempt.ts';
import type { DeliveryTerms } from '../../../lib/delivery/delivery.ts';
import { leadAttempt } from '../../../lib/delivery/lead-attempt.ts';
import type { Leading, Step } from '../../../lib/delivery/phase.ts';
import { Overloaded, Unavailable } from '../../../lib/problems/problem.ts';
import { jobRecordKey, reportKey } from '../../../lib/results/keys.ts';
import { evenDice } from './ask.ts';
import { FIGURES, type Plan } from './memory-queries.ts';
import { CSV, LARGE, START, setting, UUID, underWayRecord } from './setting.ts';
import { settled } from './settled.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
vi.mock('../../../lib/results/gzipped.ts', () => import('./gzipped-at-once.ts'));
beforeEach(() => {
  vi.useFakeTimers({ now: START });
  const endDice = evenDice();
  return () => {
    endDice();
    vi.useRealTimers();
  };
});

const busy = async () => {
  throw new Overloaded('busy', 30);
};

/** A request that has created the first attempt of its job. */
async function creating(plans: readonly Plan[], terms: Partial<DeliveryTerms> = {}) {
  const of = setting(...plans);
  const run = of.run(terms);
  const target = await of.target();
  const key = jobRecordKey(target.job, target.data);
  const phase = (await createAttempt(run, target, undefined, {})) as Leading;
  const created = phase.held.record;
  of.lake.looks.length = 0;
  of.results.calls.length = 0;
  const leading = () =>
    leadAttempt(run, phase).then(
      (step): { step?: Step; error?: unknown } => ({ step }),
      (error: unknown): { step?: Step; error?: unknown } => ({ error }),
    );
  return {
    ...of,
    run,
    target,
    phase,
    key,
    created,
    free: {
      ...created,
      leaseMs: undefined,
      writer: expect.stringMatching(UUID),
    },
    leading,
    lead: () => settled(leading()),
    record: () => of.results.document(key) as Record<string, unknown>,
    file: () => of.results.objects.get(reportKey('q1', target.job.fileName)),
    results: of.results,
  };
}
const without = (record: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));

describe('leadAttempt', () => {
  it('starts the query with the attempt’s token, then records the execution, then records its end', async () => {
    const { leading, target, queries, created, record, results, key } = await creating([{ afterMs: 5_000 }]);
    const led = leading();
    await vi.advanceTimersByTimeAsync(0);
    expect(record()).toEqual({
      ...created,
      writer: expect.stringMatching(UUID),
      state: 'under-way',
      executionId: 'q1',
      elapsedMs: 0,
    });
    expect((await settled(led)).step).toMatchObject({ delivery: { state: 'ready', cacheStatus: 'miss' } });
    expect(queries.started).toMatchObject([{ token: created.attempt, query: target.job.query }]);
    expect(record()['state']).toBe('succeeded');
    expect(results.callsOf(`replace ${key}`)).toHaveLength(2);
  });

  it('makes the report from the result, which it reads once', async () => {
    const { lead, results, target, file } = await creating([{}]);
    await lead();
    expect(results.callsOf('readResult')).toHaveLength(1);
    expect([file()?.text, file()?.file?.metadata]).toEqual([
      CSV,
      { 'query-execution-id': 'q1', 'data-version': target.data.version },
    ]);
  });

  it('does not start a query that another request has started', async () => {
    const { run, phase, results, queries, key, created, target, finished } = await creating([
      { afterMs: 100 },
    ]);
    const executionId = queries.startNow(target.job.query, created.attempt);
    const record = underWayRecord({ attempt: created.attempt, executionId });
    const held = { stored: results.put(key, record), record };
    expect(await settled(leadAttempt(run, { ...phase, held, cacheStatus: 'collapsed' }))).toMatchObject({
      delivery: { state: 'ready', cacheStatus: 'collapsed' },
    });
    expect(queries.started).toHaveLength(1);
    expect(finished).toEqual(['succeeded']);
  });

  it('logs only the execution of a query that has not ended, and no figures', async () => {
    const { lead, facts } = await creating([{ ends: 'never' }]);
    expect((await lead()).step).toMatchObject({ delivery: { state: 'waiting' } });
    expect(Object.keys(facts)).toEqual(['queryExecutionId']);
  });
});

describe('leadAttempt, when its time is up', () => {
  it('gives up its lease, and records what Athena has reported of the query', async () => {
    const { lead, record, free } = await creating([{ ends: 'never', queuedMs: 5_000 }]);
    const { step } = await lead();
    expect(step).toMatchObject({
      delivery: {
        state: 'waiting',
        progress: { waitsFor: 'attempt', cacheStatus: 'miss', dataChanges: 0 },
      },
    });
    const { runningAt, elapsedMs, ...others } = record();
    expect(others).toEqual(without({ ...free, state: 'under-way', executionId: 'q1', hasRun: true }));
    expect(runningAt).toBeGreaterThan(START + 5_000);
    // Athena has had the query for 25 s, but gives its times in whole seconds.
    expect(elapsedMs).toBeGreaterThan(24_000);
    expect(elapsedMs).toBeLessThanOrEqual(25_000);
  });

  it.each<[string, Partial<DeliveryTerms>, object]>([
    ['lets its caller wait on for a late result', {}, { delivery: { state: 'waiting' } }],
    ['refuses a caller whose time is up', { giveUpAt: START + 10_000 }, { refusal: expect.any(Unavailable) }],
  ])('%s, and gives up its lease', async (_, terms, step) => {
    const { lead, queries, record, finished } = await creating([{ isLost: true }], terms);
    expect((await lead()).step).toMatchObject(step);
    expect([queries.stopped, queries.started.length, finished]).toEqual([[], 1, []]);
    expect(record()).not.toHaveProperty('leaseMs');
    expect(record()['state']).toBe('under-way');
  });

  it('still answers if its lease can not be given up', async () => {
    const { lead, results } = await creating([{ ends: 'never' }]);
    const { replace } = results;
    results.replace = async (was, key, document) => {
      if (!('leaseMs' in (document as object))) throw new Overloaded('busy', 30);
      return replace(was, key, document);
    };
    expect((await lead()).step).toMatchObject({ delivery: { state: 'waiting' } });
  });

  it.each<[string, Plan, number]>([
    ['the time since it was first seen running', {}, 10_000],
    ['the time since it was first seen running, without the time in the queue', { queuedMs: 8_000 }, 10_000],
    ['zero for a query that never left the queue', { queuedMs: 1e9 }, 0],
  ])('records how long a stopped query has run: %s', async (_, plan, engineMs) => {
    const { lead, record, queries } = await creating([{ ends: 'never', ...plan }], {
      longestQueryMs: 10_000,
      longestQueueMs: 10_000,
      giveUpAt: START + 24_000,
    });
    await lead();
    expect(queries.stopped).toEqual(['q1']);
    expect(record()).toMatchObject({ state: 'failed', cause: 'took-too-long', engineMs });
  });
});

describe('leadAttempt, on an error', () => {
  it.each<[string, Error]>([
    ['the engine is at its limit', new Overloaded('busy', 30)],
    ['the start fails for another reason', new Error('boom')],
  ])('gives up the lease if %s, and throws the error', async (_, boom) => {
    const { lead, queries, free, record, finished } = await creating([{}]);
    queries.start = () => Promise.reject(boom);
    expect((await lead()).error).toBe(boom);
    expect(record()).toEqual(without(free));
    expect(finished).toEqual([]);
  });

  it('gives up the lease after the start of the query, and keeps the execution in the record', async () => {
    const { lead, queries, free, record } = await creating([{ ends: 'failed', afterMs: 100 }]);
    const boom = new Error('boom');
    queries.onGet = () => {
      throw boom;
    };
    expect((await lead()).error).toBe(boom);
    expect(record()).toEqual(without({ ...free, state: 'under-way', executionId: 'q1', elapsedMs: 0 }));
  });

  it('does not overwrite a record that another request has written meanwhile', async () => {
    const { lead, queries, results, key, record } = await creating([{}]);
    const boom = new Error('boom');
    queries.start = async () => {
      results.put(key, { form: 0 });
      throw boom;
    };
    expect((await lead()).error).toBe(boom);
    expect(record()).toEqual({ form: 0 });
  });

  it('throws the first error even if giving up the lease fails too', async () => {
    const { lead, queries, results, key } = await creating([{}]);
    const boom = new Error('boom');
    queries.start = () => Promise.reject(boom);
    results.before(`replace ${key}`, () => {
      throw new Overloaded('busy', 30);
    });
    expect((await lead()).error).toBe(boom);
  });

  it('throws after the query’s end if the execution could not be recorded', async () => {
    const { lead, results, key } = await creating([{ afterMs: 100 }]);
    results.before(`replace ${key}`, () => {
      throw new Unavailable('busy', 30);
    });
    expect((await lead()).error).toBeInstanceOf(Unavailable);
  });

  it('gives up the lease if the report can not be written', async () => {
    const { lead, results, record } = await creating([{}]);
    results.writeFile = busy;
    expect((await lead()).error).toBeInstanceOf(Overloaded);
    expect(record()).toMatchObject({ state: 'under-way', executionId: 'q1' });
    expect(record()).not.toHaveProperty('leaseMs');
  });
});

describe('leadAttempt, if another request has taken the lease,', () => {
  it('delivers the report, and does not count the query in the metrics', async () => {
    const { lead, results, key, finished } = await creating([{ afterMs: 5_000 }]);
    setTimeout(() => results.put(key, { form: 0 }), 1_000);
    expect((await lead()).step).toMatchObject({ delivery: { state: 'ready' } });
    expect(finished).toEqual([]);
  });

  it('still delivers the report when the lease was taken before the execution was recorded', async () => {
    const { lead, results, key, finished, record } = await creating([{ afterMs: 5_000 }]);
    results.put(key, { form: 0 });
    expect((await lead()).step).toMatchObject({ delivery: { state: 'ready' } });
    expect([finished, record()]).toEqual([[], { form: 0 }]);
  });

  it('begins again instead of retrying the failed query, and does not count that query in the metrics', async () => {
    const early = await creating([{ ends: 'retryable', afterMs: 1_000 }]);
    early.results.put(early.key, { form: 0 });
    expect((await early.lead()).step).toMatchObject({ at: 'arrived' });
    const late = await creating([{ ends: 'retryable', afterMs: 3_000 }]);
    setTimeout(() => late.results.put(late.key, { form: 0 }), 1_000);
    expect((await late.lead()).step).toMatchObject({ at: 'arrived' });
    expect([early.finished, late.finished]).toEqual([[], []]);
  });

  it('follows the next attempt, which the other request has created', async () => {
    const { lead, results, key, finished } = await creating([{ ends: 'failed', afterMs: 3_000 }]);
    setTimeout(() => results.put(key, underWayRecord({ attempt: 'next' })), 1_000);
    expect((await lead()).step).toMatchObject({ at: 'following', cacheStatus: 'miss' });
    expect(finished).toEqual([]);
  });
});

describe('leadAttempt, at the end of the query,', () => {
  it('creates a retry in the slot of the first attempt if Athena calls the failure retryable', async () => {
    const { run, phase, key, results, finished } = await creating([{ ends: 'retryable' }]);
    const record = { ...phase.held.record, slot: 'slot-1' };
    const held = { stored: results.put(key, record), record };
    const step = await settled(leadAttempt(run, { ...phase, held }));
    expect(step).toMatchObject({ at: 'leading', held: { record: { isRetry: true, slot: 'slot-1' } } });
    expect(finished).toEqual(['failed']);
  });

  it.each<[string, boolean, number]>([
    ['it took the attempt over, even if it has created another attempt before', false, 60_000],
    ['its caller’s time is up', true, 2_000],
  ])('records and counts the end, and creates no retry, if %s', async (_, isCreator, giveUpAfterMs) => {
    const { run, phase, key, results, record, finished } = await creating([{ ends: 'retryable' }], {
      queriesPerPartner: 1,
      giveUpAt: START + giveUpAfterMs,
    });
    const was = { ...phase.held.record, slot: 'slot-1' };
    const held = { stored: results.put(key, was), record: was };
    const step = await settled(leadAttempt(run, { ...phase, held, isCreator }));
    expect(step).toMatchObject({ at: 'following', seen: { document: record() } });
    expect(record()).toEqual({
      form: 2,
      writer: expect.stringMatching(UUID),
      state: 'failed',
      attempt: was.attempt,
      attempts: 1,
      slot: 'slot-1',
      executionId: 'q1',
      submittedAt: START,
      completedAt: START,
      ...FIGURES,
      seenAfterMs: expect.any(Number),
      reason: 'FAILED: boom',
      cause: 'not-repeated',
      isRetry: true,
    });
    expect(finished).toEqual(['failed']);
  });

  it('records how long ago the query failed, including the time for listing the lake', async () => {
    const { lead, record, backends } = await creating([{ ends: 'failed' }]);
    const list = backends.lake.list.bind(backends.lake);
    vi.spyOn(backends.lake, 'list').mockImplementation((...given) => {
      vi.setSystemTime(Date.now() + 5_000);
      return list(...given);
    });
    await lead();
    expect(record()['seenAfterMs']).toBeGreaterThanOrEqual(5_000);
  });

  it.each<[string, Plan]>([
    ['of a retry', { ends: 'retryable' }],
    ['that is not retryable', { ends: 'failed' }],
  ])('records a failure %s', async (_, plan) => {
    const { run, phase, key, results, finished } = await creating([plan]);
    const record = { ...phase.held.record, isRetry: plan.ends === 'retryable' };
    const held = { stored: results.put(key, record), record };
    expect(await settled(leadAttempt(run, { ...phase, held }))).toMatchObject({
      at: 'following',
      seen: { document: { state: 'failed', reason: 'FAILED: boom' } },
    });
    expect(finished).toEqual(['failed']);
  });

  it('repeats a forgotten execution: a retry as a retry, and a first attempt as a first attempt', async () => {
    for (const isRetry of [true, false]) {
      const { run, phase, key, results, finished } = await creating([{ ends: 'forgotten' }]);
      const record = { ...phase.held.record, isRetry };
      const held = { stored: results.put(key, record), record };
      expect(await settled(leadAttempt(run, { ...phase, held }))).toMatchObject({
        held: { record: { isRetry } },
      });
      expect(finished).toEqual([]);
    }
  });

  it('lists the lake again after a failed query only if it could be listed before the query', async () => {
    for (const isListed of [true, false]) {
      const { run, phase, lake, target } = await creating([{ ends: 'failed' }]);
      const data = { ...target.data, isListed };
      await settled(leadAttempt(run, { ...phase, target: { ...target, data } }));
      expect(lake.looks).toEqual(isListed ? [0] : []);
    }
  });

  it('does not list the lake after a success, and gives no data version, if the lake can not be listed', async () => {
    const { run, phase, lake, target } = await creating([{}]);
    const data = { ...target.data, isListed: false };
    const step = await settled(leadAttempt(run, { ...phase, target: { ...target, data } }));
    expect(step).toMatchObject({ delivery: { state: 'ready' } });
    expect(step).not.toHaveProperty('delivery.dataVersion');
    expect(lake.looks).toEqual([]);
  });
});

describe('leadAttempt, once the file of the result has appeared,', () => {
  it('lists the lake once and reads the file once, without waiting for Athena’s answer', async () => {
    const { lead, lake, results, queries } = await creating([{ afterMs: 500 }]);
    let atQuestion: unknown;
    queries.onGet = () => {
      atQuestion ??= [lake.looks.length, results.callsOf('readResult').length];
    };
    await lead();
    expect(atQuestion).toEqual([1, 1]);
    expect([lake.looks, results.callsOf('readResult')]).toEqual([[0], ['readResult athena/q1.csv']]);
  });

  it('lists the lake again if Athena names another result, and reads that result', async () => {
    const location = 's3://results/athena/q0.csv';
    const { lake, results, file, leading } = await creating([{ afterMs: 1_000, location }]);
    results.putResult(location, '"Day","Clicks"\n"2026-01-01T00:00:00Z","7"\n');
    // An object exists at the usual key of this execution's result before the execution has ended.
    results.putResult('s3://results/athena/q1.csv', 'nonsense');
    setTimeout(() => lake.add('2026-01-01', 'b.parquet'), 500);
    const { step } = await settled(leading());
    expect(file()?.text).toBe(CSV.replace(',1', ',7'));
    // The early listing, from before the change, is not used.
    expect(step).not.toHaveProperty('delivery.dataVersion');
    expect([lake.looks, results.callsOf('readResult')]).toEqual([
      [0, 0],
      ['readResult athena/q1.csv', 'readResult athena/q0.csv'],
    ]);
  });

  it('ignores errors of the early listing and of the early read if the execution itself has failed', async () => {
    const { lead, results, lake, record } = await creating([{ ends: 'failed', afterMs: 1_000 }]);
    results.putResult('s3://results/athena/q1.csv', 'nonsense');
    results.before('readResult', () => {
      throw new Error('boom');
    });
    const { list } = lake;
    let looks = 0;
    lake.list = (...given) => (looks++ === 0 ? Promise.reject(new Error('boom')) : list.apply(lake, given));
    expect((await lead()).step).toMatchObject({ at: 'following' });
    expect(record()).toMatchObject({ state: 'failed', reason: 'FAILED: boom' });
  });
});

describe('leadAttempt, if the result is large,', () => {
  it('records the attempt as succeeded, and leaves the publication to the requests that wait', async () => {
    const { lead, record, key, results } = await creating([{ bytes: LARGE }]);
    expect((await lead()).step).toMatchObject({
      at: 'following',
      cacheStatus: 'miss',
      seen: { document: { state: 'succeeded' } },
    });
    expect(record()).toMatchObject({ state: 'succeeded', resultBytes: LARGE });
    expect(record()).not.toHaveProperty('files');
    expect(results.keys(/^reports\//)).toEqual([]);
    expect(results.callsOf(`replace ${key}`)).toHaveLength(2);
  });
});
