import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ReportTooLarge } from '../../../lib/answers/problem.ts';
import { QueryFailed } from '../../../lib/delivery/delivery.ts';
import type { CutOffExecution, FailedExecution } from '../../../lib/delivery/execution.ts';
import { copyKey, recordKey } from '../../../lib/delivery/order.ts';
import {
  countedEnd,
  failureRecord,
  figuresOf,
  recordAnswer,
  recordEnd,
  refusalOf,
} from '../../../lib/delivery/record-end.ts';
import { START, setting, succeededRecord } from './setting.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: START });
  return () => vi.useRealTimers();
});

const figures = { id: 'q1', submittedAt: 10, completedAt: 250, bytesScanned: 5, engineMs: 7 };
const of = { token: 'token-1', trace: 'trace-1' };
const end = {
  form: 1,
  ...of,
  executionId: 'q1',
  submittedAt: 10,
  completedAt: 250,
  bytesScanned: 5,
  engineMs: 7,
};
const cutOff: CutOffExecution = { state: 'cut-off', ...figures };
const failed: FailedExecution = { state: 'failed', ...figures, reason: 'FAILED: boom', isRetryable: true };
const circumstances = { limit: 99, hasDataMoved: true };

describe('figuresOf', () => {
  it('gives bytes, engine time, and the time from submission to end', () => {
    expect(figuresOf(failed)).toEqual({ bytesScanned: 5, engineMs: 7, queryMs: 240 });
  });
});

describe('countedEnd', () => {
  it.each(['succeeded', 'failed', 'cut-off'] as const)(
    'gives the counted figures of a query that %s',
    (state) => {
      expect(countedEnd(state, failed)).toEqual({ state, bytesScanned: 5, queryMs: 240 });
    },
  );
});

describe('failureRecord', () => {
  it('holds the limit of a cut-off', () => {
    expect(failureRecord(cutOff, of, circumstances)).toEqual({ state: 'cut-off', ...end, limit: 99 });
  });

  it('holds the reason of a failure, and whether files changed', () => {
    const record = { state: 'failed', ...end, reason: 'FAILED: boom', hasDataMoved: true };
    expect(failureRecord(failed, of, circumstances)).toEqual(record);
  });
});

describe('refusalOf', () => {
  it('is 400 for a cut-off', () => {
    expect(refusalOf(failureRecord(cutOff, of, circumstances))).toBeInstanceOf(ReportTooLarge);
  });

  it("is an internal error for a failure, with the engine's reason for the log", () => {
    const error = refusalOf(failureRecord(failed, of, circumstances));
    expect(error).toBeInstanceOf(QueryFailed);
    expect(error).toMatchObject({ name: 'QueryFailed', message: 'query q1 FAILED: boom' });
  });
});

describe('recordEnd', () => {
  it('counts the query by the request whose record it is, and by no other', async () => {
    const { run, results, facts, ends } = setting();
    const begun = await run();
    const key = recordKey(begun.order, begun.data);
    const stored = results.put(key, { form: 1 });
    await recordEnd(begun, stored, succeededRecord());
    expect(results.document(key)).toEqual(succeededRecord());
    await recordEnd(begun, stored, succeededRecord({ executionId: 'q2' }));
    expect(results.document(key)).toEqual(succeededRecord());
    expect(ends).toEqual(['succeeded']);
    expect(facts.ends).toEqual([{ state: 'succeeded', bytesScanned: 1_000, queryMs: 100 }]);
  });

  it('does nothing where another request has replaced the record', async () => {
    const { run, results, ends } = setting();
    await recordEnd(await run(), undefined, succeededRecord());
    expect([results.calls, ends]).toEqual([[], []]);
  });
});

describe('recordAnswer', () => {
  it('writes the note of the execution under the order, whatever the trace', async () => {
    const { run, results } = setting();
    const begun = await run();
    await recordAnswer(begun, succeededRecord());
    expect(results.document(copyKey(begun.order))).toEqual(succeededRecord());
    expect([...results.objects.keys()]).toEqual([copyKey(begun.order)]);
  });

  it('leaves the note of the same try as it is', async () => {
    const { run, results } = setting();
    const begun = await run();
    const { etag } = results.put(copyKey(begun.order), succeededRecord());
    await recordAnswer(begun, succeededRecord());
    expect(results.objects.get(copyKey(begun.order))?.etag).toBe(etag);
  });

  it.each<[string, unknown]>([
    ['of an earlier try', succeededRecord({ token: 'token-0', executionId: 'q0' })],
    ['that can not be read', { form: 0 }],
  ])('takes the place of a note %s', async (_, document) => {
    const { run, results } = setting();
    const begun = await run();
    results.put(copyKey(begun.order), document);
    await recordAnswer(begun, succeededRecord());
    expect(results.document(copyKey(begun.order))).toEqual(succeededRecord());
  });

  it('leaves a note that another request writes at the same moment', async () => {
    const { run, results } = setting();
    const begun = await run();
    const key = copyKey(begun.order);
    results.put(key, succeededRecord({ token: 'token-0' }));
    const other = succeededRecord({ token: 'token-2', executionId: 'q2' });
    results.before(`replace ${key}`, () => results.put(key, other));
    await recordAnswer(begun, succeededRecord());
    expect(results.document(key)).toEqual(other);
  });

  it('writes nothing where the note is deleted meanwhile', async () => {
    const { run, results } = setting();
    const begun = await run();
    const key = copyKey(begun.order);
    results.put(key, { form: 0 });
    results.before(`read ${key}`, () => results.objects.delete(key));
    await recordAnswer(begun, succeededRecord());
    expect(results.objects.size).toBe(0);
  });
});
