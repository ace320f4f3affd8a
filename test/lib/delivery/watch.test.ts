import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { DeliveryTerms } from '../../../lib/delivery/delivery.ts';
import { type WatchedExecution, watchExecution, watchRecord } from '../../../lib/delivery/watch.ts';
import { Unavailable } from '../../../lib/problems/problem.ts';
import { jobRecordKey } from '../../../lib/results/keys.ts';
import type { Plan } from './memory-queries.ts';
import { type Setting, START, setting, startingRecord, termsNow, underWayRecord } from './setting.ts';
import { settled, useFakeTime } from './settled.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
useFakeTime();

const dice = (number: number) => () => {
  const random = vi.spyOn(Math, 'random').mockReturnValue(number);
  return () => random.mockRestore();
};
beforeEach(dice(0.5));

const RESULT = 's3://results/athena/q1.csv';

interface Circumstances {
  /** How long Athena took to answer the start of the query. */
  readonly answerMs?: number;
  readonly watched?: Partial<WatchedExecution>;
  readonly change?: (of: Setting) => void;
}

/** Starts a query and watches it from START on; resolves when the watch has ended. */
async function watch(
  plan: Plan,
  more: Partial<DeliveryTerms> = {},
  { answerMs = 0, watched, change }: Circumstances = {},
) {
  const of = setting(plan);
  const { queries, results } = of;
  vi.setSystemTime(START - answerMs);
  const id = queries.startNow({ sql: 'SELECT 1', parameters: [] }, 't'.repeat(40));
  await vi.advanceTimersByTimeAsync(answerMs);
  change?.(of);
  const begin = vi.fn(() => 'begun');
  const execution = { id, elapsedMs: 0, runningAt: undefined, hasRun: false, isTakenOver: false, ...watched };
  const state = await settled(watchExecution(of, execution, termsNow(more), begin));
  const ended = { ...state, ms: Date.now() - START, athena: queries.asked.get(id) ?? 0 };
  const looks = results.calls.length;
  // After the watch has ended, it makes at most one more call to S3.
  await vi.advanceTimersByTimeAsync(60_000);
  expect(results.calls.length - looks).toBeLessThanOrEqual(1);
  return { ...ended, looks, begins: begin.mock.calls.length };
}

const throttle = () => {
  throw new Unavailable('busy', 30);
};

describe.each([0, 0.5, 0.999])('watchExecution, with Math.random at %d,', (number) => {
  beforeEach(dice(number));

  it.each([
    [300, 30, 1],
    [2_000, 130, 2],
    [8_000, 400, 3],
    [24_000, 1_100, 5],
  ])(
    'notices the end of a query of %d ms within %d ms, by at most %d calls to Athena',
    async (afterMs, lostMs, most) => {
      const { execution, ms, athena } = await watch({ afterMs });
      expect(execution).toMatchObject({ state: 'succeeded', id: 'q1' });
      expect(ms).toBeGreaterThanOrEqual(afterMs);
      expect(ms).toBeLessThanOrEqual(afterMs + lostMs);
      expect(athena).toBeLessThanOrEqual(most);
      expect(athena).toBeGreaterThan(0);
    },
  );
});

