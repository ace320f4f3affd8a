import { type Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { METRIC } from '../metric-names.ts';
import type { LoggedFacts } from './logged-facts.ts';

/** Takes the metrics. Powertools' class has this type. */
export type MetricSink = Pick<Metrics, 'addMetric' | 'publishStoredMetrics'>;

/**
 * Counts one answer for the alarms and the dashboard. A query is counted once, by the request that recorded its end.
 * The query's cost is in Athena's own metrics.
 *
 * @param answer `endsReport`: whether an error of this route ends a report that a partner requested
 */
export function countAnswer(
  metrics: MetricSink,
  { isReady, finishedQueries = [] }: LoggedFacts,
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
  if (status === 503) counted.push([METRIC.unavailable, MetricUnit.Count, 1]);
  if (counted.length === 0) return;
  for (const [name, unit, value] of counted) metrics.addMetric(name, unit, value);
  metrics.publishStoredMetrics();
}
