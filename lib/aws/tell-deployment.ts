import { CodeDeployClient, PutLifecycleEventHookExecutionStatusCommand } from '@aws-sdk/client-codedeploy';

/** CodeDeploy's event for a hook. */
export interface DeploymentHook {
  readonly DeploymentId: string;
  readonly LifecycleEventHookExecutionId: string;
}

export type TellDeployment = (hook: DeploymentHook, status: 'Succeeded' | 'Failed') => Promise<void>;

/** Tells CodeDeploy how a hook has ended. Throws the SDK's errors. */
export function deploymentTeller(client = new CodeDeployClient()): TellDeployment {
  return async ({ DeploymentId: deploymentId, LifecycleEventHookExecutionId }, status) => {
    await client.send(
      new PutLifecycleEventHookExecutionStatusCommand({
        deploymentId,
        lifecycleEventHookExecutionId: LifecycleEventHookExecutionId,
        status,
      }),
    );
  };
}
