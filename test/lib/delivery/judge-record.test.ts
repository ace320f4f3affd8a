import { describe, expect, it } from 'vitest';
import { judgeRecord, type RequestFacts } from '../../../lib/delivery/judge-record.ts';
import type { EndedRecord, OpenRecord, SucceededRecord } from '../../../lib/delivery/order-record.ts';

const NOW = 1_700_000_000_000;
const facts: RequestFacts = {
  isWaiting: false,
  maxBytesScanned: 10,
  now: NOW,
  longestKeptMs: 1_000,
};
const waiting = { ...facts, isWaiting: true };

const of = { form: 1, token: 'token-1', trace: 'trace-1' } as const;
const ended = {
  ...of,
  executionId: 'q1',
  bytesScanned: 1,
  submittedAt: 1,
  completedAt: NOW - 999,
  engineMs: 1,
};
const starting: OpenRecord = {
  ...of,
  state: 'starting',
  askedUntil: NOW + 1,
  claim: 'claim-1',
  isRetry: false,
};
const underWay: OpenRecord = { ...starting, state: 'under-way', executionId: 'q1' };
const copy: SucceededRecord = {
  ...ended,
  state: 'succeeded',
  location: 's3://results/athena/q1.csv',
  resultBytes: 1,
  isCopy: true,
  goodUntil: 0,
};
const cutOff: EndedRecord = { ...ended, state: 'cut-off', limit: 10 };
const failed: EndedRecord = { ...ended, state: 'failed', reason: 'FAILED: x', hasDataMoved: false };

const startNext = { next: 'start', after: 'token-1' };

describe('judgeRecord, for a request that waits for nothing yet', () => {
  it('starts the first try where nothing is stored', () => {
    expect(judgeRecord(undefined, facts)).toEqual({ next: 'start' });
  });

  describe.each([starting, underWay])('and a try that is $state', (record) => {
    it.each<[string, number, string]>([
      ['watches it while somebody asks the engine', NOW + 1, 'watch'],
      ['asks when that request’s time has ended', NOW, 'ask'],
      ['asks where the request that did has released it', 0, 'ask'],
    ])('%s', (_, askedUntil, next) => {
      const given = { ...record, askedUntil };
      expect(judgeRecord(given, facts)).toEqual({ next, record: given });
    });
  });

  it.each<[string, SucceededRecord, boolean]>([
    ['a copy', copy, true],
    ['a copy in the last moment in which it may be given', { ...copy, completedAt: NOW - 999 }, true],
    ['a copy whose file may be taken away soon', { ...copy, completedAt: NOW - 1_000 }, false],
    ['no copy', { ...copy, isCopy: false }, false],
    ['no copy, but a report that is good for a while', { ...copy, isCopy: false, goodUntil: NOW + 1 }, true],
    ['no copy, and a report that was good until now', { ...copy, isCopy: false, goodUntil: NOW }, false],
    ['a copy of another listing of the same files', { ...copy, trace: 'trace-0' }, true],
  ])('is given %s or starts anew', (_, record, isGiven) => {
    expect(judgeRecord(record, facts)).toEqual(isGiven ? { next: 'deliver', record } : startNext);
  });

  it('is refused what was cut off at the same limit, without a query', () => {
    expect(judgeRecord(cutOff, facts)).toEqual({ next: 'refuse', record: cutOff });
  });

  it.each([9, 11, 0])('starts anew what was cut off at another limit than %d', (maxBytesScanned) => {
    expect(judgeRecord(cutOff, { ...facts, maxBytesScanned })).toEqual(startNext);
  });

  it.each([failed, { ...failed, hasDataMoved: true }])('starts anew what failed (%o)', (record) => {
    expect(judgeRecord(record, facts)).toEqual(startNext);
  });
});

describe('judgeRecord, for a request that waits already', () => {
  it('starts where the record is gone', () => {
    expect(judgeRecord(undefined, waiting)).toEqual({ next: 'start' });
  });

  it.each([starting, underWay])('watches a try that is $state, or asks where nobody does', (record) => {
    expect(judgeRecord(record, waiting)).toEqual({ next: 'watch', record });
    const left = { ...record, askedUntil: NOW - 1 };
    expect(judgeRecord(left, waiting)).toEqual({ next: 'ask', record: left });
  });

  it('is given the result, copy or not, however old', () => {
    const record = { ...copy, isCopy: false, completedAt: 0 };
    expect(judgeRecord(record, waiting)).toEqual({ next: 'deliver', record });
  });

  it('gets the refusal of its try, at whatever limit', () => {
    const verdict = { next: 'refuse', record: cutOff };
    expect(judgeRecord(cutOff, { ...waiting, maxBytesScanned: 99 })).toEqual(verdict);
    expect(judgeRecord(failed, waiting)).toEqual({ next: 'refuse', record: failed });
  });

  it('lists the lake again where files changed during the try', () => {
    expect(judgeRecord({ ...failed, hasDataMoved: true }, waiting)).toEqual({ next: 'look-again' });
  });
});
