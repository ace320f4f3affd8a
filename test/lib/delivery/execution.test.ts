import { expect, it } from 'vitest';
import { limitLeftMs, type RunningExecution } from '../../../lib/delivery/execution.ts';

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
  expect(limitLeftMs(query, limits, { runningAt, hasRun })).toBe(leftMs);
});
