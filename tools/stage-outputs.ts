import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { resourceNames } from '../infra/resource-names.ts';
import { OperatorFault } from '../lib/terminal/operator-fault.ts';

/** The outputs of a stage's deployed stacks. */
export interface StageOutputs {
  readonly partnersBucket: string;
  /** The Cognito user pool. Absent if the stage uses another identity provider. */
  readonly userPoolId?: string;
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
  const userPoolId = identity?.get('UserPoolId');
  return {
    partnersBucket,
    ...(userPoolId !== undefined && { userPoolId }),
    apiUrl: api.get('ApiUrl') ?? '',
    tokenUrl: (identity ?? api).get('TokenUrl') ?? '',
    scope: api.get('Scope') ?? '',
  };
}

/** The outputs of a stack. Undefined if the stack does not exist. */
async function outputsOf(
  client: CloudFormationClient,
  stackName: string,
): Promise<ReadonlyMap<string, string> | undefined> {
  try {
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: stackName }));
    return new Map(
      Stacks?.[0]?.Outputs?.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]),
    );
  } catch (error) {
    // CloudFormation has no error class for a missing stack. Only the message shows it.
    if (error instanceof Error && error.name === 'ValidationError' && /does not exist/.test(error.message))
      return undefined;
    throw error;
  }
}
