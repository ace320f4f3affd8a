import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { resourceNames } from '../../infra/resource-names.ts';
import { readStackVersions, stackStatus } from '../api-stack.ts';
import { type LiveFunction, readLiveFunctions, retryingLambda } from '../live-functions.ts';
import type { Finding } from './diagnose.ts';

/** Compares the aliases of a stage with its stack. Finds nothing if the stage is not deployed. */
export async function readMovedAliases(stage: string): Promise<Finding[]> {
  const functions = await readLiveFunctions(retryingLambda(), stage);
  if (functions.length === 0) return [];
  const client = new CloudFormationClient({});
  // A deployment that is under way moves aliases itself, so a difference is then no fault.
  if ((await stackStatus(client, stage)).endsWith('_IN_PROGRESS')) return [];
  return findMovedAliases(stage, functions, await readStackVersions(client, stage));
}

/** Finds aliases that lead to another version than the stack holds. CloudFormation does not notice such a move. */
function findMovedAliases(
  stage: string,
  functions: readonly LiveFunction[],
  stackVersions: ReadonlyMap<string, number>,
): Finding[] {
  const moved = functions.flatMap(({ name, versions, live }) => {
    const deployed = stackVersions.get(resourceNames(stage).functionName(name));
    if (deployed === undefined || live === deployed) return [];
    const told = (number: number) =>
      `${number} (${versions.find((version) => version.number === number)?.release ?? '?'})`;
    return `  ${name}: ${told(live)}, deployed: ${told(deployed)}`;
  });
  if (moved.length === 0) return [];
  return [
    {
      finding: [
        'These aliases lead elsewhere than CloudFormation knows: a release was taken back.',
        ...moved,
      ].join('\n'),
      remedy: 'Nothing to do: the next release moves them. To deploy the same release again changes nothing.',
    },
  ];
}
