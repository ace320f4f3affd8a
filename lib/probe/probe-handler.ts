import { MetricUnit } from '@aws-lambda-powertools/metrics';
import type { LineLog, MetricSink } from '../http/request-log.ts';
import { METRIC } from '../names.ts';

/**
 * Pulls a report from outside, on a schedule. Writes to the metrics whether the report came and how many rows it had.
 * It never throws, because Lambda would run it again after an error. The metric shows a failed pull.
 */
export function probeHandler({
  pull,
  log,
  metrics,
}: {
  readonly pull: () => Promise<number>;
  readonly log: LineLog;
  readonly metrics: MetricSink;
}) {
  return async (): Promise<void> => {
    const began = Date.now();
    const durationMs = () => Date.now() - began;
    try {
      const rows = await pull();
      metrics.addMetric(METRIC.probePulled, MetricUnit.Count, 1);
      metrics.addMetric(METRIC.probeRows, MetricUnit.Count, rows);
      log.info('probe', { isPulled: true, rows, durationMs: durationMs() });
    } catch (error) {
      metrics.addMetric(METRIC.probePulled, MetricUnit.Count, 0);
      log.error('probe', { isPulled: false, durationMs: durationMs(), error });
    }
    metrics.publishStoredMetrics();
  };
}
