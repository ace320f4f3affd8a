import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AwsCallFailed } from '../../../lib/aws/aws-call-failed.ts';
import type { DeliveryTerms } from '../../../lib/delivery/delivery.ts';
import type { Execution } from '../../../lib/delivery/execution.ts';
import { watchExecution } from '../../../lib/delivery/watch-execution.ts';
import { Unavailable } from '../../../lib/problems/problem.ts';
import { awsClock } from './aws-clock.ts';
import { memoryBucket } from './memory-bucket.ts';
import { FIGURES, memoryQueries, type Plan } from './memory-queries.ts';
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
type WatchTerms = Pick<DeliveryTerms, 'waitUntil' | 'giveUpAt' | 'longestQueryMs' | 'longestQueueMs'>;
const terms: WatchTerms = {
  waitUntil: START + 25_000,
  giveUpAt: START + 1_230_000,
  longestQueryMs: 600_000,
  longestQueueMs: 600_000,
};

interface Watched {
  /** The execution as the watch last saw it. */
  readonly execution?: Execution | undefined;
  readonly runningAt?: number | undefined;
  /** How often the watch called back because it saw the result. */
  readonly begins: number;
  /** What that callback returned. */
  readonly begun?: string | undefined;
  readonly error?: unknown;
  readonly ms: number;
  /** How many calls Athena got. */
  readonly athena: number;
  /** How many calls S3 got. */
  readonly s3: number;
}

interface Circumstances {
  /** How long Athena had had the query when this request took it over; absent if this request has started the query. */
  readonly takenOverAfterMs?: number;
  readonly runningBefore?: number;
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
  { takenOverAfterMs, runningBefore, answerMs = 0, change }: Circumstances = {},
): Promise<Watched> {
  const clock = awsClock();
  const results = memoryBucket(clock);
  const queries = memoryQueries(results, [plan], clock);
  const earlierMs = takenOverAfterMs ?? answerMs;
  vi.setSystemTime(START - earlierMs);
  const id = queries.startNow({ sql: 'SELECT 1', parameters: [] }, TOKEN);
  await vi.advanceTimersByTimeAsync(earlierMs);
  change?.(queries, results);
  let begins = 0;
  const watching = watchExecution(
    { queries, results },
    {
      id,
      elapsedMs: takenOverAfterMs ?? 0,
      runningAt: runningBefore,
      hasRun: runningBefore !== undefined,
      isTakenOver: takenOverAfterMs !== undefined,
    },
    { ...terms, ...more },
    () => {
      begins += 1;
      return 'begun';
    },
  );
  const ended = watching.then(
    (state) => ({ ...state, ms: Date.now() - START }),
    (error: unknown) => ({ error, ms: Date.now() - START }),
  );
  await settled(ended);
  const calls = { athena: queries.asked.get(id) ?? 0, s3: results.calls.length };
  // After the watch has ended, it makes at most one more call to S3.
  await vi.advanceTimersByTimeAsync(60_000);
  expect(results.calls.length - calls.s3).toBeLessThanOrEqual(1);
  return { ...(await ended), ...calls, begins };
}
const underWay = (more: { observedAt: number; submittedAt?: number; isQueued?: boolean }) => ({
  state: 'under-way',
  id: 'q1',
  submittedAt: START,
  isQueued: false,
  bytesScanned: FIGURES.bytesScanned,
  ...more,
});
/**
 * A limit is noticed up to two seconds late: Athena gives the time of its answer in whole seconds, and is seldom asked.
 */
const expectSoonAfter = (ms: number, limitMs: number) => {
  expect(ms).toBeGreaterThanOrEqual(limitMs);
  expect(ms).toBeLessThanOrEqual(limitMs + 2_000);
};
const throttle = () => {
  throw new Unavailable('busy', 30);
};
const eachDice = [0, 0.5, 0.999];

describe.each(eachDice)('watchExecution, with Math.random at %d,', (dice) => {
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

  it('asks Athena at most 13 times about a query of ten minutes', async () => {
    const { athena, execution } = await watch(
      { ends: 'failed', afterMs: 590_000 },
      { waitUntil: START + 700_000 },
    );
    expect(execution).toMatchObject({ state: 'failed' });
    expect(athena).toBeLessThanOrEqual(13);
  });
});

