import { setTimeout } from 'node:timers/promises';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { type LambdaClient, UpdateAliasCommand } from '@aws-sdk/client-lambda';
import { LIVE_ALIAS, resourceNames } from '../../infra/resource-names.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import { readStackRelease } from '../api-stack.ts';
import { type LiveFunction, readLiveFunctions, retryingLambda } from '../live-functions.ts';
import { parseOptions } from '../parse-options.ts';
import { readStageOutputs } from '../stage-outputs.ts';
import { untilAnswered } from './ask-service.ts';
import { commitNamed, commitToGoTo, type Move, planRollback, withDate } from './plan-rollback.ts';
import { stopDeployment } from './stop-deployment.ts';

const USAGE = 'npm run rollback -- <stage> [<commit>] [--url <address of the API>]';

/** How long the command waits, in milliseconds. */
const WAITS = {
  pause: 5_000,
  /** The longest wait until CloudFormation has put the stack back. */
  stack: 1_800_000,
  /** The longest wait until every route answers with the commit. */
  answers: 120_000,
};

/** Moves a stage's aliases to the previous release, or to a named one. Waits until the routes answer with it. */
export async function rollbackCommand(
  args: readonly string[],
  say: (...lines: readonly string[]) => void,
  waits: typeof WAITS = WAITS,
): Promise<void> {
  const { values, positionals } = parseOptions({
    args: [...args],
    options: { url: { type: 'string' } },
    allowPositionals: true,
  });
  const [stage, given, ...more] = positionals;
  if (stage === undefined || more.length > 0) throw new OperatorFault(USAGE);
  const began = Date.now();
  const seconds = () => `${Math.round((Date.now() - began) / 1_000)} s`;
  const within = (ms: number) => {
    const until = Date.now() + ms;
    return { pause: () => setTimeout(waits.pause), mayWait: () => Date.now() < until };
  };

  const { apiUrl } = await readStageOutputs(stage);
  const client = new CloudFormationClient({});
  const lambda = retryingLambda();
  const look = () => readLiveFunctions(lambda, stage);
  // The commit is checked first, so that a command with an unknown commit does not stop a running deployment.
  if (given !== undefined) commitNamed(await look(), given);
  const { shiftGroups } = await readStackRelease(client, stage);
  const end = await stopDeployment({ stage, client, shiftGroups, say, ...within(waits.stack) });

  const functions = await look();
  if (end === 'stopped' && functions.length === 0)
    return say(`Stage ${stage} is as it was before that deployment: a release without aliases.`);
  const { versions } = await readStackRelease(client, stage);
  const to =
    given === undefined
      ? commitToGoTo(functions, (name) => versions.get(resourceNames(stage).functionName(name)), end)
      : commitNamed(functions, given);
  const { from, moves, left } = planRollback(functions, to);
  const target = withDate(functions, to);
  if (moves.length === 0) {
    say(`Stage ${stage} is at ${target} already.`);
    if (given === undefined) say('Name a commit to go elsewhere.');
  } else {
    const origin = from.map((commit) => withDate(functions, commit)).join(' and ') || 'another version of it';
    say(`Stage ${stage} goes from ${origin} to ${target}.`);
  }
  for (const name of left) say(`${name} has no version of ${to}: it stays as it is.`);
  const failed = await moveAll(lambda, stage, moves);
  const moved = moves.filter(({ name }) => !failed.has(name)).map(({ name }) => name);
  if (moved.length > 0) say(`Moved: ${moved.join(', ')}.`);
  for (const [name, reason] of failed) say(`NOT moved: ${name}: ${reason}`);

  const there = functions.map(({ name }) => name).filter((name) => !left.includes(name) && !failed.has(name));
  await untilAnswered(values.url ?? apiUrl, to, there, within(waits.answers));
  const again = planRollback(await look(), to).moves.map(({ name }) => name);
  if (again.length > 0)
    throw new OperatorFault(
      `Not at ${to}: ${again.join(', ')}. Repeat this command: it finishes what is half done.`,
    );
  say(
    `${left.length > 0 ? 'The others are' : 'Every function is'} at ${to}, and their routes answer with it, after ${seconds()}.`,
    ...goOn(stage, to, from, shiftGroups.length > 0),
  );
}

/** Moves all aliases at the same time. Resolves to the functions whose alias could not be moved, with the reason. */
async function moveAll(
  lambda: LambdaClient,
  stage: string,
  moves: readonly Move[],
): Promise<ReadonlyMap<LiveFunction['name'], string>> {
  const failed = new Map<string, string>();
  await Promise.all(
    moves.map(({ name, version }) =>
      lambda
        .send(
          new UpdateAliasCommand({
            FunctionName: resourceNames(stage).functionName(name),
            Name: LIVE_ALIAS,
            FunctionVersion: String(version),
            RoutingConfig: { AdditionalVersionWeights: {} },
          }),
        )
        .catch((error: Error) => void failed.set(name, `${error.name}: ${error.message}`)),
    ),
  );
  return failed;
}

const goOn = (stage: string, to: string, [latest]: readonly string[], isShifting: boolean): string[] => [
  'Not gone back: tables, roles, routes, alarms and settings of the stacks. Environment variables are: each version has its own.',
  `To go on, mend the fault and deploy: npx cdk deploy --all -c stage=${stage}${isShifting ? ' -c shift=no' : ''}`,
  `If that deployment fails, CloudFormation puts back what it knows, not this. Then again: npm run rollback -- ${stage} ${to}`,
  ...(latest === undefined ? [] : [`To undo this: npm run rollback -- ${stage} ${latest}`]),
];
