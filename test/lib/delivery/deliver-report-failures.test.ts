import { describe, expect, it, vi } from 'vitest';
import { executionOf } from '../../../lib/aws/athena-queries.ts';
import { QueryFailed } from '../../../lib/delivery/delivery.ts';
import { ReportTooLarge, Unavailable } from '../../../lib/problems/problem.ts';
import { jobRecordKey, slotsKey } from '../../../lib/results/keys.ts';
import {
  ask,
  cachedKeyOf,
  cachedOf,
  follow,
  following,
  keyOf,
  leftBy,
  recordKeyOf,
  recordOf,
  request,
  statusOf,
  textOf,
} from './ask.ts';
import { CSV, type Setting, START, setting, termsNow, UUID, underWayRecord } from './setting.ts';
import { settled, useFakeTime } from './settled.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
vi.mock('../../../lib/results/gzipped.ts', () => import('./gzipped-at-once.ts'));
useFakeTime();

describe('a query without a result', () => {
  it('is enough if its result appears three seconds after its end', async () => {
    const of = setting({ isLost: true, afterMs: 2_000 });
    setTimeout(() => of.results.putResult('s3://results/athena/q1.csv', '"Day","Clicks"\n'), 5_000);
    const answer = await ask(of);
    expect([keyOf(answer), of.finished]).toEqual([expect.stringContaining('reports/q1/'), ['succeeded']]);
    expect(answer.ms).toBeLessThan(5_300);
  });

  it.each([undefined, 1])(
    'is followed by another attempt 30 s after its end, and counts in the metrics as succeeded (slots: %s)',
    async (queriesPerPartner) => {
      const of = setting({ isLost: true, afterMs: 100 }, { afterMs: 100 });
      const answer = await follow(of, { queriesPerPartner });
      expect(keyOf(answer)).toContain('reports/q2/');
      expect(Date.now()).toBeGreaterThan(START + 30_000);
      expect(Date.now()).toBeLessThan(START + 32_000);
      expect(new Set(of.queries.started.map(({ token }) => token)).size).toBe(2);
      expect(of.finished).toEqual(['succeeded', 'succeeded']);
    },
  );

  it.each([undefined, 1])(
    'causes an internal error after six attempts, however many hops these take (slots: %s)',
    async (queriesPerPartner) => {
      const lost = { isLost: true, afterMs: 50 };
      const of = setting(lost, lost, lost, lost, lost, lost, { afterMs: 50 });
      const { error, hops } = await follow(of, { queriesPerPartner });
      expect(error).toEqual(new QueryFailed('query q6 left nothing for its caller'));
      expect(of.queries.started).toHaveLength(6);
      expect(hops).toBeGreaterThan(5);
      // The next caller starts a query of its own.
      expect(keyOf(await ask(of, { ...termsNow(), queriesPerPartner }))).toContain('reports/q7/');
    },
  );

  it('is followed by another attempt when Athena has forgotten it: a retry by a retry', async () => {
    const of = setting(
      { ends: 'forgotten' },
      { ends: 'retryable' },
      { ends: 'forgotten' },
      { ends: 'retryable' },
    );
    expect((await ask(of)).error).toEqual(new QueryFailed('query q4 FAILED: boom'));
  });
});

describe('a token that belongs to another query', () => {
  it('is followed by another attempt with a new token', async () => {
    const of = setting({ afterMs: 100 });
    const { start } = of.queries;
    const tokens = new Set<string>();
    of.queries.start = async (query, token) =>
      tokens.add(token).size === 1 ? undefined : start(query, token);
    const answer = await ask(of);
    expect([textOf(of, answer), statusOf(answer)]).toEqual([CSV, 'miss']);
    expect([tokens.size, of.queries.started.length, of.finished]).toEqual([2, 1, ['succeeded']]);
    expect(recordOf(of)).toMatchObject({ attempts: 1 });
  });
});

