/** `npm run rollback -- <stage> [<commit>]`: moves the functions' aliases to an earlier release, or forward again. */
import { setTimeout } from 'node:timers/promises';
import { CancelUpdateStackCommand, CloudFormationClient } from '@aws-sdk/client-cloudformation';
import {
  CreateAliasCommand,
  DeleteAliasCommand,
  type LambdaClient,
  ResourceConflictException,
  UpdateAliasCommand,
} from '@aws-sdk/client-lambda';
import { LIVE_ALIAS, resourceNames } from '../infra/resource-names.ts';
import { PUBLIC_FUNCTION, routes } from '../lib/routes.ts';
import { OperatorFault, reportingFaults, say } from '../lib/terminal/operator-fault.ts';
import { readLiveFunctions, retryingLambda, takenBackAlias } from './live-functions.ts';
import { parseOptions, TEXT, wordsOf } from './parse-options.ts';
import { askService, type Waits } from './rollback/ask-service.ts';
import {
  type DeploymentEnd,
  planRollback,
  releaseNamed,
  releaseToGoTo,
  type Step,
  withDate,
} from './rollback/plan-rollback.ts';
import { apiStackName, readStackVersions, readStageOutputs, stackStatus } from './stage-stacks.ts';

const USAGE = 'npm run rollback -- <stage> [<release>] [--url <address of the API>]';

/** How long the command waits, in milliseconds. */
const WAITS = {
  pause: 2_000,
  /** The longest wait until CloudFormation has put the stack back. */
  stack: 1_800_000,
  /** The longest wait for answers with the release. All that the command does besides takes some seconds. */
  answers: 30_000,
};

/** Moves a stage's aliases to the release that was live before, or to a named one, and asks the routes for it. */
export async function rollbackCommand(
  args: readonly string[],
  tell: typeof say,
  waits: typeof WAITS = WAITS,
): Promise<void> {
  const { values, positionals } = parseOptions(args, { url: TEXT });
  const [stage, given] = wordsOf(positionals, USAGE, 2);
  const within = (ms: number) => {
    const until = Date.now() + ms;
    return { pause: () => setTimeout(waits.pause), mayWait: () => Date.now() < until };
  };

  const { apiUrl } = await readStageOutputs(stage);
  const client = new CloudFormationClient({});
  const lambda = retryingLambda();
  const look = () => readLiveFunctions(lambda, stage);
  // The name is checked first, so that a command with an unknown release does not stop a running deployment.
  if (given !== undefined) releaseNamed(await look(), given);
  const end = await stopDeployment(client, stage, tell, within(waits.stack));

  const began = Date.now();
  const functions = await look();
  const versions = await readStackVersions(client, stage);
  const deployed = (name: string) => versions.get(resourceNames(stage).functionName(name));
  const to = given === undefined ? releaseToGoTo(functions, deployed, end) : releaseNamed(functions, given);
  const { from, steps, left } = planRollback(functions, to, deployed);
  const [target, ...origin] = [to, ...from].map((release) => withDate(functions, release));
  if (steps.some(({ isMoved }) => isMoved))
    tell(`Stage ${stage} goes from ${origin.join(' and ') || 'another version of it'} to ${target}.`);
  else tell(`Stage ${stage} is at ${target} already.`, ...(given ? [] : ['Name a release to go elsewhere.']));
  for (const { name, at } of left)
    tell(`${name} has no version of ${to}: it stays at ${at}${stillAnswering(name)}.`);
  const failed = new Map<string, string>();
  await Promise.all(
    steps.map((step) =>
      take(lambda, resourceNames(stage).functionName(step.name), step).catch(
        (error: Error) => void failed.set(step.name, `${error.name}: ${error.message}`),
      ),
    ),
  );
  const there = steps.map(({ name }) => name).filter((name) => !failed.has(name));
  const moved = steps.filter(({ name, isMoved }) => isMoved && !failed.has(name)).map(({ name }) => name);
  if (moved.length > 0) tell(`Moved: ${moved.join(', ')}.`);
  for (const [name, reason] of failed) tell(`FAILED: ${name}: ${reason}`);

  const { others, unheard } = await askService(values.url ?? apiUrl, to, there, within(waits.answers));
  const again = planRollback(await look(), to, deployed).steps.filter(
    ({ isMoved, marked, isUnmarked }) => isMoved || marked.length > 0 || isUnmarked,
  );
  if (unheard.length > 0)
    tell(
      `Not heard, because the gateway lets few requests in: ${unheard.join(', ')}. Their aliases are moved.`,
    );
  if (again.length === 0 && others.length === 0)
    tell(
      `${left.length > 0 ? 'The others are' : 'Every function is'} at ${to}, and ${unheard.length > 0 ? 'the other' : 'their'} routes answer with it, after ${Math.round((Date.now() - began) / 1_000)} s.`,
    );
  tell(...goOn(stage, to, from));
  if (again.length > 0)
    throw new OperatorFault(
      `Not at ${to}: ${again.map(({ name }) => name).join(', ')}. Repeat this command: it finishes what is half done.`,
    );
  if (others.length > 0)
    throw new OperatorFault(
      [`The aliases are moved, but these do not answer with ${to}:`, ...others].join('\n  '),
    );
}

