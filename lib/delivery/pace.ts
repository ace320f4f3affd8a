/**
 * How often a waiting request polls. Athena answers 100 GetQueryExecution calls a second for a whole account; S3
 * answers thousands of calls a second for one prefix. So Athena is asked only a few times per query, and S3 is polled
 * for the result, which Athena writes at the query's end.
 */

/**
 * The pause before Athena is asked next: 2 to 4 seconds at first, then longer as the query gets older. During a query
 * of 30 s, Athena is asked at most five times. The pause is random, so that Athena is not asked about many queries at
 * once if they were started together.
 *
 * @param ageMs the time since the query was started, in milliseconds
 * @param random from 0 to 1
 */
export const nextAskMs = (ageMs: number, random: number): number =>
  (3_000 + 0.75 * ageMs) * (0.65 + 0.7 * random);

/**
 * The pause before Athena is asked again after the result has appeared: Athena reports a query's end a moment after it
 * has written the result.
 *
 * @param times how often Athena has been asked since the result appeared
 */
export const askAgainMs = (times: number): number => 25 * 2 ** times;

/**
 * The pause before the next look for the result: 20 to 50 ms in the first seconds, later short enough to notice the
 * query's end within 2.5 % of the query's time (`npm run bench -- noticed`). If S3 is slow, the pause is longer.
 *
 * @param tookMs how long S3 took to answer last
 */
export const nextResultLookMs = (ageMs: number, tookMs: number): number =>
  Math.max(2 * tookMs, Math.min(Math.max(20, Math.min(0.045 * ageMs, 50), 0.025 * ageMs - 60), 1_000));

/**
 * The pause before a waiting request reads the record again. It grows with the query's age, so that thousands of
 * requests may wait for one report. It is random, so that these requests do not all read at the same instant. If S3 is
 * slow, the pause is longer.
 *
 * @param ageMs the time since the query was started, in milliseconds
 * @param tookMs how long S3 took to answer last
 */
export const nextRecordLookMs = (ageMs: number, tookMs: number, random: number): number =>
  Math.max(5 * tookMs, Math.min(Math.max(180, 0.07 * ageMs - 195), 2_000)) * (0.9 + 0.2 * random);

/**
 * The pause before a request looks again for a free slot of its client: two seconds while much time is left, half a
 * second when its caller's time is nearly up. So the caller that has waited longest most likely gets the next slot.
 */
export const nextSlotLookMs = (timeLeftMs: number, random: number): number =>
  Math.min(Math.max(500, timeLeftMs / 300), 2_000) * (0.75 + 0.5 * random);

/** The pause before the next look for the file of a large report. */
export const nextFileLookMs = (waitedMs: number): number => Math.min(Math.max(200, 0.1 * waitedMs), 2_000);
