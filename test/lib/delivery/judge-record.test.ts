import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  judgeRecord,
  LONGEST_KEPT_MS,
  leaseLeftMs,
  type RequestFacts,
  requestFacts,
} from '../../../lib/delivery/judge-record.ts';
import type { EndedRecord, JobRecord, SucceededRecord } from '../../../lib/results/job-record.ts';
import { START, startingRecord, succeededRecord, termsNow, underWayRecord } from './setting.ts';

const facts: RequestFacts = { waits: undefined, scanLimit: 10, hasTimeForAnother: true };
const waiting: RequestFacts = { ...facts, waits: { isForThisCaller: true, forMs: 5_000 } };
const judge = (record: JobRecord | undefined, ageMs: number, given: RequestFacts) =>
  judgeRecord(record && { document: record, etag: '"1"', ageMs }, given);

const starting = startingRecord();
const underWay = underWayRecord();
const cached = succeededRecord();
const ofNoVersion = succeededRecord({ isOfVersion: false });
const { location: _, resultBytes: __, isOfVersion: ___, ...ended } = cached;
const overLimit: EndedRecord = { ...ended, state: 'scan-limit-exceeded', limit: 10 };
const failed: EndedRecord = { ...ended, state: 'failed', seenAfterMs: 2_000, reason: 'FAILED: x' };
const changed: EndedRecord = { ...failed, cause: 'data-changed' };
const tookTooLong: EndedRecord = { ...failed, cause: 'took-too-long' };

describe.each([
  ['that waits for nothing yet', facts],
  ['that waits already', waiting],
])('judgeRecord, for a request %s,', (_, given) => {
  it('starts the first attempt if nothing is stored', () => {
    expect(judge(undefined, 0, given)).toEqual({ next: 'start' });
  });

  describe.each([starting, underWay])('and an attempt that is $state', (record) => {
    // S3 gives ages in whole seconds: the code adds a second, so that no request loses a lease that it still holds.
    it.each([
      ['watches the attempt while its lease lasts', 25_000, 25_999, 'watch'],
      ['takes the attempt over once the lease has surely ended', 25_000, 26_000, 'take-over'],
      ['watches the attempt in the first moment of a lease of 0 ms', 0, 0, 'watch'],
      ['takes the attempt over if its lease was given up', undefined, 0, 'take-over'],
    ])('%s', (_, leaseMs, ageMs, next) => {
      const { leaseMs: __, ...free } = record;
      const held = { ...free, ...(leaseMs !== undefined && { leaseMs }) };
      expect(judge(held, ageMs, given)).toEqual({ next, record: held });
    });
  });
});

describe('judgeRecord, for an attempt that no request asks Athena about,', () => {
  const { leaseMs: _, ...leftStarting } = starting;
  const { leaseMs: __, ...leftUnderWay } = underWay;

  it.each([
    ['takes the attempt over while its query may be under way', leftStarting, 3_599_999, 'take-over'],
    ['starts a new attempt if the old one’s query must have ended', leftStarting, 3_600_000, 'start'],
    [
      'takes over an attempt of any age that is under way, to count its query in the metrics',
      leftUnderWay,
      3_600_000,
      'take-over',
    ],
  ])('%s', (_, record, ageMs, next) => {
    expect(judge(record, ageMs, facts).next).toBe(next);
    expect(judge(record, ageMs, waiting).next).toBe(next);
  });
});

