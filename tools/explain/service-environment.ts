import {
  GetFunctionConfigurationCommand,
  LambdaClient,
  ResourceNotFoundException,
} from '@aws-sdk/client-lambda';
import { LIVE_ALIAS, resourceNames } from '../../infra/resource-names.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import { LOCAL_DIR, runningStack } from '../../local/stack-file.ts';

/** The environment of the service that runs on this machine. Also points the SDK of this process to that service. */
export async function localEnvironment(): Promise<Record<string, string>> {
  const stack = await runningStack(LOCAL_DIR, process.env['PORT']);
  if (!stack) throw new OperatorFault('No service runs on this machine. Start it first: npm start.');
  const { environment } = stack;
  for (const [name, value] of Object.entries(environment))
    if (name.startsWith('AWS_')) process.env[name] = value;
  return environment;
}

/** The environment of a function of a deployed stage, in the live release. */
export async function stageEnvironment(stage: string, functionName: string): Promise<Record<string, string>> {
  const name = resourceNames(stage).functionName(functionName);
  try {
    const command = new GetFunctionConfigurationCommand({ FunctionName: name, Qualifier: LIVE_ALIAS });
    return (await new LambdaClient({}).send(command)).Environment?.Variables ?? {};
  } catch (error) {
    if (error instanceof ResourceNotFoundException)
      throw new OperatorFault(
        `There is no function ${name} with the alias ${LIVE_ALIAS} in this account and region. Check the stage, AWS_REGION ` +
          'and AWS_PROFILE.',
      );
    throw error;
  }
}
