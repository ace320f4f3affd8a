/** CodeDeploy's event for a hook. */
export interface DeploymentHook {
  readonly DeploymentId: string;
  readonly LifecycleEventHookExecutionId: string;
}

export type TellDeployment = (hook: DeploymentHook, status: 'Succeeded' | 'Failed') => Promise<void>;
