import type { DeploymentHook, TellDeployment } from '../aws/tell-deployment.ts';
import type { LineLog } from '../http/request-log.ts';

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