describe('a query that fails', () => {
  it('is retried once if the failure is retryable; both queries are counted in the metrics', async () => {
    const of = setting({ ends: 'retryable', afterMs: 100 }, { afterMs: 100 });
    expect(textOf(of, await ask(of, { queriesPerPartner: 1 }))).toBe(CSV);
    expect(of.finished).toEqual(['failed', 'succeeded']);
    // The retry keeps the slot, and names the record that it replaced.
    expect(recordOf(of)).toMatchObject({
      slot: expect.stringMatching(UUID),
      follows: expect.stringMatching(UUID),
    });
    expect(of.facts.finishedQueries).toEqual([
      { state: 'failed', bytesScanned: 1_000, queryMs: 100 },
      { state: 'succeeded', bytesScanned: 1_000, queryMs: 100 },
    ]);
  });

  it('causes an internal error for all waiting callers if its retry fails too; the next caller gets another query', async () => {
    const of = setting({ ends: 'retryable', afterMs: 100 }, { ends: 'retryable', afterMs: 100 }, {});
    const answers = await settled(Promise.all([request(of), request(of), request(of)]));
    for (const { error } of answers) expect(error).toEqual(new QueryFailed('query q2 FAILED: boom'));
    expect(of.finished).toEqual(['failed', 'failed']);
    expect(recordOf(of)).toMatchObject({ state: 'failed', reason: 'FAILED: boom' });
    expect(textOf(of, await ask(of))).toBe(CSV);
  });

  it('is recorded with the time since its end, even if the lake is listed slowly', async () => {
    const of = setting({ ends: 'failed' });
    const { list } = of.lake;
    of.lake.list = async (...given) => {
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      return list.apply(of.lake, given);
    };
    await ask(of);
    expect(recordOf(of)['seenAfterMs']).toBeGreaterThanOrEqual(5_000);
  });

  it('is not retried for a caller whose time is up: that caller gets Unavailable', async () => {
    const of = setting({ ends: 'retryable' });
    expect((await ask(of, { giveUpAt: START + 2_000 })).error).toBeInstanceOf(Unavailable);
    expect([of.finished, of.queries.started.length]).toEqual([['failed'], 1]);
  });

  it('causes the same error for all callers in the waiting room', async () => {
    const of = setting({ ends: 'failed', afterMs: 30_000 });
    const [leader, joined] = await settled(Promise.all([following(of), following(of)]));
    expect([leader?.error, joined?.error]).toEqual([
      new QueryFailed('query q1 FAILED: boom'),
      new QueryFailed('query q1 FAILED: boom'),
    ]);
    expect(of.finished).toEqual(['failed']);
  });
});

describe('a query that exceeds the scan limit', () => {
  it('causes a refusal; the same request under the same limit is then refused without a query', async () => {
    const of = setting({ ends: 'scan-limit-exceeded', afterMs: 100 });
    expect((await ask(of)).error).toBeInstanceOf(ReportTooLarge);
    expect(of.finished).toEqual(['scan-limit-exceeded']);
    expect(recordOf(of)).toMatchObject({ state: 'scan-limit-exceeded', limit: 10, bytesScanned: 1_000 });
    expect(cachedOf(of)).toEqual(recordOf(of));
    const asked = of.queries.asked.get('q1');
    for (const key of ['queryExecutionId', 'bytesScanned'] as const) delete of.facts[key];
    const again = await ask(of);
    expect(again.error).toBeInstanceOf(ReportTooLarge);
    expect(of.facts).toMatchObject({
      queryExecutionId: 'q1',
      bytesScanned: 1_000,
      queryMs: 100,
      engineMs: 7,
    });
    expect(of.queries.asked.get('q1')).toBe(asked);
    expect(of.finished).toEqual(['scan-limit-exceeded']);
  });

  it('causes a refusal even if the cached refusal is gone, since the job record names the failure', async () => {
    const of = setting({ ends: 'scan-limit-exceeded', afterMs: 100 });
    await ask(of);
    of.results.objects.delete(cachedKeyOf(of));
    expect((await ask(of)).error).toBeInstanceOf(ReportTooLarge);
    expect(of.queries.started).toHaveLength(1);
  });
});

