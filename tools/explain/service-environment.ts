import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  GetFunctionConfigurationCommand,
  LambdaClient,
  ResourceNotFoundException,
} from '@aws-sdk/client-lambda';
import { resourceNames } from '../../infra/resource-names.ts';
import { OperatorFault } from '../operator-fault.ts';

/** What a report's function goes by: its environment, as it is at this moment. */
export type ServiceEnvironment = Readonly<Record<string, string>>;

const LOCAL = process.env['LOCAL_DIR'] || join(import.meta.dirname, '..', '..', '.local');

/** The environment of the service on this machine, while it runs. The SDK is led to its addresses too. */
export async function localEnvironment(): Promise<ServiceEnvironment> {
  const file = join(LOCAL, 'stack.json');
  const text = await readFile(file, 'utf8').catch(() => {
    throw new OperatorFault(`There is no ${file}: start the service first, npm start.`);
  });
  const { environment } = JSON.parse(text) as { environment: ServiceEnvironment };
  for (const [name, value] of Object.entries(environment))
    if (name.startsWith('AWS_')) process.env[name] = value;
  return environment;
}

/** The environment of a deployed stage. */
export async function stageEnvironment(stage: string, functionName: string): Promise<ServiceEnvironment> {
  const name = resourceNames(stage).functionName(functionName);
  try {
    const command = new GetFunctionConfigurationCommand({ FunctionName: name });
    return (await new LambdaClient({}).send(command)).Environment?.Variables ?? {};
  } catch (error) {
    if (error instanceof ResourceNotFoundException)
      throw new OperatorFault(
        `There is no function ${name} in this account and region. Check the stage, AWS_REGION and AWS_PROFILE.`,
      );
    throw error;
  }
}