describe('watchExecution', () => {
  it('calls back once when it sees the result, and asks Athena again soon until Athena reports the end', async () => {
    const change = ({ results }: Setting) => void setTimeout(() => results.putResult(RESULT, ''), 500);
    const { begins, ms, athena } = await watch({ afterMs: 1_000 }, {}, { change });
    expect(begins).toBe(1);
    expect(ms).toBeLessThan(1_500);
    expect(athena).toBeGreaterThan(1);
    expect(athena).toBeLessThanOrEqual(7);
  });

  it('does not call back if the result has another location, which only Athena knows', async () => {
    const { begins, execution } = await watch({ afterMs: 1_000, location: 's3://results/athena/q0.csv' });
    expect([begins, execution?.state]).toEqual([0, 'succeeded']);
  });

  // A hop that asks once more as it ends would move failures into first requests.
  it.each<[string, Partial<DeliveryTerms>, Partial<WatchedExecution>, number, number]>([
    ['at the end of a request that started it: no', { waitUntil: START + 1_000 }, {}, 0, 1_000],
    ['at the end of its caller’s time: once', { giveUpAt: START + 1_000 }, {}, 1, 1_000],
    ['after a take-over: once', { waitUntil: START + 1_900 }, { isTakenOver: true }, 1, 1_900],
    ['after a take-over without time: not at all', { waitUntil: START }, { isTakenOver: true }, 0, 1],
  ])('asks Athena about a query that does not end, %s', async (_, terms, watched, times, endsMs) => {
    const { athena, ms } = await watch({ ends: 'never' }, terms, { watched });
    expect([athena, ms]).toEqual([times, endsMs]);
  });

  it('looks for the result of a query that it has taken over at once', async () => {
    const { ms, looks } = await watch({}, {}, { watched: { isTakenOver: true, elapsedMs: 60_000 } });
    expect([ms, looks]).toEqual([0, 1]);
  });

  it('looks seldom for the result of an old query, and asks seldom about it', async () => {
    const { looks, athena } = await watch({ ends: 'never' }, {}, { watched: { elapsedMs: 300_000 } });
    expect([looks, athena]).toEqual([24, 0]);
  });

  it('treats an error of S3 as a result that does not exist yet', async () => {
    const change = ({ results }: Setting) => results.before('head athena/', throttle);
    expect((await watch({ afterMs: 500 }, {}, { change })).execution?.state).toBe('succeeded');
  });

  it('throws an error of Athena that is no throttling', async () => {
    const change = ({ queries }: Setting) => {
      queries.onGet = () => {
        throw new Error('boom');
      };
    };
    await expect(watch({ ends: 'never' }, {}, { change })).rejects.toThrow('boom');
  });

  it('counts the time that Athena has had the query from its submission', async () => {
    // Athena answered the start of this query 3 s late.
    const { elapsedMs } = await watch({ ends: 'never' }, {}, { answerMs: 3_000 });
    expect(elapsedMs).toBeGreaterThanOrEqual(27_000);
  });

  it.each<[string, Plan, Partial<WatchedExecution>, object]>([
    ['queued', { ends: 'never', queuedMs: 60_000 }, {}, { runningAt: undefined, hasRun: false }],
    [
      'seen running',
      { ends: 'never' },
      { runningAt: START - 1, hasRun: true },
      { runningAt: START - 1, hasRun: true },
    ],
    [
      'queued again',
      { ends: 'never', queuedMs: 60_000 },
      { runningAt: 7, hasRun: true },
      { runningAt: undefined, hasRun: true },
    ],
  ])('tells since when the query has run: %s', async (_, plan, watched, seen) => {
    expect(await watch(plan, {}, { watched })).toMatchObject(seen);
  });

  it.each([1, 999])(
    'seldom asks Athena about a query at its limit, submitted %d ms after a full second',
    async (afterMs) => {
      const limits = { longestQueryMs: 6_000, longestQueueMs: 0 };
      const { ms, athena } = await watch({ ends: 'never' }, limits, { answerMs: 1_000 - afterMs });
      // Athena gives the time of its answer in whole seconds, and is seldom asked: the limit is noticed late.
      expect(ms).toBeLessThanOrEqual(8_000);
      expect(athena).toBeLessThanOrEqual(5);
    },
  );

  it('goes on, and seldom asks, while Athena throttles the questions about a query that takes too long', async () => {
    const change = ({ queries }: Setting) => {
      queries.onGet = throttle;
    };
    const { execution, ms, athena } = await watch({ ends: 'never' }, { longestQueryMs: 5_000 }, { change });
    expect([execution, ms]).toEqual([undefined, 25_000]);
    expect(athena).toBeLessThan(10);
  });
});

describe('watchRecord', () => {
  const record = underWayRecord({ leaseMs: 10_000 });
  /** The time after which the watch ends, whether the record has changed, and the reads. */
  const watched = async (
    seen: typeof record | ReturnType<typeof startingRecord>,
    more: Partial<DeliveryTerms> = {},
    changedMs = 1e6,
  ) => {
    const of = setting();
    const target = await of.target();
    const key = jobRecordKey(target.job);
    const stored = of.results.put(key, seen);
    setTimeout(() => of.results.put(key, { ...seen, writer: 'other' }), changedMs);
    const latest = await settled(watchRecord(of.run(more), target, stored, seen));
    return [Date.now() - START, latest?.etag !== stored.etag, of.results.callsOf('read').length] as const;
  };

  // A lease ends a second late, because S3 gives ages in whole seconds, and a random pause after that.
  it.each<[string, Partial<DeliveryTerms>, number]>([
    ['the lease has ended, and half of the longest random pause is over', {}, 11_500],
    ['the request must be answered', { waitUntil: START + 3_000 }, 3_000],
    ['the caller’s time is up', { giveUpAt: START + 2_000 }, 2_000],
  ])('reads the record until %s', async (_, terms, endMs) => {
    expect(await watched(record, terms)).toEqual([endMs, false, expect.any(Number)]);
  });

  it('soon sees a changed record, sooner if the query is young', async () => {
    const [youngMs, isChanged] = await watched(record, {}, 1_000);
    expect(isChanged).toBe(true);
    expect(youngMs).toBeLessThanOrEqual(1_200);
    const [, , looks] = await watched(underWayRecord({ elapsedMs: 60_000 }), {
      waitUntil: Date.now() + 8_000,
    });
    expect(looks).toBe(4);
    const [, , looksAtStart] = await watched(startingRecord(), { waitUntil: Date.now() + 1_800 });
    expect(looksAtStart).toBe(10);
  });
});