describe('a query’s failure that no request has noticed', () => {
  const leave = async (of: Setting) => {
    const answer = await ask(of);
    expect(answer.delivery?.state).toBe('waiting');
    await vi.advanceTimersByTimeAsync(3_600_000);
    return leftBy(answer);
  };

  it('causes no error for a new caller who did not wait for the query, but the metrics count the failure', async () => {
    const of = setting({ ends: 'failed', afterMs: 40_000 }, { afterMs: 100 });
    await leave(of);
    expect(textOf(of, await ask(of))).toBe(CSV);
    expect(of.finished).toEqual(['failed', 'succeeded']);
  });

  it('causes a refusal for the new caller who notices it if the scan limit was exceeded; the next caller gets a new query', async () => {
    const of = setting({ ends: 'scan-limit-exceeded', afterMs: 40_000 }, {});
    await leave(of);
    expect((await ask(of)).error).toBeInstanceOf(ReportTooLarge);
    expect([of.finished, cachedKeyOf(of)]).toEqual([['scan-limit-exceeded'], '']);
    // Nobody knows under which limit the query ran: the limit may have been another one at the query's end.
    expect(recordOf(of)).not.toHaveProperty('limit');
    expect(textOf(of, await ask(of))).toBe(CSV);
  });

  it('causes a refusal, which is not cached, for the caller who started the query if the scan limit was exceeded', async () => {
    const of = setting({ ends: 'scan-limit-exceeded', afterMs: 40_000 });
    const { askedAt } = termsNow();
    const left = await leave(of);
    expect((await ask(of, { askedAt }, left)).error).toBeInstanceOf(ReportTooLarge);
    expect([of.finished, cachedKeyOf(of)]).toEqual([['scan-limit-exceeded'], '']);
  });

  it('causes no error for a new caller if it is retryable: the first query for that caller does not count as the retry', async () => {
    const of = setting({ ends: 'retryable', afterMs: 40_000 }, { ends: 'retryable' }, {});
    await leave(of);
    expect(textOf(of, await ask(of))).toBe(CSV);
    expect(of.queries.started).toHaveLength(3);
  });

  it.each([0, 3, -3])(
    'causes an error for the caller who started the query, however late the next hop comes (clock ahead by %d h)',
    async (hours) => {
      const of = setting({ ends: 'failed', afterMs: 40_000 });
      const { askedAt } = termsNow();
      const left = await leave(of);
      of.clock.skewMachine(hours * 3_600_000);
      const { error } = await ask(of, { askedAt: askedAt + hours * 3_600_000 }, left);
      expect(error).toBeInstanceOf(QueryFailed);
    },
  );

  it('causes an error for a caller who joined the query and waited when it ended', async () => {
    const of = setting({ ends: 'failed', afterMs: 40_000 });
    const first = request(of);
    await vi.advanceTimersByTimeAsync(1_000);
    const terms = termsNow();
    const joined = await ask(of, { waitUntil: Date.now() + 5_000 });
    await settled(first);
    await vi.advanceTimersByTimeAsync(60_000);
    const { error } = await ask(of, { askedAt: terms.askedAt }, leftBy(joined));
    expect(error).toEqual(new QueryFailed('query q1 FAILED: boom'));
    expect(of.queries.started).toHaveLength(1);
  });
});

