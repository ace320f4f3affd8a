import { reports } from './report/catalogue.ts';
import { daysFunction, PUBLIC_FUNCTION } from './routes.ts';

/**
 * API Gateway's own limit. Before it, a request waits for its query (`QUERY_WAIT_MS`, the first one `FIRST_WAIT_MS`),
 * ends its last calls to AWS (`LAST_CALLS_MS` later), stores the ticket (by `QUERY_WAIT_MS` + `TICKET_MS`) and answers;
 * the function's time-out comes next.
 */
export const GATEWAY_TIMEOUT_SECONDS = 29;
export const QUERY_WAIT_MS = 25_000;
/** How long after its wait a request may still call AWS, to record how far the query has come. */
export const LAST_CALLS_MS = 1_500;
/** How long after the longest wait a request may take to store the ticket of the next waiting URL. */
export const TICKET_MS = 2_500;
/**
 * The longest that the first request of a report waits. Some HTTP clients give up after 10 s without an answer: this
 * wait, with the function's start before it and the answer after it, stays below that.
 */
export const FIRST_WAIT_MS = 8_000;
/** The least that a request waits, if this machine's clock is ahead and its time seems to be over. */
export const LEAST_WAIT_MS = 1_500;

/** The longest time-out that Lambda allows. A result of many gigabytes takes minutes to publish. */
export const PUBLISH_TIMEOUT_SECONDS = 900;

/** Lambda's pauses before it retries a function that failed on an event, such as a publication. */
export const RETRY_PAUSES_MS = [60_000, 120_000] as const;

/** For functions that compute. Lambda gives CPU in proportion to memory: this is one vCPU, all that a thread can use. */
const WORKING_MB = 1_769;
/** For functions that mostly wait, because Lambda charges for memory while they wait. It is a third of a vCPU. */
const WAITING_MB = 512;
const waiting = { timeoutSeconds: 28, memoryMb: WAITING_MB };

/** Each function's settings, on AWS, on one machine and in the simulations, by the file's name in `functions/`. */
export const functionSettings: Readonly<Record<string, typeof waiting>> = {
  ...Object.fromEntries(reports.map(({ name }) => [name, { timeoutSeconds: 28, memoryMb: WORKING_MB }])),
  ...Object.fromEntries(reports.map((report) => [daysFunction(report), waiting])),
  downloads: waiting,
  // It calls nothing slow. A longer time-out would only hide a fault.
  [PUBLIC_FUNCTION]: { timeoutSeconds: 10, memoryMb: WAITING_MB },
  publish: { timeoutSeconds: PUBLISH_TIMEOUT_SECONDS, memoryMb: WORKING_MB },
  // It makes two small calls to S3, and repeats them while S3 throttles.
  abandon: { timeoutSeconds: 60, memoryMb: WAITING_MB },
  // Both pull a report as a partner does: a token, the waiting room, the file. The check asks each new version first,
  // and waits while Lambda throttles.
  probe: { timeoutSeconds: 200, memoryMb: 256 },
  'release-check': { timeoutSeconds: 300, memoryMb: 256 },
};

/** A function's settings. Throws a TypeError if there is no such function. */
export function settingsOf(functionName: string): typeof waiting {
  const settings = functionSettings[functionName];
  if (!settings) throw new TypeError(`lib/function-settings.ts has no function ${functionName}`);
  return settings;
}
