import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Unavailable } from '../../../lib/answers/problem.ts';
import { AwsCallFailed } from '../../../lib/aws/aws-call-failed.ts';
import { type WatchTerms, watchQuery } from '../../../lib/delivery/watch-query.ts';
import { memoryBucket } from './memory-bucket.ts';
import { memoryQueries, type Plan } from './memory-queries.ts';
import { START } from './setting.ts';
import { settled } from './settled.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
beforeEach(() => {
  vi.useFakeTimers({ now: START });
  return () => vi.useRealTimers();
});

const TOKEN = 't'.repeat(40);
const terms: WatchTerms = { waitUntil: START + 25_000, giveUpAt: START + 630_000, longestQueryMs: 600_000 };

/** Starts a query and watches it; resolves when the watching has ended. */
async function watch(
  plan: Plan,
  more: Partial<WatchTerms> = {},
  {
    isOurs = true,
    startedBeforeMs = 0,
    change = (_: ReturnType<typeof memoryQueries>, __: ReturnType<typeof memoryBucket>) => {},
  } = {},
) {
  const results = memoryBucket();
  const queries = memoryQueries(results, [plan]);
  const id = await queries.start({ sql: 'SELECT 1', parameters: [] }, TOKEN);
  change(queries, results);
  const watched = watchQuery(
    { queries, results },
    { id, startedAt: isOurs ? START - startedBeforeMs : undefined },
    { ...terms, ...more },
  );
  const ended = watched.then(
    (execution) => ({ execution, ms: Date.now() - START }),
    (error: unknown) => ({ error, ms: Date.now() - START }),
  );
  await settled(ended);
  const calls = { athena: queries.asked.get(id) ?? 0, s3: results.calls.length };
  // A request that has been answered must go on with nothing: one call may still be under way.
  await vi.advanceTimersByTimeAsync(60_000);
  expect(results.calls.length - calls.s3).toBeLessThanOrEqual(1);
  return { ...(await ended), ...calls };
}
const eachDice = [0, 0.5, 0.999];

describe.each(eachDice)('watchQuery, with Math.random at %d,', (dice) => {
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
    'notices the end of a query of %d ms within %d ms, by %d calls of Athena at most',
    async (afterMs, lostMs, most) => {
      const { execution, ms, athena } = (await watch({ afterMs })) as Extract<
        Awaited<ReturnType<typeof watch>>,
        { execution: unknown }
      >;
      expect(execution).toMatchObject({ state: 'succeeded', id: 'q1' });
      expect(ms).toBeGreaterThanOrEqual(afterMs);
      expect(ms).toBeLessThanOrEqual(afterMs + lostMs);
      expect(athena).toBeLessThanOrEqual(most);
      expect(athena).toBeGreaterThan(0);
    },
  );

  it('asks Athena at most 13 times about a query of ten minutes', async () => {
    const { athena, execution } = (await watch(
      { ends: 'failed', afterMs: 590_000 },
      { waitUntil: START + 700_000 },
    )) as Extract<Awaited<ReturnType<typeof watch>>, { execution: unknown }>;
    expect(execution.state).toBe('failed');
    expect(athena).toBeLessThanOrEqual(13);
  });
});

