import {
  type CloudFormationClient,
  DescribeStacksCommand,
  paginateListStackResources,
} from '@aws-sdk/client-cloudformation';
import { resourceNames } from '../infra/resource-names.ts';

export const apiStackName = (stage: string): string => `${resourceNames(stage).service}-api`;

/**
 * The version of each function that a stage's API stack holds since its last deployment, by the function's whole name.
 * Fails if the stage is not deployed.
 */
export async function readStackVersions(
  client: CloudFormationClient,
  stage: string,
): Promise<ReadonlyMap<string, number>> {
  const versions = new Map<string, number>();
  for (const arn of await stackResources(client, apiStackName(stage), 'AWS::Lambda::Version')) {
    // arn:aws:lambda:<region>:<account>:function:<name>:<version>
    const [version, name = ''] = arn.split(':').reverse();
    versions.set(name, Number(version));
  }
  return versions;
}

/** The ids of the resources of one type that a stack holds. */
export async function stackResources(
  client: CloudFormationClient,
  StackName: string,
  type: string,
): Promise<string[]> {
  const ids: string[] = [];
  // The list may still name versions of earlier deployments. Lambda keeps them, but the stack no longer holds them.
  for await (const { StackResourceSummaries = [] } of paginateListStackResources({ client }, { StackName }))
    for (const { ResourceType, ResourceStatus, PhysicalResourceId = '' } of StackResourceSummaries)
      if (ResourceType === type && !ResourceStatus?.startsWith('DELETE_')) ids.push(PhysicalResourceId);
  return ids;
}

/** The status of a stage's API stack, such as `UPDATE_IN_PROGRESS`. */
export async function stackStatus(client: CloudFormationClient, stage: string): Promise<string> {
  const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: apiStackName(stage) }));
  return Stacks?.[0]?.StackStatus ?? '';
}
