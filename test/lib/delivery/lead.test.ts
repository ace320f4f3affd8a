import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { DeliveryTerms } from '../../../lib/delivery/delivery.ts';
import { limitLeftMs, type RunningExecution } from '../../../lib/delivery/execution.ts';
import { watchExecution } from '../../../lib/delivery/lead.ts';
import * as pace from '../../../lib/delivery/pace.ts';
import { Unavailable } from '../../../lib/problems/problem.ts';
import type { RecordIn } from '../../../lib/results/job-record.ts';
import type { Plan } from './memory-queries.ts';
import { type Setting, START, setting, termsNow, underWayRecord } from './setting.ts';
import { settled, useFakeTime } from './settled.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
useFakeTime();

const dice = (number: number) => () => {
  const random = vi.spyOn(Math, 'random').mockReturnValue(number);
  return () => random.mockRestore();
};
beforeEach(dice(0.5));

interface Circumstances {
  readonly terms?: Partial<DeliveryTerms>;
  /** How long Athena took to answer the start of the query. */
  readonly answerMs?: number;
  readonly watched?: Partial<RecordIn<'under-way'>>;
  readonly isTakenOver?: boolean;
  readonly change?: (of: Setting) => unknown;
}

/** Starts a query and watches it from START on; resolves when the watch has ended. */
async function watch(
  plan: Plan,
  { terms, answerMs = 0, watched, isTakenOver = false, change }: Circumstances = {},
) {
  const of = setting(plan);
  vi.setSystemTime(START - answerMs);
  const id = of.queries.startNow({ sql: 'SELECT 1', parameters: [] }, 't'.repeat(40));
  await vi.advanceTimersByTimeAsync(answerMs);
  change?.(of);
  const onResult = vi.fn();
  const get = vi.spyOn(of.queries, 'get');
  const record = underWayRecord({ executionId: id, ...watched });
  const state = await settled(
    watchExecution({ backends: of.backends, terms: termsNow(terms) }, record, isTakenOver, onResult),
  );
  const ended = { ...state, ms: Date.now() - START, athena: get.mock.calls.length };
  const looks = of.results.calls.length;
  // After the watch has ended, it makes at most one more call to S3.
  await vi.advanceTimersByTimeAsync(60_000);
  expect(of.results.calls.length - looks).toBeLessThanOrEqual(1);
  return { ...ended, looks, calledBack: onResult.mock.calls.length };
}

const never: Plan = { ends: 'never' };
const failing = (error: Error) => (of: Setting) => vi.spyOn(of.queries, 'get').mockRejectedValue(error);
const busy = new Unavailable('busy', 30);

describe.each([0, 0.5, 0.999])('watchExecution, with Math.random at %d,', (number) => {
  beforeEach(dice(number));

  it.each([
    [300, 30, 1],
    [2_000, 130, 2],
    [8_000, 400, 3],
    [24_000, 1_100, 5],
  ])('sees the end of a query of %d ms within %d ms, by %d questions', async (afterMs, lostMs, most) => {
    const { execution, ms, athena } = await watch({ afterMs });
    expect(execution).toMatchObject({ state: 'succeeded', id: 'q1' });
    expect([ms >= afterMs, ms <= afterMs + lostMs, athena > 0, athena <= most]).not.toContain(false);
  });
});

