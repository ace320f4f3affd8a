import { expect, it } from 'vitest';
import { hopWaitMs } from '../../../lib/delivery/pace.ts';

it.each([
  [0, 25_000, 8_000],
  [1, 25_000, 25_000],
  [2, 25_000, 25_000],
  [999_999, 25_000, 25_000],
  [0, 400, 400],
  [1, 400, 400],
])('request %i of a caller, with at most %i ms to wait, waits %i ms', (hop, longestMs, expected) => {
  expect(hopWaitMs(hop, longestMs)).toBe(expected);
});

it('a caller gets the first answer within 10 s, and can wait 80 s by following 4 redirects', () => {
  // The first three redirects lead to waiting hops. The fourth one leads to the file.
  const waits = [0, 1, 2, 3].map((hop) => hopWaitMs(hop, 25_000));
  expect(waits.reduce((sum, ms) => sum + ms)).toBeGreaterThan(80_000);
  expect(waits[0]).toBeLessThan(10_000);
});
