import { CodeDeployClient, PutLifecycleEventHookExecutionStatusCommand } from '@aws-sdk/client-codedeploy';
import type { TellDeployment } from '../probe/release-check-handler.ts';

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
