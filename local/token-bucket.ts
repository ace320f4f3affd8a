/** A rate limit: calls per second, and the burst that is allowed after a quiet time. */
export interface CallRate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Returns a function that says for each call whether the call is within the rate. `now` is in milliseconds. */
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
