import {
  CloudFormationClient,
  DescribeStacksCommand,
  paginateListStackResources,
  type Stack,
} from '@aws-sdk/client-cloudformation';
import { resourceNames } from '../infra/resource-names.ts';
import { OperatorFault } from '../lib/terminal/operator-fault.ts';

/** The outputs of a stage's deployed stacks. */
export interface StageOutputs {
  readonly partnersBucket: string;
  /** The Cognito user pool. Undefined if the stage uses another identity provider. */
  readonly userPoolId: string | undefined;
  readonly apiUrl: string;
  readonly tokenUrl: string;
  /** The scope with which tokens must be requested. */
  readonly scope: string;
}

const STAGE = /^[a-z][a-z0-9-]{0,15}$/;

/** Reads a stage's outputs. Throws an OperatorFault if the stage or its register of partners is not deployed. */
export async function readStageOutputs(stage: string): Promise<StageOutputs> {
  if (!STAGE.test(stage))
    throw new OperatorFault(
      `"${stage}" is no stage. A stage's name has lower case letters, digits and hyphens.`,
    );
  const { service } = resourceNames(stage);
  const client = new CloudFormationClient({});
  const [data, identity, api] = await Promise.all(
    ['data', 'identity', 'api'].map((part) => outputsOf(client, `${service}-${part}`)),
  );
  const region = await client.config.region();
  if (!data || !api)
    throw new OperatorFault(
      `There is no stage "${stage}" in this account and ${region}: the stack ${service}-${data ? 'api' : 'data'} is ` +
        'missing. Check the name, AWS_REGION and AWS_PROFILE, or deploy the stage first.',
    );
  const partnersBucket = data.get('PartnersBucket');
  if (partnersBucket === undefined)
    throw new OperatorFault(
      `Stage "${stage}" was deployed by a version without a register. Deploy this one first.`,
    );
  return {
    partnersBucket,
    userPoolId: identity?.get('UserPoolId'),
    apiUrl: api.get('ApiUrl') ?? '',
    tokenUrl: (identity ?? api).get('TokenUrl') ?? '',
    scope: api.get('Scope') ?? '',
  };
}

/** The outputs of a stack. Undefined if the stack does not exist. */
async function outputsOf(
  client: CloudFormationClient,
  StackName: string,
): Promise<ReadonlyMap<string, string> | undefined> {
  const stack = await describeStack(client, StackName).catch((error: Error) => {
    // CloudFormation has no error class for a missing stack. Only the message shows it.
    if (error.name !== 'ValidationError' || !/does not exist/.test(error.message)) throw error;
    return undefined;
  });
  const { Outputs = [] } = stack ?? {};
  return stack && new Map(Outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]));
}

const describeStack = async (client: CloudFormationClient, StackName: string): Promise<Partial<Stack>> =>
  (await client.send(new DescribeStacksCommand({ StackName }))).Stacks?.[0] ?? {};

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
  const pages = await Array.fromAsync(paginateListStackResources({ client }, { StackName }));
  return (
    pages
      .flatMap(({ StackResourceSummaries = [] }) => StackResourceSummaries)
      // The list may still name versions of earlier deployments. Lambda keeps them, but the stack no longer holds them.
      .filter((each) => each.ResourceType === type && !each.ResourceStatus?.startsWith('DELETE_'))
      // A resource that is only half made has no id yet.
      .flatMap(({ PhysicalResourceId }) => PhysicalResourceId ?? [])
  );
}

/** The status of a stage's API stack, such as `UPDATE_IN_PROGRESS`. */
export const stackStatus = async (client: CloudFormationClient, stage: string): Promise<string> =>
  (await describeStack(client, apiStackName(stage))).StackStatus ?? '';
