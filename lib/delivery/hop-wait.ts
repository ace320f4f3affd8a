import { FIRST_WAIT_MS } from '../names.ts';

/**
 * How long a request waits for its report. The first one waits only a short time, for clients with short time-outs;
 * every later one waits as long as it can, for clients that follow few redirects
 * (docs/decisions/0030-the-first-answer-within-eight-seconds.md).
 *
 * @param hop 0 for the request for the report itself, n for the nth in the waiting room
 * @param longestMs what the gateway leaves a request
 */
export const hopWaitMs = (hop: number, longestMs: number): number =>
  hop === 0 ? Math.min(FIRST_WAIT_MS, longestMs) : longestMs;