describe('watchQuery', () => {
  it('goes by Athena’s own time of submission, which is later than that of the call', async () => {
    // Shorter than the time until the first call, which is the first to tell Athena’s time.
    const longestQueryMs = 1_000;
    const { execution, ms } = (await watch(
      { ends: 'never' },
      { longestQueryMs },
      { startedBeforeMs: 300 },
    )) as Extract<Awaited<ReturnType<typeof watch>>, { execution: unknown }>;
    expect(execution).toEqual({ state: 'under-way', id: 'q1', submittedAt: START });
    expect(ms).toBe(longestQueryMs);
  });

  it('asks at once about a query that another request has started', async () => {
    const { ms, athena, s3 } = await watch({ ends: 'cut-off' }, {}, { isOurs: false });
    expect({ ms, athena, s3 }).toMatchObject({ athena: 1, s3: 0 });
    expect(ms).toBeLessThan(10);
  });

  it('does not ask before a result may be there where it has started the query itself', async () => {
    const { athena, s3, ms } = await watch({ ends: 'failed', afterMs: 0 });
    expect(athena).toBe(1);
    expect(ms).toBeGreaterThan(1_900);
    expect(s3).toBeGreaterThan(20);
  });

  it('learns of a failure, which leaves no result, by asking', async () => {
    const { execution, ms } = (await watch({ ends: 'failed', afterMs: 1_000 })) as {
      execution: object;
      ms: number;
    };
    expect(execution).toMatchObject({ state: 'failed' });
    expect(ms).toBeLessThan(4_100);
  });

  it('answers “under way” when the request must be answered', async () => {
    const { execution, ms } = (await watch({ ends: 'never' })) as { execution: object; ms: number };
    expect(execution).toEqual({ state: 'under-way', id: 'q1', submittedAt: START });
    expect(ms).toBeGreaterThanOrEqual(25_000);
    expect(ms).toBeLessThan(25_010);
  });

  it('does not ask where the request must be answered before the first time to ask', async () => {
    const { athena, ms } = await watch({ ends: 'never' }, { waitUntil: START + 1_000 });
    expect(athena).toBe(0);
    expect(ms).toBeLessThan(1_010);
  });

  it.each([
    ['has taken too long', { longestQueryMs: 5_000 }],
    ["is beyond its caller's patience", { giveUpAt: START + 5_000 }],
  ])('asks a last time about a query that %s', async (_, more) => {
    const { execution, ms } = (await watch({ ends: 'never' }, more)) as { execution: object; ms: number };
    expect(execution).toMatchObject({ state: 'under-way' });
    expect(ms).toBeGreaterThanOrEqual(5_000);
    expect(ms).toBeLessThan(5_010);
  });

  it.each([
    ['has taken too long', { longestQueryMs: 5_000 }],
    ["is beyond its caller's patience", { giveUpAt: START + 5_000 }],
    [
      'has taken too long, as the request must be answered',
      { longestQueryMs: 5_000, waitUntil: START + 5_000 },
    ],
  ])('notices an end just before a query %s', async (_, more) => {
    const { execution } = (await watch({ ends: 'cut-off', afterMs: 4_999 }, more)) as { execution: object };
    expect(execution).toMatchObject({ state: 'cut-off' });
  });

  it('counts the longest time from the start of a query that another request has started', async () => {
    const { ms, athena } = await watch(
      { ends: 'never', endedAgoMs: 4_000 },
      { longestQueryMs: 5_000 },
      { isOurs: false },
    );
    expect(ms).toBeGreaterThanOrEqual(1_000);
    expect(ms).toBeLessThan(1_010);
    expect(athena).toBe(2);
  });

  it('goes on where Athena throttles, which says nothing about the query', async () => {
    let throttled = 0;
    const { execution } = (await watch(
      { afterMs: 3_000 },
      {},
      {
        change: (queries) => {
          queries.onGet = () => {
            throttled += 1;
            if (throttled <= 2) throw new Unavailable('busy', 30);
          };
        },
      },
    )) as { execution: object };
    expect(execution).toMatchObject({ state: 'succeeded' });
    expect(throttled).toBe(3);
  });

  it('answers “under way” where Athena throttles to the end', async () => {
    const { execution, ms } = (await watch(
      { afterMs: 3_000 },
      {},
      {
        change: (queries) => {
          queries.onGet = () => {
            throw new Unavailable('busy', 30);
          };
        },
      },
    )) as { execution: object; ms: number };
    expect(execution).toMatchObject({ state: 'under-way' });
    expect(ms).toBeGreaterThanOrEqual(25_000);
    expect(ms).toBeLessThan(26_000);
  });

  it('throws what else goes wrong with Athena', async () => {
    const boom = new AwsCallFailed('Athena GetQueryExecution', new Error('boom'));
    const { error } = (await watch(
      { afterMs: 3_000 },
      {},
      {
        change: (queries) => {
          queries.onGet = () => {
            throw boom;
          };
        },
      },
    )) as { error: unknown };
    expect(error).toBe(boom);
  });

  it('takes an error of S3 for a result that is not there yet', async () => {
    const { execution } = (await watch(
      { afterMs: 500 },
      {},
      {
        change: (_, results) => {
          results.before('head athena/', () => {
            throw new Unavailable('busy', 30);
          });
        },
      },
    )) as { execution: object };
    expect(execution).toMatchObject({ state: 'succeeded' });
  });

  it('asks again soon where the result has appeared and Athena does not show its end yet', async () => {
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

  it('answers in time where the result has appeared and Athena never shows its end', async () => {
    const { execution, ms, athena } = (await watch(
      { ends: 'never' },
      {},
      {
        change: (_, results) => results.putResult('s3://results/athena/q1.csv', ''),
      },
    )) as { execution: object; ms: number; athena: number };
    expect(execution).toMatchObject({ state: 'under-way' });
    expect(ms).toBeGreaterThanOrEqual(25_000);
    expect(ms).toBeLessThan(25_010);
    expect(athena).toBeLessThan(14);
  });
});
