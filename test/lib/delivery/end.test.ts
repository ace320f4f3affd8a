import { describe, expect, it, vi } from 'vitest';
import type { Target } from '../../../lib/delivery/delivery.ts';
import { type EarlyReads, endOf } from '../../../lib/delivery/end.ts';
import type { EndedExecution, FailedExecution, RunningExecution } from '../../../lib/delivery/execution.ts';
import type { RecordIn } from '../../../lib/results/job-record.ts';
import { CSV, ENGINE_CSV, LARGE, type Setting, START, setting, UUID, underWayRecord } from './setting.ts';
import { settled, useFakeTime } from './settled.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
vi.mock('../../../lib/results/gzipped.ts', () => import('./gzipped-at-once.ts'));
useFakeTime();

const location = 's3://results/athena/q1.csv';
const figures = { submittedAt: START - 100, completedAt: START, bytesScanned: 1_000, engineMs: 7 };
const ended = { id: 'q1', observedAt: START, ...figures };
const succeeded: EndedExecution = { state: 'succeeded', ...ended, location };
const overLimit: EndedExecution = { state: 'scan-limit-exceeded', ...ended };
const failed: FailedExecution = { state: 'failed', ...ended, reason: 'FAILED: x', isRetryable: false };
const retryable: FailedExecution = { ...failed, isRetryable: true };
const cancelled: FailedExecution = { ...failed, isCancelled: true };
const hung: RunningExecution = {
  state: 'under-way',
  id: 'q1',
  submittedAt: START - 700_000,
  observedAt: START,
  isQueued: false,
  bytesScanned: 1_000,
};
const nothing = { bytesScanned: 0, engineMs: 0 };
type Given = Parameters<typeof endOf>[3];

interface Circumstances {
  /** The request's target; if absent, the lake's state before `change`. */
  readonly target?: Target;
  readonly record?: Partial<RecordIn<'under-way'>>;
  readonly early?: EarlyReads;
  /** What happens after the listing for the attempt. */
  readonly change?: (of: Setting) => unknown;
  readonly terms?: Parameters<Setting['run']>[0];
}

/** Ends an attempt that was started for the lake as `of` shows it, and whose result is there. */
async function end(
  of: Setting,
  execution: Given,
  { target, record, early, change, terms }: Circumstances = {},
) {
  const first = await of.target();
  const open = underWayRecord({ fingerprint: first.data.fingerprint, slot: 's', elapsedMs: 9, ...record });
  of.results.putResult(location, ENGINE_CSV);
  change?.(of);
  return settled(endOf(of.run(terms), target ?? first, open, execution, early, Date.now()));
}

const recordOf = async (...given: Parameters<typeof end>) => {
  const made = await end(...given);
  return made === 'late' ? made : made.record;
};
const writeAgain = ({ lake }: Setting) => lake.writeAgain();
const unlist = ({ lake }: Setting) => {
  lake.objects = undefined;
};
const listSlowly = ({ lake }: Setting) => {
  const { list } = lake;
  lake.list = async (...given) => {
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    return list.apply(lake, given);
  };
};

describe.each([succeeded, overLimit])(
  'an end is of the version if the closing listing equals that of the record: $state',
  (execution) => {
    const seenAfter = (ms: number) => ({ ...execution, observedAt: START + ms });
    /** The target of a request that listed the lake after the files were written again. */
    const later = async (of: Setting) => {
      const { objects } = of.lake;
      of.lake.writeAgain();
      const target = await of.target();
      of.lake.objects = objects;
      return target;
    };

    // Who ends the attempt may have taken it over, and may have seen another listing than the one that began it.
    it.each<[string, boolean, boolean, boolean]>([
      ['the same listing, unchanged', false, false, true],
      ['another listing, unchanged since the attempt began', true, false, true],
      ['another listing, which is also the closing one', true, true, false],
      ['the same listing, changed since the attempt began', false, true, false],
    ])('by a request that saw %s', async (_, sawLater, isChanged, isOfVersion) => {
      const of = setting();
      const target = sawLater ? await later(of) : await of.target();
      const change = isChanged ? writeAgain : undefined;
      expect(await recordOf(of, execution, { target, ...(change && { change }) })).toMatchObject({
        isOfVersion,
      });
    });

    it.each<[string, boolean, EndedExecution, Circumstances]>([
      ['a listing less than ten seconds after the end', true, seenAfter(9_999), {}],
      ['a listing ten seconds after the end', false, seenAfter(10_000), {}],
      ['a new file', false, execution, { change: ({ lake }) => lake.add('2026-01-01', 'b.parquet') }],
      ['a lake that can’t be listed at the end', false, execution, { change: unlist }],
    ])('after %s: %s', async (_, isOfVersion, seen, more) => {
      expect(await recordOf(setting(), seen, more)).toMatchObject({ isOfVersion });
    });

    it('not for a request that could not list the lake', async () => {
      const of = setting();
      const { objects } = of.lake;
      unlist(of);
      const target = await of.target();
      of.lake.objects = objects;
      const { fingerprint } = target.data;
      const ofIt = await recordOf(of, execution, { target, record: { fingerprint } });
      expect(ofIt).toMatchObject({ isOfVersion: false });
      expect(of.lake.looks).toHaveLength(2);
    });
  },
);

