import { FIRST_WAIT_MS } from '../function-settings.ts';

/**
 * How often a waiting request polls. Athena answers 100 GetQueryExecution a second for a whole account, S3 thousands of
 * calls a second for one prefix. So Athena is asked only a few times per query, and S3 is polled for the result, which
 * Athena writes at the query's end.
 */

/**
 * When to ask Athena next: after 2 to 4 seconds, then after intervals that grow with the query's age. During a query of
 * 30 s, Athena is asked five times at the most. Random, so that queries started together are not asked about together.
 *
 * @param ageMs since the query was started
 * @param random from 0 to 1
 */
export const nextAskMs = (ageMs: number, random: number): number =>
  (3_000 + 0.75 * ageMs) * (0.65 + 0.7 * random);

/**
 * When to ask Athena next once the result has appeared: Athena shows a query's end a moment after it has written the
 * result.
 *
 * @param times how often it has been asked since then
 */
export const askAgainMs = (times: number): number => 25 * 2 ** times;

/**
 * When to look next whether the result has appeared: every 20 to 50 ms in the first seconds, later so often that an end is
 * noticed within 2.5 % of the query's time (`npm run bench -- noticed`). Where S3 is slow, less often.
 *
 * @param tookMs how long S3 took to answer last
 */
export const nextResultLookMs = (ageMs: number, tookMs: number): number =>
  Math.max(2 * tookMs, Math.min(Math.max(20, Math.min(0.045 * ageMs, 50), 0.025 * ageMs - 60), 1_000));

/**
 * When one of many who wait reads the record next: less and less often as the query goes on, so that thousands may wait
 * for one report, and not all at the same instant. Where S3 is slow, less often too.
 *
 * @param ageMs since the query was started
 * @param tookMs how long S3 took to answer last
 */
export const nextRecordLookMs = (ageMs: number, tookMs: number, random: number): number =>
  Math.max(5 * tookMs, Math.min(Math.max(180, 0.07 * ageMs - 195), 2_000)) * (0.9 + 0.2 * random);

/**
 * When a request next looks for a free slot of its client: every two seconds while much time is left, every half second
 * when its caller's time is nearly up. So the caller that has waited longest most likely gets the next slot.
 */
export const nextSlotLookMs = (timeLeftMs: number, random: number): number =>
  Math.min(Math.max(500, timeLeftMs / 300), 2_000) * (0.75 + 0.5 * random);

/** When to look next for the file of a large report. */
export const nextFileLookMs = (waitedMs: number): number => Math.min(Math.max(200, 0.1 * waitedMs), 2_000);

/**
 * How long a request waits for its report. The first one waits only a short time, for clients with short time-outs;
 * every later one waits as long as it can, for clients that follow few redirects
 * (docs/decisions/0030-the-first-answer-within-eight-seconds.md).
 *
 * @param hop 0 for the request for the report itself, n for the nth in the waiting room
 * @param longestMs how long a request may wait at most
 */
export const hopWaitMs = (hop: number, longestMs: number): number =>
  hop === 0 ? Math.min(FIRST_WAIT_MS, longestMs) : longestMs;
