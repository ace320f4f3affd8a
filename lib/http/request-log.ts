import { type Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { GATEWAY_TIMEOUT_SECONDS } from '../function-settings.ts';
import { METRIC } from '../names.ts';
import { Problem } from '../problems/problem.ts';
import type { LoggedFacts } from './logged-facts.ts';

export interface LoggedContext extends Context {
  readonly facts: LoggedFacts;
  /** When the request came to the gateway, in milliseconds since 1970. */
  readonly began: number;
}

/** Writes the log lines. Powertools' logger has this type. */
export interface LineLog {
  info(message: string, facts: Record<string, unknown>): void;
  error(message: string, facts: Record<string, unknown>): void;
}

/**
 * Writes one line per request (who, what, outcome, durations), and counts the request. An error that is no
 * `Problem` is logged as an error. Headers, tokens, filter values and download URLs are never written.
 *
 * @param endsReport whether an error of this route means that a report has failed
 */
export function requestLog(
  log: LineLog,
  metrics: MetricSink,
  endsReport: boolean,
): MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult, Error, LoggedContext> {
  return {
    before: (request) => {
      const began = beganAt(request.event.requestContext.requestTimeEpoch, Date.now());
      Object.assign(request.context, { facts: {}, began });
    },
    after: ({ event, context, response }) => {
      log.info('request', line(event, context, response));
      countAnswer(metrics, context.facts, { status: response?.statusCode, endsReport });
    },
    onError: ({ event, context, response, error }) => {
      const facts = line(event, context, response);
      if (error instanceof Problem) log.info('request', { ...facts, ...problemFacts(error) });
      else log.error('request', { ...facts, error });
      countAnswer(metrics, context.facts, { status: response?.statusCode, endsReport });
    },
  };
}

/** API Gateway ends a request after this time. An older time of arrival comes from a wrong clock. */
const LONGEST_REQUEST_MS = GATEWAY_TIMEOUT_SECONDS * 1_000;

/** When a request reached the gateway, so that a cold start counts as waiting. If implausible: now. */
const beganAt = (gatewayTime: number, now: number): number =>
  gatewayTime <= now && now - gatewayTime < LONGEST_REQUEST_MS ? gatewayTime : now;

/** The kind of the problem; for a 503 also the AWS call that failed. */
const problemFacts = ({ slug, cause }: Problem) => ({
  problem: slug,
  ...(cause instanceof Error && { cause: cause.message }),
});

const line = (
  event: APIGatewayProxyEvent,
  { facts: { finishedQueries: ends, ...facts }, began }: LoggedContext,
  response: APIGatewayProxyResult | null | undefined,
) => ({
  requestId: event.requestContext.requestId,
  status: response?.statusCode,
  durationMs: Date.now() - began,
  ...facts,
  ...(ends && { ends }),
  // The queries whose end this request has recorded: each query is charged once, to one partner.
  ...(ends?.length && {
    endedQueries: ends.length,
    endedBytes: ends.reduce((sum, { bytesScanned }) => sum + bytesScanned, 0),
  }),
});

/** Takes the metrics. Powertools' class has this type. */
export type MetricSink = Pick<Metrics, 'addMetric' | 'publishStoredMetrics'>;

/**
 * Counts one answer for the alarms and the dashboard. A query is counted once, by the request that recorded its end.
 * The query's cost is in Athena's own metrics.
 */
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
