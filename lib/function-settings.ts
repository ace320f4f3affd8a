import { reports } from './report/catalogue.ts';
import { daysFunction, NOT_FOUND_FUNCTION } from './routes.ts';

/**
 * Each function's time-out, memory and trigger. `infra/` deploys the functions with these settings; the one-machine stack
 * and the simulations run them with the same.
 */
export interface FunctionSettings {
  readonly timeoutSeconds: number;
  /** CPU comes with memory; 1,769 MB is one whole vCPU, and one thread uses no more. */
  readonly memoryMb: number;
  /**
   * What starts it: a request of a route or of no route; a new object under `publications/`; a publication that Lambda has
   * given up; a schedule; CodeDeploy, before a new release gets requests.
   */
  readonly trigger: 'request' | 'publication' | 'abandoned-publication' | 'schedule' | 'release';
}

/**
 * API Gateway's own limit. The time limits of a request, one inside the other: it waits for its query (`QUERY_WAIT_MS`, the
 * first request `FIRST_WAIT_MS`), ends its last calls to AWS (`LAST_CALLS_MS` later), stores the ticket (at
 * `QUERY_WAIT_MS` + `TICKET_MS`), and answers before the function's and then the gateway's time-out.
 */
export const GATEWAY_TIMEOUT_SECONDS = 29;

const REQUEST_TIMEOUT_SECONDS = 28;

/** The longest that a request waits for its query. */
export const QUERY_WAIT_MS = 25_000;

/** How long after its wait a request may still call AWS, to record how far the query has come. */
export const LAST_CALLS_MS = 1_500;

/** How long after the longest wait a request may take to store the ticket of the next waiting URL. */
export const TICKET_MS = 2_500;

/**
 * The longest that the first request of a report waits. Some HTTP clients give up after 10 s without an answer. This
 * wait, with the function's start before it and the answer after it, stays below 10 s. Most reports are ready within
 * it.
 */
export const FIRST_WAIT_MS = 8_000;

/** Lambda's own limit: a result of many gigabytes takes minutes to publish. */
export const PUBLISH_TIMEOUT_SECONDS = 900;

/** Lambda's pauses before it retries a function that failed on an event, such as a publication. */
export const RETRY_PAUSES_MS = [60_000, 120_000] as const;

/** For functions that verify signatures, compile queries or re-type reports. */
const WORKING_MB = 1_769;

/**
 * For functions that mostly wait, which costs by memory. They have less than a third of a vCPU, so the waiting room
 * takes longer than the report's function to make the largest report that is made at once (16 MB).
 */
const WAITING_MB = 512;

const reporting: FunctionSettings = {
  timeoutSeconds: REQUEST_TIMEOUT_SECONDS,
  memoryMb: WORKING_MB,
  trigger: 'request',
};

const waiting: FunctionSettings = { ...reporting, memoryMb: WAITING_MB };

/** Calls nothing slow: more time would only hide a fault. */
const answering: FunctionSettings = { ...waiting, timeoutSeconds: 10 };

/** Pulls a report as a partner does: a token, the waiting room, the file. */
const pulling = { timeoutSeconds: 200, memoryMb: 256 };

/** The settings by function name, which is the file's name in `functions/`. */
export const functionSettings: ReadonlyMap<string, FunctionSettings> = new Map<string, FunctionSettings>([
  ...reports.map((report) => [report.name, reporting] as const),
  ...reports.map((report) => [daysFunction(report), waiting] as const),
  ['downloads', waiting],
  ['openapi', answering],
  ['fields', answering],
  ['page', answering],
  [NOT_FOUND_FUNCTION, answering],
  ['publish', { timeoutSeconds: PUBLISH_TIMEOUT_SECONDS, memoryMb: WORKING_MB, trigger: 'publication' }],
  // Two small calls to S3, and their repeats while S3 throttles.
  ['abandon', { timeoutSeconds: 60, memoryMb: WAITING_MB, trigger: 'abandoned-publication' }],
  ['probe', { ...pulling, trigger: 'schedule' }],
  ['release-check', { ...pulling, trigger: 'release' }],
]);

/** The one function that something else than a request starts. Throws a TypeError if there is no such function. */
export function functionStartedBy(trigger: Exclude<FunctionSettings['trigger'], 'request'>): string {
  for (const [name, settings] of functionSettings) if (settings.trigger === trigger) return name;
  throw new TypeError(`lib/function-settings.ts has no function that starts with a ${trigger}`);
}

/** A function's settings. Throws a TypeError where there is no such function. */
export function settingsOf(functionName: string): FunctionSettings {
  const settings = functionSettings.get(functionName);
  if (!settings) throw new TypeError(`lib/function-settings.ts has no function ${functionName}`);
  return settings;
}