describe('watchExecution', () => {
  it('calls back once when it sees the result, and asks Athena again soon until Athena reports the end', async () => {
    const appears = ({ results }: Setting) => results.putResult('s3://results/athena/q1.csv', '');
    const change = (of: Setting) => void setTimeout(() => appears(of), 500);
    const { calledBack, ms, athena } = await watch({ afterMs: 1_000 }, { change });
    expect([calledBack, ms < 1_500, athena > 1, athena <= 7]).toEqual([1, true, true, true]);
  });

  it('does not call back if the result has another location, which only Athena knows', async () => {
    const { calledBack, execution } = await watch({ afterMs: 1_000, location: 's3://results/athena/q0.csv' });
    expect([calledBack, execution?.state]).toEqual([0, 'succeeded']);
  });

  // A request that asks once more as it ends would move failures into first requests.
  it.each<[string, Partial<DeliveryTerms>, boolean, number, number]>([
    ['at the end of a request that started it: no', { waitUntil: START + 1_000 }, false, 0, 1_000],
    ['at the end of its caller’s time: once', { giveUpAt: START + 1_000 }, false, 1, 1_000],
    ['after a take-over: once', { waitUntil: START + 1_900 }, true, 1, 1_900],
    ['after a take-over without time: not at all', { waitUntil: START }, true, 0, 1],
  ])('asks Athena about a query that does not end, %s', async (_, terms, isTakenOver, times, endsMs) => {
    const { athena, ms } = await watch(never, { terms, isTakenOver });
    expect([athena, ms]).toEqual([times, endsMs]);
  });

  it.each<[string, Plan, boolean, number, number, number]>([
    ['at once if it has taken the query over', {}, true, 60_000, 1, 1],
    ['about once a second if the query is old', never, false, 300_000, 24, 25_000],
  ])('looks for the result %s', async (_, plan, isTakenOver, elapsedMs, times, endMs) => {
    const { looks, ms } = await watch(plan, { watched: { elapsedMs }, isTakenOver });
    expect([looks, Math.max(ms, 1)]).toEqual([times, endMs]);
  });

  it('treats an error of S3 as a result that does not exist yet, and throws an error of Athena', async () => {
    const change = ({ results }: Setting) => vi.spyOn(results, 'head').mockRejectedValueOnce(busy);
    expect((await watch({ afterMs: 500 }, { change })).execution?.state).toBe('succeeded');
    await expect(watch(never, { change: failing(new Error('boom')) })).rejects.toThrow('boom');
  });

  it('counts the time that Athena has had the query from its submission', async () => {
    // Athena answered the start of this query 3 s late.
    expect((await watch(never, { answerMs: 3_000 })).record.elapsedMs).toBeGreaterThanOrEqual(27_000);
  });

  const queued: Plan = { ends: 'never', queuedMs: 60_000 };
  const ran = { runningAt: START - 1, hasRun: true };
  it.each<[string, Plan, Partial<RecordIn<'under-way'>>, object]>([
    ['queued', queued, {}, { runningAt: undefined, hasRun: undefined }],
    ['seen running before', never, ran, ran],
    ['queued again', queued, ran, { runningAt: undefined, hasRun: true }],
  ])('tells since when the query has run: %s', async (_, plan, watched, seen) => {
    expect((await watch(plan, { watched })).record).toMatchObject(seen);
  });

  // Athena gives the time of its answer in whole seconds, and is seldom asked: the limit is noticed late.
  it.each([1, 999])('asks seldom at the limit of a query that is %d ms older', async (afterMs) => {
    const terms = { longestQueryMs: 6_000, longestQueueMs: 0 };
    const { ms, athena } = await watch(never, { terms, answerMs: 1_000 - afterMs });
    expect([ms <= 8_000, athena <= 5]).toEqual([true, true]);
  });

  it('goes on, and seldom asks, while Athena throttles the questions about a query that takes too long', async () => {
    const terms = { longestQueryMs: 5_000 };
    const { execution, ms, athena } = await watch(never, { terms, change: failing(busy) });
    expect([execution, ms, athena < 10]).toEqual([undefined, 25_000, true]);
  });
});

describe('the pause before a request asks Athena', () => {
  it('is 2 to 4 seconds at first, and doubles with each question once the result has appeared', () => {
    expect([pace.nextAskMs(0, 0), pace.nextAskMs(0, 1)].map(Math.round)).toEqual([1_950, 4_050]);
    expect([0, 1, 2, 3].map(pace.askAgainMs)).toEqual([25, 50, 100, 200]);
  });
});

describe('the pause before a request asks S3', () => {
  it.each<[string, (ms: number) => number, number[], number[]]>([
    ['result', (ms) => pace.nextResultLookMs(ms, 0), [0, 800, 2_000, 10_000, 6e4], [20, 36, 50, 190, 1_000]],
    ['large file', pace.nextFileLookMs, [0, 5_000, 60_000], [200, 500, 2_000]],
    ['record', (ms) => pace.nextRecordLookMs(ms, 0, 1), [0, 10_000, 60_000], [198, 556, 2_200]],
  ])('for a %s grows with the time that has passed', (_, pauseMs, times, pauses) => {
    expect(times.map((ms) => Math.round(pauseMs(ms)))).toEqual(pauses);
  });

  it('is longer when S3 is slow: twice as long as the last look for a result, five times for a record', () => {
    expect(pace.nextResultLookMs(2_000, 300)).toBe(600);
    expect(pace.nextRecordLookMs(2_000, 300, 0.5)).toBe(1_500);
  });

  it('for a slot shrinks from about two seconds to half a second as the caller’s time runs out', () => {
    expect([0, 0.5, 1].map((random) => pace.nextSlotLookMs(1_200_000, random))).toEqual([
      1_500, 2_000, 2_500,
    ]);
    expect([300_000, 1].map((leftMs) => pace.nextSlotLookMs(leftMs, 0.5))).toEqual([1_000, 500]);
  });
});

const [RUN, QUEUE] = [10_000, 4_000];
const limits = { longestQueryMs: RUN, longestQueueMs: QUEUE };

const running = (ageMs: number, isQueued = false): RunningExecution => {
  const times = { submittedAt: START - ageMs, observedAt: START };
  return { state: 'under-way', id: 'q1', ...times, isQueued, bytesScanned: 1 };
};

it.each<[string, RunningExecution, number | undefined, boolean, number]>([
  ['queued', running(1_000, true), undefined, false, QUEUE - 1_000],
  ['first seen running now', running(1_000), undefined, true, RUN],
  ['first seen running earlier', running(1_000), START - 300, true, RUN - 300],
  ['running after a long queue: both together', running(QUEUE + 500), START, true, RUN - 500],
  ['queued again: both together', running(QUEUE + 500, true), undefined, true, RUN - 500],
])('the time left for a query is the limit minus what is over: %s', (_, query, runningAt, hasRun, leftMs) => {
  expect(limitLeftMs(query, limits, { runningAt, hasRun })).toBe(leftMs);
});
