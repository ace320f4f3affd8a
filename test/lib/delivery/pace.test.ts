import { describe, expect, it } from 'vitest';
import * as pace from '../../../lib/delivery/pace.ts';

describe('the pause before a request asks Athena', () => {
  it('is 2 to 4 seconds at first, and doubles with each question once the result has appeared', () => {
    expect([pace.nextAskMs(0, 0), pace.nextAskMs(0, 1)].map(Math.round)).toEqual([1_950, 4_050]);
    expect([0, 1, 2, 3].map(pace.askAgainMs)).toEqual([25, 50, 100, 200]);
  });

  it.each([
    [30_000, 5],
    [600_000, 12],
  ])('grows: a query of %d ms needs at most %d questions, even with the smallest pauses', (queryMs, most) => {
    let calls = 0;
    for (let age = pace.nextAskMs(0, 0); age < queryMs; age += pace.nextAskMs(age, 0)) calls += 1;
    expect(calls).toBeLessThanOrEqual(most);
  });
});

describe('the pause before a request asks S3', () => {
  it.each<[string, (ms: number) => number, number[], number[]]>([
    ['result', (ms) => pace.nextResultLookMs(ms, 0), [0, 800, 2_000, 10_000, 6e4], [20, 36, 50, 190, 1_000]],
    ['large file', pace.nextFileLookMs, [0, 5_000, 60_000], [200, 500, 2_000]],
    ['record', (ms) => pace.nextRecordLookMs(ms, 0, 0.5), [0, 10_000, 60_000], [180, 505, 2_000]],
    ['record, at the least', (ms) => pace.nextRecordLookMs(ms, 0, 0), [0, 60_000], [162, 1_800]],
    ['record, at the most', (ms) => pace.nextRecordLookMs(ms, 0, 1), [0, 60_000], [198, 2_200]],
  ])('for a %s grows with the time that has passed', (_, pauseMs, times, pauses) => {
    expect(times.map((ms) => Math.round(pauseMs(ms)))).toEqual(pauses);
  });

  it('is longer when S3 is slow: twice as long as the last look for a result, five times for a record', () => {
    expect(pace.nextResultLookMs(2_000, 300)).toBe(600);
    expect(pace.nextRecordLookMs(2_000, 300, 0.5)).toBe(1_500);
  });

  it('for a slot shrinks from about two seconds to half a second as the caller’s time runs out', () => {
    expect([0, 0.5, 1].map((random) => pace.nextSlotLookMs(1_200_000, random))).toEqual([
      1_500, 2_000, 2_500,
    ]);
    expect([300_000, 1].map((leftMs) => pace.nextSlotLookMs(leftMs, 0.5))).toEqual([1_000, 500]);
  });
});
