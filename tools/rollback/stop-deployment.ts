import { CancelUpdateStackCommand, type CloudFormationClient } from '@aws-sdk/client-cloudformation';
import {
  CodeDeployClient,
  DeploymentAlreadyCompletedException,
  paginateListDeployments,
  StopDeploymentCommand,
} from '@aws-sdk/client-codedeploy';
import { resourceNames } from '../../infra/resource-names.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import { apiStackName, stackStatus } from '../api-stack.ts';
import type { DeploymentEnd } from './plan-rollback.ts';

/** The states of the stack in which CloudFormation may still move aliases. The clean-up after them moves none. */
const MOVING = /^UPDATE(_ROLLBACK)?_IN_PROGRESS$/;

export interface StopParts {
  readonly stage: string;
  readonly client: CloudFormationClient;
  /** CodeDeploy's deployment groups. */
  readonly shiftGroups: readonly string[];
  readonly say: (...lines: readonly string[]) => void;
  readonly pause: () => Promise<unknown>;
  /** Whether there is still time to wait for CloudFormation. */
  readonly mayWait: () => boolean;
}

/**
 * Stops the deployment that is under way, if any. Waits until CloudFormation moves no alias any more. Throws an
 * OperatorFault when there is no more time to wait.
 */
export async function stopDeployment({
  stage,
  client,
  shiftGroups,
  say,
  pause,
  mayWait,
}: StopParts): Promise<DeploymentEnd> {
  const stack = apiStackName(stage);
  let status = await stackStatus(client, stage);
  const isMoving = MOVING.test(status);
  if (status === 'UPDATE_IN_PROGRESS') {
    await stopShifts(resourceNames(stage).service, shiftGroups).catch((error: Error) =>
      say(`CodeDeploy does not stop its shift: ${error.name}: ${error.message}`),
    );
    await cancelUpdate(client, stage);
    say('A deployment was under way, and is stopped.');
  }
  if (isMoving) {
    say(`Waits until CloudFormation has put the stack ${stack} back.`);
    while (MOVING.test(status)) {
      if (!mayWait())
        throw new OperatorFault(
          `The stack ${stack} is still in ${status}, and may move aliases. Repeat this command when it has ended.`,
        );
      await pause();
      status = await stackStatus(client, stage);
    }
    say(`The stack stands in ${status}.`);
  }
  if (!status.startsWith('UPDATE_ROLLBACK')) return 'done';
  return isMoving ? 'stopped' : 'put-back';
}

/** Stops the running shifts of CodeDeploy, which then puts the aliases back. */
async function stopShifts(applicationName: string, groups: readonly string[]): Promise<void> {
  const client = new CodeDeployClient({});
  await Promise.all(
    groups.map(async (deploymentGroupName) => {
      for await (const { deployments = [] } of paginateListDeployments(
        { client },
        {
          applicationName,
          deploymentGroupName,
          includeOnlyStatuses: ['Created', 'Queued', 'InProgress', 'Ready'],
        },
      ))
        for (const deploymentId of deployments)
          await client
            .send(new StopDeploymentCommand({ deploymentId, autoRollbackEnabled: true }))
            .catch(unlessCompleted);
    }),
  );
}

function unlessCompleted(error: unknown): void {
  if (!(error instanceof DeploymentAlreadyCompletedException)) throw error;
}

async function cancelUpdate(client: CloudFormationClient, stage: string): Promise<void> {
  try {
    await client.send(new CancelUpdateStackCommand({ StackName: apiStackName(stage) }));
  } catch (error) {
    // The update may have ended meanwhile, or failed because its shift was stopped: that is no fault.
    if ((await stackStatus(client, stage)) === 'UPDATE_IN_PROGRESS') throw error;
  }
}
