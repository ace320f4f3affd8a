/**
 * How often a waiting request polls. Athena answers 100 GetQueryExecution calls a second for a whole account, S3
 * thousands for one prefix. So Athena is asked a few times per query, and S3 is polled for the result. Times are
 * milliseconds. `random` is from 0 to 1: requests that began together do not poll together. `tookMs` is how long S3 took
 * to answer last: a slow S3 is polled less often.
 */

/** Before Athena is asked: 2 to 4 s at first, then longer: at most five times for a query of 30 s. */
export const nextAskMs = (ageMs: number, random: number): number =>
  (3_000 + 0.75 * ageMs) * (0.65 + 0.7 * random);

/** Before Athena is asked again after the result has appeared: it reports the query's end a moment later. */
export const askAgainMs = (timesAsked: number): number => 25 * 2 ** timesAsked;

/**
 * Before the next look for the result: 20 to 50 ms in the first seconds, later short enough to notice the query's end
 * within 2.5 % of the query's time (`npm run bench -- noticed`).
 */
export const nextResultLookMs = (ageMs: number, tookMs: number): number =>
  Math.max(2 * tookMs, Math.min(Math.max(20, Math.min(0.045 * ageMs, 50), 0.025 * ageMs - 60), 1_000));

/** Before the record is read again. It grows with the query's age, so that thousands may wait for one report. */
export const nextRecordLookMs = (ageMs: number, tookMs: number, random: number): number =>
  Math.max(5 * tookMs, Math.min(Math.max(180, 0.07 * ageMs - 195), 2_000)) * (0.9 + 0.2 * random);

/**
 * Before the next look for a free slot: 2 s while much time is left, half a second when the caller's time is nearly up.
 * So the caller that has waited longest most likely gets the next slot.
 */
export const nextSlotLookMs = (timeLeftMs: number, random: number): number =>
  Math.min(Math.max(500, timeLeftMs / 300), 2_000) * (0.75 + 0.5 * random);

/** Before the next look for the file of a large report. */
export const nextFileLookMs = (waitedMs: number): number => Math.min(Math.max(200, 0.1 * waitedMs), 2_000);