describe('watchExecution, looking for the result,', () => {
  it('calls back once, as soon as it sees the result and before it asks Athena', async () => {
    let askedBefore: number | undefined;
    const { begins, begun, execution } = await watch(
      { afterMs: 1_000 },
      {},
      {
        change: (queries, results) => {
          // The result appears before Athena reports the end.
          setTimeout(() => results.putResult('s3://results/athena/q1.csv', ''), 500);
          queries.onGet = () => {
            askedBefore ??= results.callsOf('head').length;
          };
        },
      },
    );
    expect([begins, begun]).toEqual([1, 'begun']);
    expect(askedBefore).toBeGreaterThan(0);
    expect(execution).toMatchObject({ state: 'succeeded' });
  });

  it('does not call back if the result has another location, which only Athena knows', async () => {
    const location = 's3://results/athena/q0.csv';
    const { begins, begun, execution } = await watch({ afterMs: 1_000, location });
    expect([begins, begun]).toEqual([0, undefined]);
    expect(execution).toMatchObject({ state: 'succeeded', location });
  });

  it('looks at once for the result of a query that it took over, and after 20 ms for the result of a new query', async () => {
    const ended = { ends: 'succeeded' } as const;
    expect(await watch(ended, {}, { takenOverAfterMs: 8_000 })).toMatchObject({ ms: 0, athena: 1, s3: 1 });
    expect((await watch(ended)).ms).toBe(20);
  });

  it('treats an error of S3 as a result that does not exist yet', async () => {
    const { execution } = await watch(
      { afterMs: 500 },
      {},
      { change: (_, results) => results.before('head athena/', throttle) },
    );
    expect(execution).toMatchObject({ state: 'succeeded' });
  });

  it('asks Athena again soon if the result has appeared and Athena does not report the end yet', async () => {
    const { ms, athena } = await watch(
      { afterMs: 1_000 },
      {},
      {
        change: (_, results) => {
          setTimeout(() => results.putResult('s3://results/athena/q1.csv', ''), 800);
        },
      },
    );
    expect(ms).toBeGreaterThanOrEqual(1_000);
    expect(ms).toBeLessThan(1_250);
    expect(athena).toBeGreaterThan(1);
    expect(athena).toBeLessThanOrEqual(6);
  });

  it('ends in time if the result has appeared and Athena never reports the end', async () => {
    const { execution, ms, athena } = await watch(
      { ends: 'never' },
      {},
      { change: (_, results) => results.putResult('s3://results/athena/q1.csv', '') },
    );
    expect(execution).toMatchObject({ state: 'under-way' });
    expect(ms).toBeGreaterThanOrEqual(25_000);
    expect(ms).toBeLessThan(25_010);
    expect(athena).toBeLessThan(14);
  });
});

describe('watchExecution, if there is no result,', () => {
  it('asks only S3, and not Athena, during the first 1.9 s of a query that its request has started', async () => {
    const { athena, s3, ms } = await watch({ ends: 'failed', afterMs: 0 });
    expect(athena).toBe(1);
    expect(ms).toBeGreaterThan(1_900);
    expect(s3).toBeGreaterThan(20);
  });

  it('learns of a failure, which leaves no result, by asking Athena', async () => {
    const { execution, ms } = await watch({ ends: 'failed', afterMs: 1_000 });
    expect(execution).toMatchObject({ state: 'failed' });
    expect(ms).toBeLessThan(4_100);
  });

  it('answers “under way” when the request must be answered', async () => {
    const { execution, ms } = await watch({ ends: 'never' });
    expect(execution).toEqual(underWay({ observedAt: expect.any(Number) as number }));
    expect(ms).toBe(25_000);
  });

  it('does not ask Athena when the request must be answered before the first question is due', async () => {
    const { athena, ms, execution } = await watch({ ends: 'never' }, { waitUntil: START + 1_000 });
    expect([athena, ms, execution]).toEqual([0, 1_000, undefined]);
  });

  it('asks Athena at least once about a query that it has taken over', async () => {
    const { athena, ms, execution } = await watch(
      { ends: 'never' },
      { waitUntil: START + 1_000 },
      { takenOverAfterMs: 30_000 },
    );
    expect([athena, ms]).toEqual([1, 1_000]);
    expect(execution).toMatchObject({ state: 'under-way' });
  });
});

