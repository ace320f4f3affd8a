/** So many calls a second, and so many at once after a quiet time. */
export interface CallRate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Tells, call by call, whether it is within the rate. The clock is in milliseconds. */
export function tokenBucket(
  { perSecond, burst }: CallRate,
  now: () => number = () => performance.now(),
): () => boolean {
  let tokens = burst;
  let filledAt = now();
  return () => {
    const at = now();
    tokens = Math.min(burst, tokens + ((at - filledAt) / 1_000) * perSecond);
    filledAt = at;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
