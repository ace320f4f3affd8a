import { type Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { QueryFailed } from '../delivery/query-failed.ts';
import { METRIC } from '../metric-names.ts';
import type { LoggedFacts } from './logged-facts.ts';

/** Where the metrics go: Powertools' class fits. */
export type MetricSink = Pick<Metrics, 'addMetric' | 'publishStoredMetrics'>;

/** Counts one answer for the alarms and the dashboard. A query counts once, by the request that had it started. */
export function countAnswer(
  metrics: MetricSink,
  { isPublished, cacheStatus, bytesScanned, queryMs }: LoggedFacts,
  { status, error }: { readonly status: number | undefined; readonly error?: unknown },
): void {
  const counted: Parameters<MetricSink['addMetric']>[] = [];
  if (isPublished) counted.push([METRIC.reports, MetricUnit.Count, 1]);
  if (isPublished && cacheStatus === 'miss') {
    counted.push([METRIC.bytesScanned, MetricUnit.Bytes, bytesScanned ?? 0]);
    counted.push([METRIC.queryDuration, MetricUnit.Milliseconds, queryMs ?? 0]);
  }
  if (status === 503) counted.push([METRIC.unavailable, MetricUnit.Count, 1]);
  if (error instanceof QueryFailed) counted.push([METRIC.failedQueries, MetricUnit.Count, 1]);
  if (counted.length === 0) return;
  for (const [name, unit, value] of counted) metrics.addMetric(name, unit, value);
  metrics.publishStoredMetrics();
}