describe('watchExecution, if the query takes too long,', () => {
  // In these tests, Athena is first asked after 3 s. From then on, the query is known to run.
  it.each<[string, Partial<WatchTerms>, number]>([
    ['has run for too long', { longestQueryMs: 5_000 }, 8_000],
    [
      'has had the longest times in the queue and running together',
      { longestQueryMs: 5_000, longestQueueMs: 1_000 },
      6_000,
    ],
    ['has a caller whose time is up', { giveUpAt: START + 5_000 }, 5_000],
  ])('asks Athena a last time about a query that %s', async (_, more, afterMs) => {
    const { execution, ms } = await watch({ ends: 'never' }, more);
    expect(execution).toEqual(underWay({ observedAt: expect.any(Number) as number }));
    expectSoonAfter(ms, afterMs);
  });

  it.each<[string, Partial<WatchTerms>, number]>([
    ['its longest time to run was over', { longestQueryMs: 5_000 }, 7_999],
    ['its caller’s time was up', { giveUpAt: START + 5_000 }, 4_999],
    [
      'its longest time to run was over, when the request had half a second left',
      { longestQueryMs: 5_000, waitUntil: START + 8_500 },
      7_999,
    ],
  ])('notices the end of a query that ended 1 ms before %s', async (_, more, afterMs) => {
    const { execution } = await watch({ ends: 'scan-limit-exceeded', afterMs }, more);
    expect(execution).toMatchObject({ state: 'scan-limit-exceeded' });
  });

  it('counts the time from the submission that Athena reports', async () => {
    // Athena answered the start of this query 3 s late.
    const { execution, ms } = await watch(
      { ends: 'never' },
      { longestQueryMs: 9_000, longestQueueMs: 1_000 },
      { answerMs: 3_000 },
    );
    expect(execution).toMatchObject({ submittedAt: START - 3_000 });
    expectSoonAfter(ms, 7_000);
  });

  it('counts the time that a query ran before it was taken over', async () => {
    const { ms, athena } = await watch(
      { ends: 'never' },
      { longestQueryMs: 5_000 },
      { takenOverAfterMs: 4_000, runningBefore: START - 4_000 },
    );
    expectSoonAfter(ms, 1_000);
    expect(athena).toBeLessThanOrEqual(2);
  });

  it.each([1, 500, 999])(
    'ends in time, with few calls to Athena, even if the query was submitted %d ms after a full second',
    async (afterMs) => {
      const [longestQueryMs, answerMs] = [10_000, 1_000 - afterMs];
      const limits = { longestQueryMs, longestQueueMs: 0 };
      const { ms, athena } = await watch({ ends: 'never' }, limits, { answerMs });
      expectSoonAfter(ms + answerMs, longestQueryMs);
      expect(athena).toBeLessThanOrEqual(5);
    },
  );
});

describe('watchExecution, if the query is in Athena’s queue,', () => {
  it('does not count the time in the queue as running time', async () => {
    const { execution, ms, runningAt } = await watch(
      { ends: 'never', queuedMs: 60_000 },
      { longestQueryMs: 30_000, waitUntil: START + 300_000 },
    );
    expect(execution).toMatchObject({ state: 'under-way', isQueued: false });
    // The query may run for 30 s after it was first seen running.
    expect(runningAt).toBeGreaterThan(START + 60_000);
    expect(runningAt).toBeLessThan(START + 150_000);
    expectSoonAfter(ms, (runningAt ?? 0) - START + 30_000);
  });

  it('ends the watch after the longest time in the queue', async () => {
    const { execution, ms } = await watch(
      { ends: 'never', queuedMs: 1e9 },
      { longestQueueMs: 20_000, longestQueryMs: 5_000 },
    );
    expect(execution).toMatchObject({ isQueued: true });
    expectSoonAfter(ms, 20_000);
  });

  it('counts the running time from the moment when another request first saw the query running', async () => {
    const { ms, runningAt } = await watch(
      { ends: 'never', queuedMs: 50_000 },
      { longestQueryMs: 20_000 },
      { takenOverAfterMs: 60_000, runningBefore: START - 12_000 },
    );
    expect(runningAt).toBe(START - 12_000);
    expectSoonAfter(ms, 8_000);
  });
});

describe('watchExecution, if Athena does not answer,', () => {
  it('goes on until Athena no longer throttles, since the query itself goes on', async () => {
    let calls = 0;
    const { execution } = await watch(
      { afterMs: 3_000 },
      {},
      {
        change: (queries) => {
          queries.onGet = () => {
            calls += 1;
            if (calls <= 2) throttle();
          };
        },
      },
    );
    expect(execution).toMatchObject({ state: 'succeeded' });
    expect(calls).toBe(3);
  });

  it.each<[string, Plan]>([
    ['the result appears', { afterMs: 3_000 }],
    ['the query runs on', { ends: 'never' }],
  ])('ends without an execution when Athena throttles every call: %s', async (_, plan) => {
    const { execution, ms, athena } = await watch(
      plan,
      {},
      {
        change: (queries) => {
          queries.onGet = throttle;
        },
      },
    );
    expect([execution, ms]).toEqual([undefined, 25_000]);
    expect(athena).toBeLessThan(14);
  });

  it('seldom asks Athena about a query that takes too long', async () => {
    const { athena } = await watch(
      { ends: 'never' },
      { longestQueryMs: 5_000 },
      {
        change: (queries) => {
          queries.onGet = throttle;
        },
      },
    );
    expect(athena).toBeLessThan(10);
  });

  it('throws any other failure of Athena', async () => {
    const boom = new AwsCallFailed('Athena GetQueryExecution', new Error('boom'));
    const { error } = await watch(
      { afterMs: 3_000 },
      {},
      {
        change: (queries) => {
          queries.onGet = () => {
            throw boom;
          };
        },
      },
    );
    expect(error).toBe(boom);
  });
});
