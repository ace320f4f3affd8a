import { CancelUpdateStackCommand, type CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import { apiStackName, stackStatus } from '../api-stack.ts';
import type { Waits } from './ask-service.ts';
import type { DeploymentEnd } from './plan-rollback.ts';

/** The states of the stack in which CloudFormation may still move aliases. The clean-up after them moves none. */
const MOVING = /^UPDATE(_ROLLBACK)?_IN_PROGRESS$/;

/**
 * Stops the deployment that is under way, if any. Waits until CloudFormation moves no alias any more. Throws an
 * OperatorFault when there is no more time to wait.
 */
export async function stopDeployment(
  client: CloudFormationClient,
  stage: string,
  say: (...lines: readonly string[]) => void,
  { pause, mayWait }: Waits,
): Promise<DeploymentEnd> {
  const StackName = apiStackName(stage);
  let status = await stackStatus(client, stage);
  const isMoving = MOVING.test(status);
  if (status === 'UPDATE_IN_PROGRESS') {
    await client.send(new CancelUpdateStackCommand({ StackName })).catch(async (error: unknown) => {
      // The update may have ended meanwhile, which is no fault.
      if ((await stackStatus(client, stage)) === 'UPDATE_IN_PROGRESS') throw error;
    });
    say('A deployment was under way, and is stopped.');
  }
  if (isMoving) say(`Waits until CloudFormation has put the stack ${StackName} back.`);
  while (MOVING.test(status)) {
    if (!mayWait())
      throw new OperatorFault(
        `The stack ${StackName} is still in ${status}, and may move aliases. Repeat this command when it has ended.`,
      );
    await pause();
    status = await stackStatus(client, stage);
  }
  if (isMoving) say(`The stack stands in ${status}.`);
  if (status === 'UPDATE_ROLLBACK_FAILED')
    say(
      `CloudFormation could not put the stack ${StackName} back, and takes no deployment until that is done: see ` +
        '"the-stack-is-stuck" in docs/runbook.md. The aliases can be moved meanwhile.',
    );
  if (!status.startsWith('UPDATE_ROLLBACK')) return 'done';
  return isMoving ? 'stopped' : 'put-back';
}