describe("a result that is not Athena's CSV", () => {
  it('is recorded, and counted in the metrics, as a failure; the next caller gets another query', async () => {
    const of = setting({ csv: 'nonsense', afterMs: 2_000 }, { afterMs: 100 });
    const [first, joined] = await settled(Promise.all([request(of), request(of)]));
    for (const answer of [first, joined]) expect(answer?.error).toBeInstanceOf(QueryFailed);
    expect(recordOf(of)).toMatchObject({ state: 'failed', executionId: 'q1' });
    expect(of.finished).toEqual(['failed']);
    expect([of.results.keys(/^reports/), cachedKeyOf(of)]).toEqual([[], '']);
    const next = await ask(of);
    expect([textOf(of, next), statusOf(next)]).toEqual([CSV, 'miss']);
    expect(of.finished).toEqual(['failed', 'succeeded']);
  });

  it('is counted in the metrics as a failure when a caller comes after the query’s end; that caller gets another query at once', async () => {
    const of = setting({ csv: 'nonsense', afterMs: 40_000 }, { afterMs: 100 });
    await ask(of);
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(textOf(of, await ask(of))).toBe(CSV);
    expect(of.finished).toEqual(['failed', 'succeeded']);
  });

  it('is read and counted once while no slot is free for the next query; the query after a retry is a retry', async () => {
    const of = setting({ csv: 'nonsense' }, { ends: 'retryable' });
    const { job, data } = await of.target();
    const executionId = of.queries.startNow(job.query, 'a'.repeat(40));
    of.results.put(
      jobRecordKey(job, data),
      underWayRecord({ executionId, leaseMs: undefined, isRetry: true }),
    );
    const slot = { id: 'slot-1', record: 'jobs/other/fingerprint.json', heldMs: 0 };
    of.results.put(slot.record, underWayRecord({ slot: slot.id, executionId: 'other' }));
    of.results.put(slotsKey('client-1'), { form: 2, slots: [slot] });
    const one = { queriesPerPartner: 1 };
    const waiting = await ask(of, one);
    expect(leftBy(waiting)).toEqual({ waitsFor: 'slot', dataChanges: 0, cacheStatus: 'collapsed' });
    expect(of.results.callsOf('readResult')).toHaveLength(1);
    of.results.objects.delete(slotsKey('client-1'));
    expect((await ask(of, one, leftBy(waiting))).error).toEqual(new QueryFailed('query q2 FAILED: boom'));
    expect(of.finished).toEqual(['failed', 'failed']);
  });

  it('is followed by another query if it was recorded as succeeded and its files are gone', async () => {
    const of = setting({ afterMs: 100 }, { afterMs: 100 });
    await ask(of);
    const { files: _, ...record } = cachedOf(of);
    for (const key of [cachedKeyOf(of), recordKeyOf(of)]) of.results.put(key, record);
    for (const key of of.results.keys(/^reports/)) of.results.objects.delete(key);
    of.results.putResult('s3://results/athena/q1.csv', 'nonsense');
    expect(keyOf(await ask(of))).toContain('reports/q2/');
  });
});

describe('an execution that has succeeded, but for which Athena names no location of a result', () => {
  it('is recorded, and counted in the metrics, as a failure; the next caller gets another query', async () => {
    const of = setting({ ends: 'failed', afterMs: 100 }, { afterMs: 100 });
    const { get } = of.queries;
    of.queries.get = async (id) => {
      const execution = await get.call(of.queries, id);
      if (id !== 'q1' || execution.state !== 'failed') return execution;
      return executionOf(
        id,
        {
          Status: {
            State: 'SUCCEEDED',
            SubmissionDateTime: new Date(execution.submittedAt),
            CompletionDateTime: new Date(execution.completedAt),
          },
        },
        execution.observedAt,
      );
    };
    expect((await ask(of)).error).toEqual(new QueryFailed('query q1 SUCCEEDED without a result'));
    expect([recordOf(of)['state'], of.finished]).toEqual(['failed', ['failed']]);
    expect(textOf(of, await ask(of))).toBe(CSV);
    expect(of.finished).toEqual(['failed', 'succeeded']);
  });
});
