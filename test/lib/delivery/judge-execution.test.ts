import { describe, expect, it } from 'vitest';
import type {
  Execution,
  FailedExecution,
  RunningExecution,
  ScanLimitExceeded,
} from '../../../lib/delivery/execution.ts';
import { type ExecutionFacts, judgeExecution, limitLeftMs } from '../../../lib/delivery/judge-execution.ts';

const NOW = 1_700_000_000_000;
const [RUN, QUEUE] = [10_000, 4_000];
const figures = {
  id: 'q1',
  submittedAt: NOW - 100,
  completedAt: NOW,
  observedAt: NOW,
  bytesScanned: 1,
  engineMs: 1,
};
const final: FailedExecution = { state: 'failed', ...figures, reason: 'FAILED: x', isRetryable: false };
const retryable: FailedExecution = { ...final, isRetryable: true };
const ranFor = (ms: number): FailedExecution => ({
  ...final,
  isCancelled: true,
  submittedAt: NOW - ms,
  engineMs: ms,
});
const queuedFor = (ms: number): FailedExecution => ({ ...ranFor(ms), engineMs: 0 });
const overLimit: ScanLimitExceeded = { state: 'scan-limit-exceeded', ...figures };
const succeeded: Execution = { state: 'succeeded', ...figures, location: 's3://results/athena/q1.csv' };
const forgotten: Execution = { state: 'forgotten', id: 'q1' };
const running = (ageMs: number, isQueued = false): RunningExecution => ({
  state: 'under-way',
  id: 'q1',
  submittedAt: NOW - ageMs,
  observedAt: NOW,
  isQueued,
  bytesScanned: 1,
});

const facts: ExecutionFacts = {
  longestQueryMs: RUN,
  longestQueueMs: QUEUE,
  runningAt: undefined,
  hasRun: false,
  callerLeftMs: 9_000,
  callerWaitedMs: 5_000,
  isForThisCaller: true,
  isRetry: false,
  isDataChanged: false,
};
/** The facts if the execution was first seen running this long ago. */
const ranSince = (ms: number) => ({ runningAt: NOW - ms });
const changed = { isDataChanged: true };
const retry = { isRetry: true };
const timeUp = { callerLeftMs: 0 };
/** The facts if the caller joined another caller's attempt, and first asked this long ago. */
const joined = (callerWaitedMs: number) => ({ isForThisCaller: false, callerWaitedMs });

const refuse = (execution: Execution) => ({ next: 'refuse', execution });
const deliver = (execution: Execution) => ({ next: 'deliver', execution });
const changes = (execution: Execution) => ({ next: 'data-changed', execution });
const wait = { next: 'wait' };

describe('judgeExecution, if the execution has ended,', () => {
  it.each<[string, Execution, Partial<ExecutionFacts>, object]>([
    ['forgotten', forgotten, {}, { next: 'start-next' }],
    ['forgotten, when its caller has no time left', forgotten, timeUp, { next: 'start-next' }],
    ['succeeded', succeeded, {}, deliver(succeeded)],
    ['succeeded after its caller gave up', succeeded, timeUp, deliver(succeeded)],
    ['succeeded long before its caller came', succeeded, joined(-1e9), deliver(succeeded)],
    ['succeeded while files changed', succeeded, changed, deliver(succeeded)],
    ['above the scan limit', overLimit, {}, refuse(overLimit)],
    ['above the scan limit, when its caller has no time left', overLimit, timeUp, refuse(overLimit)],
    ['above the scan limit while files changed', overLimit, changed, refuse(overLimit)],
    ['above the scan limit on its retry', overLimit, retry, refuse(overLimit)],
    ['above the scan limit before its caller came', overLimit, joined(500), refuse(overLimit)],
    ['failed, not retryable', final, {}, refuse(final)],
    ['failed, not retryable, when its caller has no time left', final, timeUp, refuse(final)],
    ['failed, not retryable, on its retry', final, retry, refuse(final)],
    ['failed, retryable', retryable, {}, { next: 'start-next', isRetry: true, execution: retryable }],
    ['failed, retryable, on its retry', retryable, retry, refuse(retryable)],
    [
      'failed for the engine’s own reasons after more than the longest time to run',
      { ...ranFor(2 * RUN), isCancelled: false },
      {},
      refuse({ ...ranFor(2 * RUN), isCancelled: false }),
    ],
    ['failed while files changed', final, changed, changes(final)],
    ['failed, retryable, while files changed', retryable, changed, changes(retryable)],
    ['failed on its retry while files changed', retryable, { ...retry, ...changed }, changes(retryable)],
  ])('judges this execution: %s', (_, execution, more, verdict) => {
    expect(judgeExecution(execution, { ...facts, ...more })).toEqual(verdict);
  });

  // Athena gives the time of its answer in whole seconds, rounded down: the code adds a second.
  it.each<[string, number, Partial<ExecutionFacts>, string]>([
    ['before its caller came', 5_000, joined(5_999), 'start-next'],
    ['at the moment that its caller came, or after it', 5_000, joined(6_000), 'refuse'],
    ['before its caller came, while files changed', 5_000, { ...joined(5_999), ...changed }, 'start-next'],
    ['long ago, in an attempt that was created for this caller', 3_600_000, { callerWaitedMs: 1 }, 'refuse'],
  ])('judges an execution that failed %s', (_, agoMs, more, next) => {
    const execution = { ...final, completedAt: NOW - agoMs, submittedAt: NOW - agoMs - 10 };
    expect(judgeExecution(execution, { ...facts, ...more })).toEqual({ next, execution });
  });

  it('starts the next attempt as a first one, not as a retry, for a caller who came after a retryable failure', () => {
    expect(judgeExecution(retryable, { ...facts, ...joined(0) })).toEqual({
      next: 'start-next',
      execution: retryable,
    });
  });

  // A caller with time for the longest queue and half the longest run, 9 s here, gets another attempt.
  it.each<[string, FailedExecution, Partial<ExecutionFacts>, string]>([
    ['after the longest time to run, with time left for another attempt', ranFor(RUN), {}, 'start-next'],
    [
      'after the longest time to run, without time left for another attempt',
      ranFor(RUN),
      { callerLeftMs: 8_999 },
      'took-too-long',
    ],
    ['after 95 % of the longest time to run', ranFor(9_500), {}, 'start-next'],
    ['after less than 95 % of the longest time to run', ranFor(9_499), {}, 'refuse'],
    ['by a request that had marked it as stopped', ranFor(1), { isStopped: true }, 'start-next'],
    ['while files changed', ranFor(RUN), changed, 'data-changed'],
    ['after its longest time in the queue', queuedFor(QUEUE), {}, 'start-next'],
    ['after 95 % of the longest time in the queue', queuedFor(3_800), timeUp, 'took-too-long'],
    ['after less than 95 % of the longest time in the queue', queuedFor(3_799), {}, 'refuse'],
    [
      'after the longest time to run, counted from the end of the queue',
      ranFor(20_000),
      { runningAt: NOW - RUN },
      'start-next',
    ],
    [
      'long after it was submitted, but after less than 95 % of the longest time to run',
      ranFor(13_000),
      { runningAt: NOW - 9_499 },
      'refuse',
    ],
    // Nobody has seen this execution run: only Athena knows how long it ran.
    [
      'soon after a long time in the queue, never seen running',
      { ...ranFor(12_000), engineMs: 50 },
      {},
      'refuse',
    ],
    [
      'after 95 % of the longest times in the queue and running together',
      ranFor(13_300),
      { runningAt: NOW - 5_000 },
      'start-next',
    ],
  ])('judges an execution that was cancelled %s', (_, execution, more, next) => {
    const verdict = { next, execution, ...(next === 'start-next' && { cause: 'took-too-long' }) };
    expect(judgeExecution(execution, { ...facts, ...more })).toEqual(verdict);
  });
});

