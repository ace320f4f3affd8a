import { MetricUnit } from '@aws-lambda-powertools/metrics';
import type { DeploymentHook, TellDeployment } from '../aws/tell-deployment.ts';
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

/**
 * Pulls a report from a new release before any request reaches the release, and tells CodeDeploy whether the report
 * came. If it did not, CodeDeploy stops the release. Also resolves to the outcome, for an operator who invokes the
 * function by hand.
 */
export function releaseCheckHandler({
  pull,
  tell,
  log,
}: {
  /** Resolves to the number of rows. Rejects if a function does not answer, or if the report does not come. */
  readonly pull: () => Promise<number>;
  readonly tell: TellDeployment;
  readonly log: LineLog;
}) {
  return async (hook: Partial<DeploymentHook>): Promise<{ readonly status: 'Succeeded' | 'Failed' }> => {
    const began = Date.now();
    const durationMs = () => Date.now() - began;
    const status = await pull().then(
      (rows) => {
        log.info('release-check', { isPulled: true, rows, durationMs: durationMs() });
        return 'Succeeded' as const;
      },
      (error: unknown) => {
        log.error('release-check', { isPulled: false, durationMs: durationMs(), error });
        return 'Failed' as const;
      },
    );
    const { DeploymentId, LifecycleEventHookExecutionId } = hook;
    if (DeploymentId !== undefined && LifecycleEventHookExecutionId !== undefined)
      await tell({ DeploymentId, LifecycleEventHookExecutionId }, status);
    return { status };
  };
}
