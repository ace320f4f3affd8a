import { type Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { METRIC } from '../metric-names.ts';
import type { LoggedFacts } from './logged-facts.ts';

/** Where the metrics go: Powertools' class fits. */
export type MetricSink = Pick<Metrics, 'addMetric' | 'publishStoredMetrics'>;

/**
 * Counts one answer for the alarms and the dashboard. A query counts once, by the request that recorded its end; what
 * it cost is Athena's own metric.
 *
 * @param answer `endsReport`: whether an error of this route is the end of a report that a partner requested
 */
export function countAnswer(
  metrics: MetricSink,
  { isReady, finishedQueries = [] }: LoggedFacts,
  { status = 500, endsReport }: { readonly status: number | undefined; readonly endsReport: boolean },
): void {
  const counted: Parameters<MetricSink['addMetric']>[] = [];
  // A report has one end. One that was ready, but whose link could not be signed, is not delivered.
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
