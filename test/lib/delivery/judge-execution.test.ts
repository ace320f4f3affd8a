import { describe, expect, it } from 'vitest';
import type { Execution, FailedExecution } from '../../../lib/delivery/execution.ts';
import { type ExecutionFacts, judgeExecution } from '../../../lib/delivery/judge-execution.ts';

const NOW = 1_700_000_000_000;
const LONGEST = 1_000;
const figures = { id: 'q1', submittedAt: NOW - 10, completedAt: NOW, bytesScanned: 1, engineMs: 1 };
const final: FailedExecution = { state: 'failed', ...figures, reason: 'FAILED: x', isRetryable: false };
const retryable: FailedExecution = { ...final, isRetryable: true };
const stopped: FailedExecution = { ...final, submittedAt: NOW - LONGEST, reason: 'CANCELLED: stopped' };
const cutOff: Execution = { state: 'cut-off', ...figures };
const succeeded: Execution = { state: 'succeeded', ...figures, location: 's3://results/athena/q1.csv' };
const forgotten: Execution = { state: 'forgotten', id: 'q1' };
const running = (ageMs: number): Execution => ({ state: 'under-way', id: 'q1', submittedAt: NOW - ageMs });

const facts: ExecutionFacts = {
  now: NOW,
  longestQueryMs: LONGEST,
  giveUpAt: NOW + 900,
  isRetry: false,
  isRemembered: false,
  hasDataMoved: false,
};
const remembered = { isRemembered: true };
const moved = { hasDataMoved: true };
const retry = { isRetry: true };
const timeUp = { giveUpAt: NOW };

describe('judgeExecution', () => {
  it.each<[string, Execution, Partial<ExecutionFacts>, string]>([
    ['forgotten', forgotten, {}, 'start-next'],
    ['forgotten, its caller late', forgotten, timeUp, 'start-next'],
    ['succeeded', succeeded, {}, 'deliver'],
    ['succeeded after its caller gave up', succeeded, timeUp, 'deliver'],
    ['succeeded long ago under the same token', succeeded, remembered, 'deliver'],
    ['succeeded while files changed', succeeded, moved, 'deliver'],
    ['cut off', cutOff, {}, 'refuse'],
    ['cut off after its caller gave up', cutOff, timeUp, 'refuse'],
    ['cut off while files changed', cutOff, moved, 'refuse'],
    ['cut off on its second try', cutOff, retry, 'refuse'],
    ['cut off long ago under the same token', cutOff, remembered, 'start-next'],
    ['failed for good', final, {}, 'refuse'],
    ['failed for good after its caller gave up', final, timeUp, 'refuse'],
    ['failed for good on its second try', final, retry, 'refuse'],
    ['failed, retryable', retryable, {}, 'retry'],
    ['failed, retryable, on its second try', retryable, retry, 'refuse'],
    ['failed while files changed', final, moved, 'look-again'],
    ['failed, retryable, while files changed', retryable, moved, 'look-again'],
    ['failed on its second try while files changed', retryable, { ...retry, ...moved }, 'look-again'],
    ['failed long ago under the same token', final, remembered, 'start-next'],
    ['failed long ago, and files changed since', final, { ...remembered, ...moved }, 'start-next'],
    ['failed long ago, retryable', retryable, remembered, 'start-next'],
    [
      'stopped at the limit by another request, with half a try left',
      stopped,
      { giveUpAt: NOW + 500 },
      'start-next',
    ],
    ['stopped at the limit, with less than half a try left', stopped, { giveUpAt: NOW + 499 }, 'give-up'],
    ['stopped at the limit while files changed', stopped, moved, 'look-again'],
    [
      'stopped at the limit by a clock that runs ahead',
      { ...stopped, submittedAt: NOW - 950 },
      {},
      'start-next',
    ],
    ['cancelled before the limit', { ...stopped, submittedAt: NOW - 949 }, {}, 'refuse'],
    ['under way', running(10), {}, 'wait'],
    ['under way, its caller with 1 ms left', running(10), { giveUpAt: NOW + 1 }, 'wait'],
    ['under way, its caller without time', running(10), timeUp, 'give-up'],
    ['under way, its caller late', running(10), { giveUpAt: NOW - 1 }, 'give-up'],
    ['under way for 1 ms less than the limit', running(LONGEST - 1), {}, 'wait'],
    ['under way for as long as the limit', running(LONGEST), timeUp, 'stop-and-give-up'],
    [
      'too old, with less than half a try left',
      running(LONGEST),
      { giveUpAt: NOW + 499 },
      'stop-and-give-up',
    ],
    ['too old, with half a try left', running(LONGEST), { giveUpAt: NOW + 500 }, 'stop-and-start-next'],
    ['left hours ago, its caller new', running(1e7), { giveUpAt: NOW + 1_050 }, 'stop-and-start-next'],
  ])('judges an execution that is %s', (_, execution, more, next) => {
    const verdict = judgeExecution(execution, { ...facts, ...more });
    const takesAlong = ['deliver', 'refuse', 'look-again', 'retry'].includes(next);
    expect(verdict).toEqual(takesAlong ? { next, execution } : { next });
  });
});
