import { describe, expect, it } from 'vitest';
import {
  askAgainMs,
  hopWaitMs,
  nextAskMs,
  nextFileLookMs,
  nextRecordLookMs,
  nextResultLookMs,
  nextSlotLookMs,
} from '../../../lib/delivery/pace.ts';

describe('the pause before a request asks Athena', () => {
  it('is 2 to 4 seconds at first', () => {
    expect(nextAskMs(0, 0)).toBeCloseTo(1_950);
    expect(nextAskMs(0, 1)).toBeCloseTo(4_050);
  });

  it.each([
    ['30 s', 30_000, 5],
    ['ten minutes', 600_000, 12],
  ])(
    'grows, so that a query of %s needs few calls even with the smallest random number',
    (_, queryMs, most) => {
      let calls = 0;
      for (let age = nextAskMs(0, 0); age < queryMs; age += nextAskMs(age, 0)) calls += 1;
      expect(calls).toBeLessThanOrEqual(most);
    },
  );

  it('doubles with each call once the result has appeared', () => {
    expect([0, 1, 2, 3].map(askAgainMs)).toEqual([25, 50, 100, 200]);
  });
});

describe('the pause before a request asks S3', () => {
  it.each([
    ['for a result of a query that has just begun', nextResultLookMs, 0, 20],
    ['for a result of a query of 800 ms', nextResultLookMs, 800, 36],
    ['for a result of a query of 2 s', nextResultLookMs, 2_000, 50],
    ['for a result of a query of 10 s', nextResultLookMs, 10_000, 190],
    ['for a result of a query of a minute', nextResultLookMs, 60_000, 1_000],
    ['for a large file at first', nextFileLookMs, 0, 200],
    ['for a large file after 5 s', nextFileLookMs, 5_000, 500],
    ['for a large file after a minute', nextFileLookMs, 60_000, 2_000],
  ])('grows with the time that has passed: %s', (_, pace, ms, expected) => {
    expect(pace(ms, 0)).toBeCloseTo(expected);
  });

  it('for a record grows from 180 ms to two seconds, plus or minus a tenth', () => {
    const looks = (ageMs: number) =>
      [0, 0.5, 1].map((random) => Math.round(nextRecordLookMs(ageMs, 0, random)));
    expect(looks(0)).toEqual([162, 180, 198]);
    expect(looks(10_000)).toEqual([455, 505, 556]);
    expect(looks(60_000)).toEqual([1_800, 2_000, 2_200]);
  });

  it('is longer when S3 is slow: for a result, twice as long as the last look took; for a record, five times as long', () => {
    expect(nextResultLookMs(2_000, 300)).toBe(600);
    expect(nextRecordLookMs(2_000, 300, 0.5)).toBe(1_500);
  });

  it('for a slot shrinks from about two seconds to half a second as the caller’s time runs out', () => {
    expect([0, 0.5, 1].map((random) => nextSlotLookMs(1_200_000, random))).toEqual([1_500, 2_000, 2_500]);
    expect(nextSlotLookMs(300_000, 0.5)).toBe(1_000);
    expect(nextSlotLookMs(1, 0.5)).toBe(500);
  });
});

it.each([
  [0, 25_000, 8_000],
  [1, 25_000, 25_000],
  [999_999, 25_000, 25_000],
  [0, 400, 400],
  [1, 400, 400],
])('request %i of a caller, with at most %i ms to wait, waits %i ms', (hop, longestMs, expected) => {
  expect(hopWaitMs(hop, longestMs)).toBe(expected);
});
