import { expect, it } from 'vitest';
import { hopWaitMs } from '../../../lib/delivery/pace.ts';

it.each([
  [0, 25_000, 8_000],
  [1, 25_000, 25_000],
  [2, 25_000, 25_000],
  [999_999, 25_000, 25_000],
  [0, 400, 400],
  [1, 400, 400],
])('request %i waits, where at most %i ms are left, %i ms', (hop, longestMs, expected) => {
  expect(hopWaitMs(hop, longestMs)).toBe(expected);
});

it('answers first within 10 s, and lets a client that follows 4 redirects wait 80 s', () => {
  // The 4th redirect leads to the file: three are hops.
  const waits = [0, 1, 2, 3].map((hop) => hopWaitMs(hop, 25_000));
  expect(waits.reduce((sum, ms) => sum + ms)).toBeGreaterThan(80_000);
  expect(waits[0]).toBeLessThan(10_000);
});
