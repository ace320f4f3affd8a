import { expect, it } from 'vitest';
import {
  type FailedExecution,
  hasTimeForAnother,
  limitLeftMs,
  type RunningExecution,
  reachedLimit,
} from '../../../lib/delivery/execution.ts';

const NOW = 1_700_000_000_000;
const [RUN, QUEUE] = [10_000, 4_000];
const limits = { longestQueryMs: RUN, longestQueueMs: QUEUE };

const running = (ageMs: number, isQueued = false): RunningExecution => {
  const times = { submittedAt: NOW - ageMs, observedAt: NOW };
  return { state: 'under-way', id: 'q1', ...times, isQueued, bytesScanned: 1 };
};

it.each<[string, RunningExecution, number | undefined, boolean, number]>([
  ['queued', running(1_000, true), undefined, false, QUEUE - 1_000],
  ['first seen running now', running(1_000), undefined, true, RUN],
  ['first seen running earlier', running(1_000), NOW - 300, true, RUN - 300],
  ['running after a long queue: both together', running(QUEUE + 500), NOW, true, RUN - 500],
  ['queued again: both together', running(QUEUE + 500, true), undefined, true, RUN - 500],
])('the time left for a query is the limit minus what is over: %s', (_, query, runningAt, hasRun, leftMs) => {
  expect(limitLeftMs(query, { ...limits, runningAt, hasRun })).toBe(leftMs);
});

/** A query that was cancelled this long after its submission, and that the engine ran for `engineMs`. */
const cancelled = (ageMs: number, engineMs = ageMs): FailedExecution => {
  const seen = { submittedAt: NOW - ageMs, completedAt: NOW, observedAt: NOW, bytesScanned: 1, engineMs };
  return { state: 'failed', id: 'q1', ...seen, reason: 'CANCELLED: x', isRetryable: false };
};

// A query counts as stopped from 95 % of a limit on.
it.each<[string, FailedExecution, number | undefined, boolean]>([
  ['queued for 95 % of the limit', cancelled(3_800, 0), undefined, true],
  ['queued for less', cancelled(3_799, 0), undefined, false],
  ['queued for less, but longer than a query may run', cancelled(3_799, 0), NOW - RUN, false],
  ['ran for 95 % of the limit', cancelled(12_000, 9_500), undefined, true],
  ['ran for less', cancelled(12_000, 9_499), undefined, false],
  ['was seen running for 95 % of the limit', cancelled(12_000, 50), NOW - 9_500, true],
  ['was seen running for less', cancelled(12_000), NOW - 9_499, false],
  ['both together for 95 % of both limits', cancelled(13_300, 50), NOW - 5_000, true],
  ['both together for less', cancelled(13_299, 50), NOW - 5_000, false],
])('a cancelled query had reached a limit if it %s: then a request stopped it', (_, query, runningAt, is) => {
  expect(reachedLimit(query, { ...limits, runningAt })).toBe(is);
});

it.each([
  [9_000, true],
  [8_999, false],
])('a caller with %d ms left has time for the longest queue and half the longest run: %s', (leftMs, has) => {
  expect(hasTimeForAnother({ ...limits, callerLeftMs: leftMs })).toBe(has);
});
