const SETTLED_AFTER_MS = 48 * 3_600_000;

/**
 * Whether an answer that was queried then may still be given now. It may while it is young, and for good if the
 * window had been closed for 48 hours when it was queried: late events have come in by then. All times are
 * milliseconds since 1970; a longest age of 0 means that no answer is given twice.
 */
export function isFresh(queriedAt: number, windowEnd: number, maxAgeMs: number, now: number): boolean {
  if (maxAgeMs === 0) return false;
  return now - queriedAt <= maxAgeMs || queriedAt >= windowEnd + SETTLED_AFTER_MS;
}
