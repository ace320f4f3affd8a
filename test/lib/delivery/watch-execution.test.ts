import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { DeliveryTerms } from '../../../lib/delivery/delivery.ts';
import { watchExecution } from '../../../lib/delivery/watch-execution.ts';
import { Unavailable } from '../../../lib/problems/problem.ts';
import { awsClock } from './aws-clock.ts';
import { memoryBucket } from './memory-bucket.ts';
import { memoryQueries, type Plan } from './memory-queries.ts';
import { START } from './setting.ts';
import { settled } from './settled.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
beforeEach(() => {
  vi.useFakeTimers({ now: START });
  const random = vi.spyOn(Math, 'random').mockReturnValue(0.5);
  return () => {
    random.mockRestore();
    vi.useRealTimers();
  };
});

const TOKEN = 't'.repeat(40);
const RESULT = 's3://results/athena/q1.csv';
type WatchTerms = Pick<DeliveryTerms, 'waitUntil' | 'giveUpAt' | 'longestQueryMs' | 'longestQueueMs'>;
const terms: WatchTerms = {
  waitUntil: START + 25_000,
  giveUpAt: START + 1_230_000,
  longestQueryMs: 600_000,
  longestQueueMs: 600_000,
};

interface Circumstances {
  /** How long Athena took to answer the start of the query. */
  readonly answerMs?: number;
  readonly change?: (
    queries: ReturnType<typeof memoryQueries>,
    results: ReturnType<typeof memoryBucket>,
  ) => void;
}

/** Starts a query and watches it from START on; resolves when the watch has ended. */
async function watch(
  plan: Plan,
  more: Partial<WatchTerms> = {},
  { answerMs = 0, change }: Circumstances = {},
) {
  const clock = awsClock();
  const results = memoryBucket(clock);
  const queries = memoryQueries(results, [plan], clock);
  vi.setSystemTime(START - answerMs);
  const id = queries.startNow({ sql: 'SELECT 1', parameters: [] }, TOKEN);
  await vi.advanceTimersByTimeAsync(answerMs);
  change?.(queries, results);
  const begin = vi.fn(() => 'begun');
  const watched = { id, elapsedMs: 0, runningAt: undefined, hasRun: false, isTakenOver: false };
  const state = await settled(watchExecution({ queries, results }, watched, { ...terms, ...more }, begin));
  const ended = { ...state, ms: Date.now() - START, athena: queries.asked.get(id) ?? 0 };
  const looks = results.calls.length;
  // After the watch has ended, it makes at most one more call to S3.
  await vi.advanceTimersByTimeAsync(60_000);
  expect(results.calls.length - looks).toBeLessThanOrEqual(1);
  return { ...ended, begins: begin.mock.calls.length };
}

const throttle = () => {
  throw new Unavailable('busy', 30);
};

describe.each([0, 0.5, 0.999])('watchExecution, with Math.random at %d,', (dice) => {
  beforeEach(() => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(dice);
    return () => random.mockRestore();
  });

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
    const { begins, ms, athena } = await watch(
      { afterMs: 1_000 },
      {},
      { change: (_, results) => void setTimeout(() => results.putResult(RESULT, ''), 500) },
    );
    expect(begins).toBe(1);
    expect(ms).toBeLessThan(1_500);
    expect(athena).toBeGreaterThan(1);
    expect(athena).toBeLessThanOrEqual(7);
  });

  it('does not call back if the result has another location, which only Athena knows', async () => {
    const { begins, execution } = await watch({ afterMs: 1_000, location: 's3://results/athena/q0.csv' });
    expect([begins, execution?.state]).toEqual([0, 'succeeded']);
  });

  it('does not ask Athena if its request must be answered before the first question is due', async () => {
    const { athena, ms } = await watch({ ends: 'never' }, { waitUntil: START + 1_000 });
    expect([athena, ms]).toEqual([0, 1_000]);
  });

  it('treats an error of S3 as a result that does not exist yet', async () => {
    const change: Circumstances['change'] = (_, results) => results.before('head athena/', throttle);
    expect((await watch({ afterMs: 500 }, {}, { change })).execution?.state).toBe('succeeded');
  });

  it('counts the time that Athena has had the query from its submission', async () => {
    // Athena answered the start of this query 3 s late.
    expect((await watch({ ends: 'never' }, {}, { answerMs: 3_000 })).elapsedMs).toBeGreaterThanOrEqual(
      27_000,
    );
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
    const change: Circumstances['change'] = (queries) => {
      queries.onGet = throttle;
    };
    const { execution, ms, athena } = await watch({ ends: 'never' }, { longestQueryMs: 5_000 }, { change });
    expect([execution, ms]).toEqual([undefined, 25_000]);
    expect(athena).toBeLessThan(10);
  });
});
