import { type Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import type { Refusal, Verdict } from '../access/whose-rows.ts';
import type { CacheStatus, DeliveryFacts, Wanted } from '../delivery/delivery.ts';
import { GATEWAY_TIMEOUT_SECONDS } from '../function-settings.ts';
import { METRIC } from '../names.ts';
import { Problem } from '../problems/problem.ts';
import { storedEntitlement } from '../report/entitlement.ts';
import { formatUtcTime, isYounger } from '../report/utc-time.ts';

export interface LoggedContext extends Context {
  readonly facts: LoggedFacts;
  /** When the request came to the gateway, in milliseconds since 1970. */
  readonly began: number;
}

export interface LineLog {
  info(message: string, facts: Record<string, unknown>): void;
  error(message: string, facts: Record<string, unknown>): void;
}

/**
 * Writes one line per request (who, what, outcome, durations), and counts the request. An error that is no
 * `Problem` is logged as an error. Headers, tokens, filter values and download URLs are never written.
 */
export function requestLog(
  log: LineLog,
  metrics: MetricSink,
  endsReport: boolean,
): MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult, Error, LoggedContext> {
  const end: ReturnType<typeof requestLog>['after'] = ({ event, context, response, error }) => {
    const { finishedQueries: ends, ...facts } = context.facts;
    const status = response?.statusCode;
    const line = {
      requestId: event.requestContext.requestId,
      status,
      durationMs: Date.now() - context.began,
      ...facts,
      // The queries whose end this request has recorded: each query is charged once, to one partner.
      ...(ends && {
        ends,
        endedQueries: ends.length,
        endedBytes: ends.reduce((sum, { bytesScanned }) => sum + bytesScanned, 0),
      }),
    };
    if (!error) log.info('request', line);
    else if (error instanceof Problem) log.info('request', { ...line, ...problemFacts(error) });
    else log.error('request', { ...line, error });
    countAnswer(metrics, context.facts, { status, endsReport });
  };
  return {
    before: ({ event, context }) => {
      // The arrival at the gateway, so that a cold start counts as waiting. An arrival before the gateway's time-out
      // comes from a wrong clock: then now.
      const { requestTimeEpoch: arrival } = event.requestContext;
      const now = Date.now();
      const began = isYounger(arrival, GATEWAY_TIMEOUT_SECONDS * 1_000, now) ? arrival : now;
      Object.assign(context, { facts: {}, began });
    },
    after: end,
    onError: end,
  };
}

/** For a 503 also the AWS call that failed. */
const problemFacts = ({ slug, cause }: Problem) => ({
  problem: slug,
  ...(cause instanceof Error && { cause: cause.message }),
});

export type MetricSink = Pick<Metrics, 'addMetric' | 'publishStoredMetrics'>;

/** Counts one answer, for alarms and dashboard; and each query in the request that recorded its end. */
export function countAnswer(
  metrics: MetricSink,
  { isReady, finishedQueries = [], throttledStarts }: LoggedFacts,
  { status = 500, endsReport }: { readonly status: number | undefined; readonly endsReport: boolean },
): void {
  const counted: Parameters<MetricSink['addMetric']>[] = [];
  // A report counts once, as failed or as delivered. If its URL could not be signed, it has failed.
  if (endsReport && status >= 500) counted.push([METRIC.failedReports, MetricUnit.Count, 1]);
  else if (isReady) counted.push([METRIC.reports, MetricUnit.Count, 1]);
  for (const { state, bytesScanned, queryMs } of finishedQueries) {
    counted.push([METRIC.bytesScanned, MetricUnit.Bytes, bytesScanned]);
    counted.push([METRIC.queryDuration, MetricUnit.Milliseconds, queryMs]);
    if (state === 'failed') counted.push([METRIC.failedQueries, MetricUnit.Count, 1]);
  }
  if (throttledStarts) counted.push([METRIC.throttledStarts, MetricUnit.Count, throttledStarts]);
  if (status === 503) counted.push([METRIC.unavailable, MetricUnit.Count, 1]);
  if (counted.length === 0) return;
  for (const [name, unit, value] of counted) metrics.addMetric(name, unit, value);
  metrics.publishStoredMetrics();
}

/** The only facts that a request's log line may hold beside those that `requestLog` always writes. */
export interface LoggedFacts extends DeliveryFacts {
  report?: string;
  /** The client's id. If the token names no client: the subject, or else `unnamed`. */
  client?: string;
  /** The client's name in the register of partners; the client id if it has no name there. */
  partner?: string;
  refusal?: Refusal;
  companies?: number | 'every-company';
  hop?: number;
  cacheStatus?: CacheStatus;
  /** How many times Athena throttled StartQueryExecution during this request. */
  throttledStarts?: number;
  /** The throttled AWS call because of which a waiting hop only led to the next one. */
  cause?: string;
  isReady?: boolean;
}

export function noteCaller(facts: LoggedFacts, verdict: Verdict): void {
  if (verdict.partner !== undefined) facts.partner = verdict.partner;
  if (verdict.state === 'refused') facts.refusal = verdict.refusal;
  else facts.companies = Array.isArray(verdict.entitlement) ? verdict.entitlement.length : 'every-company';
}

/**
 * The only facts that the audit line may hold: never filter values, the link or the file's key. `companies`: all whose
 * rows the caller may see, even if the request filters by only some of them.
 */
export const auditedFacts = (
  { client, partner }: LoggedFacts,
  { request: { report, requestedFields, window }, entitlement }: Wanted,
  { bytes, dataVersion }: { readonly bytes: number; readonly dataVersion?: string },
) => ({
  partner,
  client,
  report: report.name,
  startInclusive: formatUtcTime(window.start),
  endExclusive: formatUtcTime(window.end),
  requestedFields: requestedFields.map(({ name }) => name).join(','),
  dataVersion,
  companies: String(storedEntitlement(entitlement)),
  bytes,
});