describe('judgeExecution, if the execution has not ended,', () => {
  const stop = (execution: Execution, hasTimeForAnother: boolean) => ({
    next: 'stop',
    hasTimeForAnother,
    execution,
  });

  it.each<[string, Execution | undefined, Partial<ExecutionFacts>, object]>([
    ['under way', running(10), {}, wait],
    ['under way, when its caller has no time left', running(10), timeUp, wait],
    ['unknown, since Athena has not answered', undefined, {}, wait],
    ['unknown, when its caller has no time left', undefined, timeUp, wait],
    ['seen running for 1 ms less than the limit', running(12_000), ranSince(RUN - 1), wait],
    ['seen running for as long as the limit', running(12_000), ranSince(RUN), stop(running(12_000), true)],
    [
      'seen running for the first time, 1 ms before the limit for queue and run together',
      running(RUN + QUEUE - 1),
      {},
      wait,
    ],
    ['at the limit for queue and run together', running(RUN + QUEUE), {}, stop(running(RUN + QUEUE), true)],
    [
      'running for too long, when its caller has too little time left for another attempt',
      running(RUN),
      { ...ranSince(RUN), callerLeftMs: 8_999 },
      stop(running(RUN), false),
    ],
    [
      'running for too long, when its caller has no time left',
      running(RUN),
      { ...ranSince(RUN), ...timeUp },
      stop(running(RUN), false),
    ],
    ['queued for 1 ms less than the limit', running(QUEUE - 1, true), {}, wait],
    ['queued for as long as the limit', running(QUEUE, true), {}, stop(running(QUEUE, true), true)],
    ['running, and older than the longest time in the queue', running(QUEUE), {}, wait],
  ])('judges an execution that is %s', (_, execution, more, verdict) => {
    expect(judgeExecution(execution, { ...facts, ...more })).toEqual(verdict);
  });
});

describe('limitLeftMs', () => {
  it.each([
    ['in the queue, for a query that is queued', running(1_000, true), undefined, false, QUEUE - 1_000],
    ['to run, for a query that is first seen running now', running(1_000), undefined, true, RUN],
    ['to run, for a query that was first seen running earlier', running(1_000), NOW - 300, true, RUN - 300],
    [
      'for queue and run together, for a query that was queued for long',
      running(QUEUE + 500),
      NOW,
      true,
      RUN - 500,
    ],
    [
      'for queue and run together, for a query that Athena has put back into its queue',
      running(QUEUE + 500, true),
      undefined,
      true,
      RUN - 500,
    ],
  ])('is the time left %s', (_, execution, runningAt, hasRun, leftMs) => {
    const limits = { longestQueryMs: RUN, longestQueueMs: QUEUE };
    expect(limitLeftMs(execution, { ...limits, runningAt, hasRun })).toBe(leftMs);
  });
});