/** The routes of a function that stays at its release, in words for the operator. */
function stillAnswering(functionName: string): string {
  const paths = routes.filter((route) => route.functionName === functionName).map(({ path }) => path);
  const others = functionName === PUBLIC_FUNCTION ? ' and every path without a route' : '';
  return paths.length === 0 ? '' : `, which goes on to answer ${paths.join(', ')}${others}`;
}

/** Moves the alias first, because callers wait for that. A command that is repeated makes the marks that are missing. */
async function take(
  lambda: LambdaClient,
  FunctionName: string,
  { version, isMoved, marked, isUnmarked }: Step,
): Promise<void> {
  const alias = (Name: string, number: number) => ({ FunctionName, Name, FunctionVersion: String(number) });
  if (isMoved) {
    const RoutingConfig = { AdditionalVersionWeights: {} };
    await lambda.send(new UpdateAliasCommand({ ...alias(LIVE_ALIAS, version), RoutingConfig }));
  }
  for (const number of marked)
    await lambda
      .send(new CreateAliasCommand(alias(takenBackAlias(number), number)))
      .catch((error: unknown) => {
        // Another command has made it meanwhile.
        if (!(error instanceof ResourceConflictException)) throw error;
      });
  if (isUnmarked) await lambda.send(new DeleteAliasCommand({ FunctionName, Name: takenBackAlias(version) }));
}

const goOn = (stage: string, to: string, [latest]: readonly string[]): string[] => [
  "Gone back: each function's code, memory, time-out and environment, with the settings that it holds: limits of queries, life " +
    'of links, entitlements, whether links lead to the edge. Not gone back: all else of the stacks, such as tables, roles, ' +
    'routes, executions, alarms, the firewall and the domain.',
  `To go on, mend the fault and deploy: npx cdk deploy --all -c stage=${stage}`,
  `If that deployment fails, CloudFormation puts back what it knows, not this. Then again: npm run rollback -- ${stage} ${to}`,
  ...(latest === undefined ? [] : [`To undo this: npm run rollback -- ${stage} ${latest}`]),
];

/** The states of the stack in which CloudFormation may still move aliases. The clean-up after them moves none. */
const MOVING = /^UPDATE(_ROLLBACK)?_IN_PROGRESS$/;

/**
 * Stops the deployment that is under way, if any. Waits until CloudFormation moves no alias any more. Throws an
 * OperatorFault when there is no more time to wait.
 */
async function stopDeployment(
  client: CloudFormationClient,
  stage: string,
  tell: typeof say,
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
    tell('A deployment was under way, and is stopped.');
  }
  if (isMoving) tell(`Waits until CloudFormation has put the stack ${StackName} back.`);
  while (MOVING.test(status)) {
    if (!mayWait())
      throw new OperatorFault(
        `The stack ${StackName} is still in ${status}, and may move aliases. Repeat this command when it has ended.`,
      );
    await pause();
    status = await stackStatus(client, stage);
  }
  if (isMoving) tell(`The stack stands in ${status}.`);
  if (status === 'UPDATE_ROLLBACK_FAILED')
    tell(
      `CloudFormation could not put the stack ${StackName} back, and takes no deployment until that is done: see ` +
        '"the-stack-is-stuck" in docs/runbook.md. The aliases can be moved meanwhile.',
    );
  if (!status.startsWith('UPDATE_ROLLBACK')) return 'done';
  return isMoving ? 'stopped' : 'put-back';
}

if (import.meta.main) await reportingFaults(() => rollbackCommand(process.argv.slice(2), say));
