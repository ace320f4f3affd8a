import { describe, expect, it } from 'vitest';
import { judgeRecord, type RequestFacts } from '../../../lib/delivery/judge-record.ts';
import type { EndedRecord, OpenRecord, SucceededRecord } from '../../../lib/delivery/order-record.ts';

const NOW = 1_700_000_000_000;
const facts: RequestFacts = {
  follows: undefined,
  trace: 'trace-1',
  maxBytesScanned: 10,
  now: NOW,
  longestKeptMs: 1_000,
};
const following = { ...facts, follows: 'token-1' };

const of = { form: 1, token: 'token-1', trace: 'trace-1' } as const;
const ended = {
  ...of,
  executionId: 'q1',
  bytesScanned: 1,
  submittedAt: 1,
  completedAt: NOW - 999,
  engineMs: 1,
};
const starting: OpenRecord = { ...of, state: 'starting', askedUntil: NOW + 1, isRetry: false };
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

describe('judgeRecord, for a request that follows nothing yet', () => {
  it('starts where nothing is stored, after nothing', () => {
    expect(judgeRecord(undefined, facts)).toEqual({ next: 'start' });
  });

  describe.each([starting, underWay])('and a try that is $state', (record) => {
    it.each<[string, Partial<OpenRecord>, object]>([
      ['watches it while somebody asks the engine', {}, { next: 'watch' }],
      ['asks when that has ended', { askedUntil: NOW }, { next: 'ask' }],
      ['starts its own where the lake looks otherwise now', { trace: 'trace-0' }, startNext],
    ])('%s', (_, more, verdict) => {
      const given = { ...record, ...more } as OpenRecord;
      const expected = verdict === startNext ? verdict : { ...verdict, record: given };
      expect(judgeRecord(given, facts)).toEqual(expected);
    });
  });

  it.each<[string, SucceededRecord, boolean]>([
    ['a copy', copy, true],
    ['a copy of the last moment in which it may be given', { ...copy, completedAt: NOW - 999 }, true],
    ['a copy whose file may be taken away soon', { ...copy, completedAt: NOW - 1_000 }, false],
    ['no copy', { ...copy, isCopy: false }, false],
    ['no copy, but one that is good for a while', { ...copy, isCopy: false, goodUntil: NOW + 1 }, true],
    ['no copy, and one that was good until now', { ...copy, isCopy: false, goodUntil: NOW }, false],
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

describe('judgeRecord, for a request that follows a try', () => {
  const records = [starting, underWay, copy, cutOff, failed];

  it.each(records)('looks at the lake again where another try that is $state took its place', (record) => {
    expect(judgeRecord({ ...record, token: 'token-2' }, following)).toEqual({ next: 'look-again' });
  });

  it('starts where the record is gone', () => {
    expect(judgeRecord(undefined, following)).toEqual({ next: 'start' });
  });

  it.each([starting, underWay])(
    'keeps to one that is $state, though the lake looks otherwise now',
    (record) => {
      const elsewhere = { ...following, trace: 'trace-9' };
      expect(judgeRecord(record, elsewhere)).toEqual({ next: 'watch', record });
      const left = { ...record, askedUntil: NOW - 1 };
      expect(judgeRecord(left, elsewhere)).toEqual({ next: 'ask', record: left });
    },
  );

  it('is given its result, copy or not, however old', () => {
    const record = { ...copy, isCopy: false, completedAt: 0 };
    expect(judgeRecord(record, following)).toEqual({ next: 'deliver', record });
  });

  it('is refused as its try was, at whatever limit', () => {
    const verdict = { next: 'refuse', record: cutOff };
    expect(judgeRecord(cutOff, { ...following, maxBytesScanned: 99 })).toEqual(verdict);
    expect(judgeRecord(failed, following)).toEqual({ next: 'refuse', record: failed });
  });

  it('looks at the lake again where files changed under its try', () => {
    expect(judgeRecord({ ...failed, hasDataMoved: true }, following)).toEqual({ next: 'look-again' });
  });
});
