import { describe, expect, it } from 'vitest';
import { isFresh } from '../../../lib/delivery/copy-freshness.ts';

const HOUR = 3_600_000;
const end = Date.UTC(2026, 1, 1);
const maxAgeMs = 300_000;

describe('isFresh', () => {
  it.each([
    ['of this moment', end, maxAgeMs, end, true],
    ['of the longest age', end, maxAgeMs, end + maxAgeMs, true],
    ['a moment older', end, maxAgeMs, end + maxAgeMs + 1, false],
    ['queried 48 hours after the window closed', end + 48 * HOUR, maxAgeMs, end + 1_000 * HOUR, true],
    ['queried a moment earlier', end + 48 * HOUR - 1, maxAgeMs, end + 1_000 * HOUR, false],
    ['of this moment, where answers are given once', end, 0, end, false],
    ['of a settled window, where answers are given once', end + 100 * HOUR, 0, end + 100 * HOUR, false],
  ])('an answer %s', (_, queriedAt, maxAge, now, expected) => {
    expect(isFresh(queriedAt, end, maxAge, now)).toBe(expected);
  });
});
