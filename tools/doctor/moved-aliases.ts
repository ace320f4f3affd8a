import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { resourceNames } from '../../infra/resource-names.ts';
import { readStackRelease, type StackRelease, stackStatus } from '../api-stack.ts';
import { type LiveFunction, readLiveFunctions, retryingLambda } from '../live-functions.ts';
import type { Finding } from './diagnose.ts';

/** Compares the aliases of a stage with its stack. Finds nothing if the stage is not deployed. */
export async function readMovedAliases(stage: string): Promise<Finding[]> {
  const functions = await readLiveFunctions(retryingLambda(), stage);
  if (functions.length === 0) return [];
  const client = new CloudFormationClient({});
  // A deployment that is under way moves aliases itself, so a difference is then no fault.
  if ((await stackStatus(client, stage)).endsWith('_IN_PROGRESS')) return [];
  return findMovedAliases(stage, functions, await readStackRelease(client, stage));
}

/** Finds aliases that lead to another version than the stack holds. CloudFormation does not notice such a move. */
export function findMovedAliases(
  stage: string,
  functions: readonly LiveFunction[],
  { versions, shiftGroups }: StackRelease,
): Finding[] {
  const moved = functions.flatMap(({ name, versions: published, live }) => {
    const deployed = versions.get(resourceNames(stage).functionName(name));
    if (deployed === undefined || (live.length === 1 && live[0] === deployed)) return [];
    const commitOf = (number: number) =>
      published.find((version) => version.number === number)?.commit ?? '?';
    const told = (number: number) => `${number} (${commitOf(number)})`;
    return { name, line: `  ${name}: ${live.map(told).join(' and ')}, deployed: ${told(deployed)}` };
  });
  const isShifted = moved.some(({ name }) => shiftGroups.includes(resourceNames(stage).functionName(name)));
  if (moved.length === 0) return [];
  return [
    {
      finding: [
        'These aliases lead elsewhere than CloudFormation knows: a release was taken back.',
        ...moved.map(({ line }) => line),
      ].join('\n'),
      remedy: isShifted
        ? `CodeDeploy refuses to move them. Deploy the next release with: npx cdk deploy --all -c stage=${stage} -c shift=no`
        : 'Nothing to do: the next release moves them. To deploy the same release again changes nothing.',
    },
  ];
}
