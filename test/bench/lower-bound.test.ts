import { describe, expect, it } from 'vitest';
import { inOrderOfArrival, lowerBound, type NarrowPlaces } from '../../bench/rush/lower-bound.ts';

const wide: NarrowPlaces = {
  slots: 1_000,
  startsPerSecond: 1_000,
  startsAtOnce: 1_000,
  requestsPerSecond: 1_000,
  requestsAtOnce: 1_000,
};
const reports = (count: number, asked: number, engineSeconds: number) =>
  Array.from({ length: count }, () => ({ asked, engineSeconds }));

describe('the lower bound for the time of a rush of requests', () => {
  it.each([
    ['one report by itself', [...reports(3, 0, 1), { asked: 50, engineSeconds: 7 }], {}, 57],
    ['the engine’s slots', reports(10, 5, 4), { slots: 2 }, 5 + 20],
    ['the starts of queries', reports(100, 5, 0.1), { startsPerSecond: 2, startsAtOnce: 10 }, 5 + 45],
    ['the gateway’s rate', reports(100, 5, 0.1), { requestsPerSecond: 3, requestsAtOnce: 10 }, 5 + 30],
    // A report that is requested long before the others does not delay them.
    ['the engine’s slots', [...reports(1, 0, 1), ...reports(10, 100, 4)], { slots: 2 }, 120],
  ])('is set by %s', (because, demands, places, seconds) => {
    expect(lowerBound(demands, { ...wide, ...places })).toEqual({ seconds, because });
  });
});

describe('a queue in order of arrival', () => {
  it.each([
    ['the slots', reports(10, 5, 4), { slots: 2 }, 25],
    ['the starts of queries', reports(11, 0, 1), { startsPerSecond: 2, startsAtOnce: 1 }, 5 + 1],
    [
      'a long query that arrives last',
      [...reports(2, 0, 4), { asked: 1, engineSeconds: 10 }],
      { slots: 2 },
      14,
    ],
  ])('takes the computed time when it is limited by %s', (_, demands, places, seconds) => {
    expect(inOrderOfArrival(demands, { ...wide, ...places })).toBeCloseTo(seconds, 6);
  });
});