describe('judgeRecord, for a request that waits for nothing yet', () => {
  it.each<[string, SucceededRecord, number, boolean]>([
    ['a cached report', cached, 0, true],
    ['a cached report in its last moment', cached, LONGEST_KEPT_MS - 1, true],
    ['a cached report on the last day that its files are kept', cached, LONGEST_KEPT_MS, false],
    ['a report without a version', ofNoVersion, 0, false],
    [
      'a report without a version that may be given for 2 s, after 1.999 s',
      { ...ofNoVersion, goodForMs: 2_000 },
      1_999,
      true,
    ],
    [
      'a report without a version that may be given for 2 s, after 2 s',
      { ...ofNoVersion, goodForMs: 2_000 },
      2_000,
      false,
    ],
  ])(
    'delivers what may still be used, and starts a new attempt otherwise: %s',
    (_, record, ageMs, isGiven) => {
      expect(judge(record, ageMs, facts)).toEqual(isGiven ? { next: 'deliver', record } : { next: 'start' });
    },
  );

  it('delivers a cached report on six of the seven days that its files are kept', () => {
    expect(LONGEST_KEPT_MS).toBe(6 * 86_400_000);
  });

  it('refuses a report that exceeded the same scan limit, without a query', () => {
    expect(judge(overLimit, 0, facts)).toEqual({ next: 'refuse', record: overLimit });
  });

  it.each([9, 11, undefined])(
    'starts a new attempt if the scan limit is now %s and the report exceeded a limit of 10',
    (scanLimit) => {
      expect(judge(overLimit, 0, { ...facts, scanLimit })).toEqual({ next: 'start' });
    },
  );

  it.each([failed, changed, tookTooLong])('starts a new attempt after a failure (%o)', (record) => {
    expect(judge(record, 0, facts)).toEqual({ next: 'start' });
  });
});

describe('judgeRecord, for a request that waits already', () => {
  it('delivers a report of any age, even without a version', () => {
    expect(judge(ofNoVersion, 2 * LONGEST_KEPT_MS, waiting)).toEqual({
      next: 'deliver',
      record: ofNoVersion,
    });
  });

  it('refuses the request after its attempt failed or exceeded the scan limit, even if the limit is different now', () => {
    const verdict = { next: 'refuse', record: overLimit };
    expect(judge(overLimit, 0, { ...waiting, scanLimit: 99 })).toEqual(verdict);
    expect(judge(failed, 0, waiting)).toEqual({ next: 'refuse', record: failed });
  });

  // S3 gives ages in whole seconds: a failure that may be older than the caller's wait counts as older.
  it.each<[string, boolean, number, string]>([
    ['refuses after a failure that came while the request waited', false, 3_999, 'refuse'],
    ['starts a new attempt after a failure that came before the request', false, 4_000, 'start'],
    ['refuses after the failure of the attempt that its caller started', true, 9_000, 'refuse'],
  ])('%s', (_, isForThisCaller, ageMs, next) => {
    const joined = { ...waiting, waits: { isForThisCaller, forMs: 6_999 } };
    expect(judge(failed, ageMs, joined).next).toBe(next);
  });

  it('starts a new attempt after a failed query that the holder of the lease had no time to repeat', () => {
    expect(judge({ ...failed, cause: 'not-repeated' }, 0, { ...waiting, hasTimeForAnother: false })).toEqual({
      next: 'start',
    });
  });

  it('looks at the lake again if files changed during the query', () => {
    expect(judge(changed, 0, waiting)).toEqual({ next: 'look-again' });
  });

  it.each([
    [true, { next: 'start' }],
    [false, { next: 'refuse', record: tookTooLong }],
  ])(
    'starts another attempt after a stopped query only if the caller has time for it: %s',
    (hasTimeForAnother, verdict) => {
      expect(judge(tookTooLong, 0, { ...waiting, hasTimeForAnother })).toEqual(verdict);
    },
  );
});

describe('leaseLeftMs', () => {
  it('is the rest of the lease and one second more, since S3 gives ages in whole seconds', () => {
    expect(leaseLeftMs(startingRecord({ leaseMs: 5_000 }), 2_000)).toBe(4_000);
  });
});

describe('requestFacts', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: START });
    return () => vi.useRealTimers();
  });

  it.each([
    [90_000, true],
    [89_999, false],
  ])(
    'says, with %d ms left for the caller, whether there is time for another attempt: %s',
    (leftMs, hasTimeForAnother) => {
      const terms = termsNow({ longestQueueMs: 60_000, longestQueryMs: 60_000, giveUpAt: START + leftMs });
      expect(requestFacts(terms, { cacheStatus: 'collapsed' })).toEqual({
        waits: { isForThisCaller: false, forMs: 0 },
        scanLimit: 10,
        hasTimeForAnother,
      });
    },
  );
});
