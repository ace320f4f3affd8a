import { type Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { QueryFailed } from '../delivery/deliver-report.ts';
import { METRIC } from '../metric-names.ts';
import type { LoggedFacts } from './request-log.ts';

/** Where the metrics go: Powertools' class fits. */
export type MetricSink = Pick<Metrics, 'addMetric' | 'publishStoredMetrics'>;

/** Counts one answer for the alarms and the dashboard. A query counts once, by the request that had it started. */
export function countAnswer(
  metrics: MetricSink,
  { isPublished, cacheStatus, bytesScanned, queryMs }: LoggedFacts,
  { status, error }: { readonly status: number | undefined; readonly error?: unknown },
): void {
  if (isPublished) metrics.addMetric(METRIC.reports, MetricUnit.Count, 1);
  if (isPublished && cacheStatus === 'miss') {
    metrics.addMetric(METRIC.bytesScanned, MetricUnit.Bytes, bytesScanned ?? 0);
    metrics.addMetric(METRIC.queryDuration, MetricUnit.Milliseconds, queryMs ?? 0);
  }
  if (status === 503) metrics.addMetric(METRIC.unavailable, MetricUnit.Count, 1);
  if (error instanceof QueryFailed) metrics.addMetric(METRIC.failedQueries, MetricUnit.Count, 1);
  metrics.publishStoredMetrics();
}
