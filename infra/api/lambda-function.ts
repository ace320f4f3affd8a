import { Duration, Stack, Validations } from 'aws-cdk-lib';
import {
  type IRole,
  PolicyDocument,
  PolicyStatement,
  type PolicyStatementProps,
  Role,
  ServicePrincipal,
} from 'aws-cdk-lib/aws-iam';
import {
  Alias,
  ApplicationLogLevel,
  Architecture,
  type Code,
  type IFunction,
  type IVersion,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { settingsOf } from '../../lib/function-settings.ts';
import { type LogSettings, RETAIN_EXCEPT_ON_CREATE } from '../kept-resources.ts';
import { LIVE_ALIAS } from '../resource-names.ts';
import { type Permission, runtimePermissions, type ServiceResources } from './permissions.ts';
import type { ServiceFunction } from './service-functions.ts';

/** A release: the code of each function, and the release's name (`infra/release-name.ts`). */
export interface Release {
  readonly code: (functionName: string) => Code;
  readonly name: string;
}

interface LambdaFunctionProps {
  readonly code: Code;
  readonly environment: Readonly<Record<string, string>>;
  readonly service: ServiceResources;
  readonly logs: LogSettings;
  /** How many of the account's concurrent executions are reserved for this function, which then never gets more. */
  readonly reservedConcurrency?: number | undefined;
}

/** Makes a Lambda function with its own role and its own log. */
export function makeLambdaFunction(
  scope: Construct,
  { name, description, permissions }: ServiceFunction,
  { code, environment, service, logs, reservedConcurrency }: LambdaFunctionProps,
): LambdaFunction {
  const { timeoutSeconds, memoryMb } = settingsOf(name);
  const logGroup = new LogGroup(scope, `${name}-log`, {
    logGroupName: service.names.functionLog(name),
    ...logs,
  });
  return new LambdaFunction(scope, name, {
    functionName: service.names.functionName(name),
    description,
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    code,
    handler: 'index.handler',
    environment: { ...environment },
    timeout: Duration.seconds(timeoutSeconds),
    memorySize: memoryMb,
    ...(reservedConcurrency !== undefined && { reservedConcurrentExecutions: reservedConcurrency }),
    role: makeFunctionRole(scope, `${name}-role`, [
      ...permissions(service),
      ...runtimePermissions(logGroup.logGroupArn),
    ]),
    logGroup,
    loggingFormat: LoggingFormat.JSON,
    applicationLogLevelV2: ApplicationLogLevel.INFO,
    systemLogLevelV2: SystemLogLevel.WARN,
    // Earlier versions stay, for rollbacks. The version of a failed deployment is removed: otherwise Lambda would not
    // publish the same code and settings again.
    currentVersionOptions: { removalPolicy: RETAIN_EXCEPT_ON_CREATE },
  });
}

/**
 * An alias that can be used wherever a function is expected. With `exactOptionalPropertyTypes`, the compiler refuses
 * CDK's own type there.
 */
export type LiveFunction = Alias & IFunction;

/**
 * Publishes a version of a function, and makes the alias that all callers use. The next release moves the alias to its
 * own version.
 */
export const makeLive = (made: LambdaFunction): LiveFunction =>
  new Alias(made, LIVE_ALIAS, {
    aliasName: LIVE_ALIAS,
    version: made.currentVersion as IVersion,
  }) as LiveFunction;

/** Makes a function's role with these permissions only. CDK can't add others. */
function makeFunctionRole(scope: Construct, id: string, permissions: readonly Permission[]): IRole {
  const role = new Role(scope, id, {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    inlinePolicies: { permissions: new PolicyDocument({ statements: permissions.map(statement) }) },
  });
  for (const { resources, wildcard } of permissions) {
    if (!wildcard) continue;
    Validations.of(role).acknowledge(
      ...resources.map((resource) => ({
        id: `AwsSolutions-IAM5[Resource::${flat(Stack.of(role).resolve(resource))}]`,
        reason: wildcard,
      })),
    );
  }
  return role.withoutPolicyUpdates();
}

const statement = ({ sid, actions, resources, conditions }: Permission) =>
  new PolicyStatement({
    sid,
    actions: [...actions],
    resources: [...resources],
    ...(conditions && { conditions: conditions as NonNullable<PolicyStatementProps['conditions']> }),
  });

/** A CloudFormation value, in the form that `AwsSolutions-IAM5` uses in its findings. */
function flat(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const [[name, argument] = ['', '']] = Object.entries(value);
  if (name === 'Fn::Join') {
    const [separator, parts] = argument as [string, unknown[]];
    return parts.map(flat).join(separator);
  }
  if (name === 'Fn::ImportValue') return String(argument);
  if (name === 'Ref') return `<${argument}>`;
  return JSON.stringify(value);
}
