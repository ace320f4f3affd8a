import { beforeEach, describe, expect, it, vi } from 'vitest';
import { QueryFailed } from '../../../lib/delivery/delivery.ts';
import { endedMembers, recordAnswer, recordEnd, refusalOf } from '../../../lib/delivery/end-attempt.ts';
import { ReportTooLarge, Unavailable } from '../../../lib/problems/problem.ts';
import type { OpenRecord, RefusedRecord } from '../../../lib/results/job-record.ts';
import { cachedReportKey, jobRecordKey } from '../../../lib/results/keys.ts';
import { START, setting, startingRecord, succeededRecord, UUID, underWayRecord } from './setting.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: START });
  return () => vi.useRealTimers();
});

const execution = { id: 'q1', submittedAt: 10, completedAt: 250, bytesScanned: 5, engineMs: 7 };
const members = {
  form: 2,
  writer: expect.stringMatching(UUID),
  attempt: 'attempt-1',
  executionId: 'q1',
  submittedAt: 10,
  completedAt: 250,
  bytesScanned: 5,
  engineMs: 7,
};

async function made() {
  const of = setting();
  const target = await of.target();
  const key = jobRecordKey(target.job, target.data);
  const hold = (record: OpenRecord = underWayRecord()) => ({ stored: of.results.put(key, record), record });
  return { ...of, run: of.run(), target, key, hold, cachedKey: cachedReportKey(target.job) };
}

describe('endedMembers', () => {
  it('keeps the attempt, its slot, its place among the attempts, and what Athena reported of the execution', () => {
    expect(endedMembers(startingRecord(), execution)).toEqual(members);
    const more = { slot: 's', attempts: 2, follows: 'w' };
    expect(endedMembers(startingRecord(more), execution)).toEqual({ ...members, ...more });
  });
});

describe('refusalOf', () => {
  const ended = { ...members, writer: 'w', form: 2 } as const;
  const overLimit: RefusedRecord = { ...ended, state: 'scan-limit-exceeded', limit: 10 };
  const failed: RefusedRecord = { ...ended, state: 'failed', seenAfterMs: 0, reason: 'FAILED: boom' };

  it.each<[string, RefusedRecord, Error]>([
    ['400 if the query exceeded the scan limit', overLimit, new ReportTooLarge()],
    [
      'an internal error, with the engine’s reason for the log',
      failed,
      new QueryFailed('query q1 FAILED: boom'),
    ],
    [
      'an internal error if files changed during the last query too',
      { ...failed, cause: 'data-changed' },
      new QueryFailed('query q1 FAILED: boom'),
    ],
    [
      '503 if the query took too long',
      { ...failed, cause: 'took-too-long' },
      new Unavailable('The report took too long and was given up. Narrow it, or request it later.', 60),
    ],
  ])('is %s', (_, record, error) => {
    const { facts, note } = setting();
    expect(refusalOf({ note }, record)).toEqual(error);
    expect(facts).toEqual({ queryExecutionId: 'q1', bytesScanned: 5, engineMs: 7, queryMs: 240 });
  });
});

describe('recordEnd', () => {
  it('counts the query in the metrics only for the request whose record was written', async () => {
    const { run, target, results, key, hold, finished, facts } = await made();
    const held = hold();
    expect(await recordEnd(run, target, held, succeededRecord())).toEqual(await results.read(key));
    const late = succeededRecord({ executionId: 'q2', writer: 'writer-2' });
    expect(await recordEnd(run, target, held, late)).toEqual(await results.read(key));
    expect(results.document(key)).toEqual(succeededRecord());
    expect(finished).toEqual(['succeeded']);
    expect(facts.finishedQueries).toEqual([{ state: 'succeeded', bytesScanned: 1_000, queryMs: 100 }]);
  });

  it.each<[string, object | undefined]>([
    ['', undefined],
    [', and another request has created the next attempt since', startingRecord({ follows: 'writer-2' })],
  ])('counts the query in the metrics even if the answer to the write was lost%s', async (_, next) => {
    const { run, target, results, key, hold, finished } = await made();
    const held = hold();
    const { replace } = results;
    results.replace = async (...given) => {
      await replace(...given);
      if (next) results.put(key, next);
      return undefined;
    };
    const ended = succeededRecord({ writer: 'writer-2' });
    expect(await recordEnd(run, target, held, ended)).toEqual(await results.read(key));
    expect(finished).toEqual(['succeeded']);
  });

  it('writes nothing and counts nothing in the metrics if another request has replaced the record', async () => {
    const { run, target, results, finished } = await made();
    expect(await recordEnd(run, target, undefined, succeededRecord())).toBeUndefined();
    expect([results.calls, finished]).toEqual([[], []]);
  });
});

describe('recordAnswer', () => {
  it('writes the cached report of the job, under a key without a listing fingerprint', async () => {
    const { run, target, results, cachedKey } = await made();
    await recordAnswer(run, target, succeededRecord());
    expect(results.document(cachedKey)).toEqual(succeededRecord());
    expect([...results.objects.keys()]).toEqual([cachedKey]);
  });

  it('does not rewrite a cached report of the same execution', async () => {
    const { run, target, results, cachedKey } = await made();
    const { etag } = results.put(cachedKey, succeededRecord());
    await recordAnswer(run, target, succeededRecord({ writer: 'writer-2' }));
    expect(results.objects.get(cachedKey)?.etag).toBe(etag);
  });

  it.each<[string, unknown]>([
    ['of another execution', succeededRecord({ executionId: 'q0' })],
    ['that can not be read', { form: 0 }],
  ])('replaces a cached report %s', async (_, document) => {
    const { run, target, results, cachedKey } = await made();
    results.put(cachedKey, document);
    await recordAnswer(run, target, succeededRecord());
    expect(results.document(cachedKey)).toEqual(succeededRecord());
  });

  it('does not replace a cached report that another request writes at the same moment', async () => {
    const { run, target, results, cachedKey } = await made();
    results.put(cachedKey, succeededRecord({ executionId: 'q0' }));
    const other = succeededRecord({ executionId: 'q2' });
    results.before(`replace ${cachedKey}`, () => results.put(cachedKey, other));
    await recordAnswer(run, target, succeededRecord());
    expect(results.document(cachedKey)).toEqual(other);
  });

  it('writes nothing if an existing cached report is deleted before it is read', async () => {
    const { run, target, results, cachedKey } = await made();
    results.put(cachedKey, { form: 0 });
    results.before(`read ${cachedKey}`, () => results.objects.delete(cachedKey));
    await recordAnswer(run, target, succeededRecord());
    expect(results.objects.size).toBe(0);
  });
});