describe('the closing listing that was begun when the result was seen', () => {
  const seen = async (of: Setting, place: string): Promise<EarlyReads> => ({
    location: place,
    result: of.results.readResult(location, LARGE),
    closing: of.target().then(({ data }) => data),
  });

  it.each([
    [location, true, 1],
    ['s3://results/athena/q0.csv', false, 2],
  ])(
    'counts for the result that was seen, not for one that Athena reuses: %s',
    async (place, isOfVersion, reads) => {
      const of = setting();
      of.results.putResult(location, ENGINE_CSV);
      const early = await seen(of, place);
      expect(await recordOf(of, succeeded, { early, change: writeAgain })).toMatchObject({ isOfVersion });
      expect(of.results.callsOf('readResult')).toHaveLength(reads);
    },
  );

  it('is of no use if the result could not be read: the request fails', async () => {
    const early = { ...(await seen(setting(), location)), result: Promise.reject(new Error('boom')) };
    await expect(end(setting(), succeeded, { early })).rejects.toThrow('boom');
  });
});

describe('the record of an ended attempt', () => {
  const every = {
    form: 2,
    writer: expect.stringMatching(UUID),
    attempt: 'attempt-1',
    attempts: 3,
    isRetry: true,
    follows: 'w',
    fingerprint: expect.any(String),
    slot: 's',
    executionId: 'q1',
    ...figures,
  };
  const result = (text: string, bytes?: number) => ({
    change: ({ results }: Setting) => results.putResult(location, text, bytes),
  });
  const gone = { change: ({ results }: Setting) => results.objects.clear() };
  const seenAfter = (ms: number) => ({ observedAt: START + ms });
  const isStopped = { record: { isStopped: true } };
  const ranSince = { record: { runningAt: START - 600_000 } };
  const known = { attempts: 3, isRetry: true, follows: 'w', hasRun: true };
  const made = async (execution: Given, more: Circumstances) => {
    const outcome = await end(setting(), execution, { ...more, record: { ...known, ...more.record } });
    if (outcome === 'late') throw new Error(outcome);
    return outcome;
  };

  it.each<[string, Circumstances, object]>([
    [
      'a small result',
      {},
      { state: 'done', files: { plain: CSV.length, gzip: expect.any(Number) }, rows: 1 },
    ],
    ['a large result', result(ENGINE_CSV, LARGE), { state: 'publishing', files: {}, location }],
  ])('is that of a success: %s', async (_, more, record) => {
    const { counted, ...end } = await made(succeeded, more);
    expect([end.record, counted]).toEqual([{ ...every, isOfVersion: true, ...record }, succeeded]);
  });

  const hungFor = (ms: number) => ({ engineMs: ms, submittedAt: hung.submittedAt });
  // How Athena's answer looks; the circumstances; the failure; what else the record says.
  it.each<[string, Given, Circumstances, string, object?]>([
    ['not Athena’s CSV', succeeded, result('x'), 'unreadable', { reason: expect.stringContaining('CSV') }],
    ['no result', { ...succeeded, ...seenAfter(30_000) }, gone, 'lost', { seenAfterMs: 30_000 }],
    [
      'forgotten',
      { state: 'forgotten', id: 'q1' },
      {},
      'lost',
      { submittedAt: 0, completedAt: 0, ...nothing },
    ],
    ['failed', failed, {}, 'engine', { reason: 'FAILED: x' }],
    ['retryable', retryable, {}, 'retryable'],
    [
      'seen late',
      { ...failed, ...seenAfter(4_000) },
      { change: listSlowly },
      'engine',
      { seenAfterMs: 9_000 },
    ],
    ['failed while files changed', retryable, { change: writeAgain }, 'data-changed'],
    ['failed when the lake can’t be listed any more', failed, { change: unlist }, 'data-changed'],
    ['cancelled', cancelled, {}, 'engine'],
    ['cancelled, marked as stopped', cancelled, isStopped, 'too-long'],
    ['cancelled at its limit', { ...cancelled, engineMs: 600_000 }, {}, 'too-long', { engineMs: 600_000 }],
    ['cancelled at its limit, as seen by a request', cancelled, ranSince, 'too-long'],
    [
      'failed at its limit, marked as stopped',
      failed,
      { record: { ...isStopped.record, ...ranSince.record } },
      'engine',
    ],
    ['stopped while files changed', cancelled, { ...isStopped, change: writeAgain }, 'data-changed'],
    [
      'stopped now',
      hung,
      ranSince,
      'too-long',
      { ...hungFor(600_000), reason: 'took too long and was stopped' },
    ],
    ['stopped now, in the queue', hung, {}, 'too-long', hungFor(0)],
    ['above the scan limit', overLimit, {}, 'too-large', { isOfVersion: true, limit: 10 }],
    [
      'above an unknown limit',
      overLimit,
      { terms: { scanLimit: undefined } },
      'too-large',
      { isOfVersion: true },
    ],
    // Today's limit may be another one.
    [
      'above the limit long ago',
      { ...overLimit, ...seenAfter(10_000) },
      {},
      'too-large',
      { seenAfterMs: 10_000 },
    ],
  ])('is that of a failure: %s', async (_, execution, more, why, others) => {
    const { record, counted } = await made(execution, more);
    const failure = { state: 'failed', isOfVersion: false, why, reason: expect.any(String), seenAfterMs: 0 };
    expect(record).toEqual({ ...every, ...failure, ...others });
    const isFailed = why === 'unreadable' || execution.state === 'under-way';
    const state = execution.state === 'forgotten' ? undefined : isFailed ? 'failed' : execution.state;
    expect(counted?.state).toBe(state);
  });

  it('may be good for callers with the same listing, as long as the stage reuses this listing', async () => {
    const good = async (
      listingMs: number,
      more: (target: Target) => Partial<Target['data']> = () => ({}),
    ) => {
      const of = setting();
      const { job, data } = await of.target();
      const target = { job, data: { ...data, listedAt: START - 20, ...more({ job, data }) } };
      const record = await recordOf(of, succeeded, { target, terms: { listingMs } });
      return (record as RecordIn<'done'>).goodForMs;
    };
    expect(await good(60_000)).toBe(59_980);
    expect(await good(20)).toBeUndefined();
    expect(await good(60_000, () => ({ fingerprint: 'f2' }))).toBeUndefined();
    // This machine's clock was set back.
    expect(await good(60_000, () => ({ listedAt: START + 1 }))).toBeUndefined();
  });
});

