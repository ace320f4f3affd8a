/**
 * Whether something that dates from `at` is younger than `limitMs`. False if `at` is in the future: the clock was set
 * back, so the age is not known, and nothing may be kept for longer than its limit. Times are milliseconds since 1970.
 */
export const isYounger = (at: number, limitMs: number, now: number): boolean =>
  at <= now && now - at < limitMs;
