import { ArnFormat, Duration, Validations } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import {
  type ILambdaDeploymentConfig,
  LambdaApplication,
  LambdaDeploymentConfig,
  LambdaDeploymentGroup,
} from 'aws-cdk-lib/aws-codedeploy';
import {
  type IRole,
  ManagedPolicy,
  PolicyDocument,
  PolicyStatement,
  Role,
  ServicePrincipal,
} from 'aws-cdk-lib/aws-iam';
import type { Alias, CfnAlias, IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { functionStartedBy } from '../../lib/function-settings.ts';
import { RELEASE_CHECK_ENV } from '../../lib/names.ts';
import { LIVE_ALIAS } from '../resource-names.ts';
import type { Stage } from '../stage.ts';
import { makePuller, type PullerProps } from './probe.ts';

/** Name of the check's file in `functions/` and of its bundle's folder. */
const RELEASE_CHECK = functionStartedBy('release');

/** AWS's managed policy for deployments of Lambda: the one with fewer rights. */
const MANAGED_POLICY = 'AWSCodeDeployRoleForLambdaLimited';

const CONFIGS: Readonly<Record<NonNullable<Stage['shiftMinutes']>, ILambdaDeploymentConfig>> = {
  10: LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
  15: LambdaDeploymentConfig.CANARY_10PERCENT_15MINUTES,
  30: LambdaDeploymentConfig.CANARY_10PERCENT_30MINUTES,
};

export interface ReleaseShiftProps {
  readonly minutes: NonNullable<Stage['shiftMinutes']>;
  /**
   * Whether the release gets all requests at once. The resources for a shift are deployed even then, for the next
   * deployment.
   */
  readonly isAtOnce: boolean;
  /** The aliases to shift, by the function's name. */
  readonly aliases: ReadonlyMap<string, Alias>;
  /** Aliases that move at once, after the shifted ones. */
  readonly others: readonly Alias[];
  readonly puller: PullerProps;
}

/**
 * Makes CodeDeploy move these aliases to a new release. First a report is pulled from the new versions. Then they get a
 * tenth of the requests for some minutes, and then all requests. If a new version crashes, all of these aliases move
 * back. The other aliases move last.
 */
export function shiftReleases(
  scope: Construct,
  { minutes, isAtOnce, aliases, others, puller }: ReleaseShiftProps,
): void {
  const { names } = puller.service;
  const application = new LambdaApplication(scope, 'Releases', { applicationName: names.service });
  const alarm = makeAlarm(scope, puller, aliases);
  const check = makeReleaseCheck(scope, aliases, puller);
  const role = makeRole(scope, check);
  for (const [name, alias] of aliases) {
    const group = new LambdaDeploymentGroup(scope, `${name}-shift`, {
      application,
      deploymentGroupName: names.functionName(name),
      alias,
      deploymentConfig: CONFIGS[minutes],
      role,
      alarms: [alarm],
      preHook: check,
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
    });
    alias.node.addDependency(group, check);
    // Without an update policy, CloudFormation moves the alias at once.
    if (isAtOnce) delete (alias.node.defaultChild as CfnAlias).cfnOptions.updatePolicy;
  }
  for (const other of others) other.node.addDependency(...aliases.values());
}

/**
 * Makes the alarm that takes a release back. It watches only the new versions. Lambda reports an error within a minute
 * or two, and the alarm is evaluated each minute, so even the shortest shift is long enough. An answer 500 does not
 * count as an error of Lambda. Each release has its own alarm: an alarm left over from the previous release would stop
 * the release that fixes its cause.
 */
function makeAlarm(
  scope: Construct,
  { release, service: { names } }: PullerProps,
  aliases: ReadonlyMap<string, Alias>,
): Alarm {
  const errors = [...aliases].map(([name, { version }], index) => [
    `errors${index}`,
    new Metric({
      namespace: 'AWS/Lambda',
      metricName: 'Errors',
      dimensionsMap: {
        FunctionName: names.functionName(name),
        Resource: `${names.functionName(name)}:${LIVE_ALIAS}`,
        ExecutedVersion: version.version,
      },
      statistic: 'Sum',
      period: Duration.minutes(1),
    }),
  ]);
  return new Alarm(scope, 'ReleaseCrashes', {
    alarmName: `${names.service}-release-crashes-${release.commit}`,
    alarmDescription:
      'Functions of the newest release crash or run out of time. While CodeDeploy shifts requests to that release, this alarm rolls it back.',
    metric: new MathExpression({
      expression: 'SUM(METRICS())',
      usingMetrics: Object.fromEntries(errors),
      period: Duration.minutes(1),
      label: 'crashes of the newest release',
    }),
    threshold: 1,
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    evaluationPeriods: 1,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  });
}

/** Makes CodeDeploy's role, which may move aliases, read alarms, and run the check. */
function makeRole(scope: Construct, check: IFunction): IRole {
  const role = new Role(scope, 'ReleasesRole', {
    assumedBy: new ServicePrincipal('codedeploy.amazonaws.com'),
    managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName(`service-role/${MANAGED_POLICY}`)],
    inlinePolicies: {
      check: new PolicyDocument({
        statements: [
          new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [check.functionArn] }),
        ],
      }),
    },
  });
  Validations.of(role).acknowledge({
    id: `AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/${MANAGED_POLICY}]`,
    reason: 'It is what CodeDeploy asks for to move aliases. It can start no function but hooks.',
  });
  return role.withoutPolicyUpdates();
}

/** Makes the function that pulls a report from the new versions before they get requests. */
function makeReleaseCheck(
  scope: Construct,
  aliases: ReadonlyMap<string, Alias>,
  puller: PullerProps,
): IFunction {
  const { stack, names } = puller.service;
  const arn = (service: string, resource: string, resourceName: string) =>
    stack.formatArn({ service, resource, resourceName, arnFormat: ArnFormat.COLON_RESOURCE_NAME });
  const versions = [...aliases].map(([name, { version }]) => [name, version.functionArn]);
  return makePuller(
    scope,
    {
      name: RELEASE_CHECK,
      description: 'Pulls a report from a new release before it gets requests',
      variables: { [RELEASE_CHECK_ENV.versions]: stack.toJsonString(Object.fromEntries(versions)) },
      permissions: [
        {
          sid: 'AskNewRelease',
          actions: ['lambda:InvokeFunction'],
          resources: [...aliases.keys()].map((name) =>
            arn('lambda', 'function', `${names.functionName(name)}:*`),
          ),
          wildcard: 'The number of a version is known only when it is published.',
        },
        {
          sid: 'TellCodeDeploy',
          actions: ['codedeploy:PutLifecycleEventHookExecutionStatus'],
          resources: [...aliases.keys()].map((name) =>
            arn('codedeploy', 'deploymentgroup', `${names.service}/${names.functionName(name)}`),
          ),
        },
      ],
    },
    puller,
  );
}
