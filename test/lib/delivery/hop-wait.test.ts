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