describe('a result that appears after the end of its query', () => {
  const appears = (afterMs: number, more: Circumstances = {}): Circumstances => ({
    change: ({ results }: Setting) => {
      results.objects.clear();
      setTimeout(() => results.putResult(location, ENGINE_CSV), afterMs);
    },
    ...more,
  });
  const until = (waitMs: number, giveUpMs: number) => ({
    terms: { waitUntil: START + waitMs, giveUpAt: START + giveUpMs },
  });
  const none = { location, result: Promise.resolve(undefined), closing: Promise.resolve(undefined) };

  it.each<[string, Circumstances, string, number]>([
    ['is waited for', appears(3_000), 'done', 3_000],
    ['is waited for until 30 s after the end', appears(90_000, until(60_000, 60_000)), 'failed', 30_000],
    ['is left to the next request', appears(6_000, until(5_000, 60_000)), 'late', 5_000],
    ['is left to the next request of others', appears(6_000, until(60_000, 5_000)), 'late', 5_000],
    ['is looked for again if the early look missed it', appears(1, { early: none }), 'done', 250],
  ])('%s', async (_, more, outcome, afterMs) => {
    const record = await recordOf(setting(), succeeded, more);
    expect([record === 'late' ? record : record.state, Date.now() - START]).toEqual([outcome, afterMs]);
  });
});
