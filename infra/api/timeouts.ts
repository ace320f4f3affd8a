/** The order matters: a function must have time to answer after its query wait, and the gateway after the function. */

/** The longest that a request waits for its query. The first one of a report waits less: `lib/delivery/pace.ts`. */
export const QUERY_WAIT_MS = 25_000;

/** Leaves three seconds for the token's keys, the last poll and the answer. */
export const FUNCTION_TIMEOUT_SECONDS = 28;

/** API Gateway's own limit. */
export const GATEWAY_TIMEOUT_SECONDS = 29;

/** Lambda's own limit: a result of many gigabytes takes minutes to publish. */
export const PUBLISH_TIMEOUT_SECONDS = 900;

/** Two small calls to S3, and their repeats while S3 throttles. */
export const ABANDON_TIMEOUT_SECONDS = 60;

/** For functions that call nothing slow: more would only hide a fault. */
export const ANSWER_TIMEOUT_SECONDS = 10;

/** A token, a report that goes through the waiting room, and its file. */
export const PROBE_TIMEOUT_SECONDS = 200;
