import { describe, expect, it } from 'vitest';
import {
  askAgainMs,
  nextAskMs,
  nextFileLookMs,
  nextRecordLookMs,
  nextResultLookMs,
} from '../../../lib/delivery/pace.ts';

describe('how often Athena is asked', () => {
  it('is first after 2 to 4 seconds', () => {
    expect(nextAskMs(0, 0)).toBeCloseTo(1_950);
    expect(nextAskMs(0, 1)).toBeCloseTo(4_050);
  });

  it.each([
    ['30 s', 30_000, 6],
    ['ten minutes', 600_000, 12],
  ])('is few times in a query of %s, even with the smallest random number', (_, queryMs, most) => {
    let calls = 0;
    for (let age = nextAskMs(0, 0); age < queryMs; age += nextAskMs(age, 0)) calls += 1;
    expect(calls).toBeLessThanOrEqual(most);
  });

  it('is twice as long each time, once the result has appeared', () => {
    expect([0, 1, 2, 3].map(askAgainMs)).toEqual([25, 50, 100, 200]);
  });
});

describe('how often S3 is asked', () => {
  it.each([
    ['for a result of a query that has just begun', nextResultLookMs, 0, 20],
    ['for a result of a query of 2 s', nextResultLookMs, 2_000, 90],
    ['for a result of a query of a minute', nextResultLookMs, 60_000, 1_000],
    ['for a large file at first', nextFileLookMs, 0, 200],
    ['for a large file after 5 s', nextFileLookMs, 5_000, 500],
    ['for a large file after a minute', nextFileLookMs, 60_000, 2_000],
  ])('%s is after so many milliseconds', (_, pace, ms, expected) => {
    expect(pace(ms)).toBeCloseTo(expected);
  });

  it('for a record grows to two seconds, plus or minus a quarter', () => {
    expect([0, 0.5, 1].map((random) => nextRecordLookMs(0, random))).toEqual([112.5, 150, 187.5]);
    expect(nextRecordLookMs(1_000, 0.5)).toBe(300);
    expect([0, 0.5, 1].map((random) => nextRecordLookMs(60_000, random))).toEqual([1_500, 2_000, 2_500]);
  });
});
