import { CustomResource, Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as FunctionTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { settingsOf } from '../../lib/function-settings.ts';
import { GATE, METRIC_NAMESPACE, PROBE_ENV } from '../../lib/names.ts';
import { logSettings } from '../kept-resources.ts';
import type { Stage } from '../stage.ts';
import { type LiveFunction, makeLambdaFunction, makeLive, type Release } from './lambda-function.ts';
import { type Permission, qualifiedArn, type ServiceResources } from './permissions.ts';

/** Name of the probe's file in `functions/` and of its bundle's folder. */
export const PROBE = 'probe';

/** What the probe needs to request tokens as a partner does. */
export interface ProbeClient {
  readonly tokenUrl: string;
  /** ARN of the secret that holds `clientId` and `clientSecret`. */
  readonly secretArn: string;
}

/** Inputs of a function that pulls a report as the probe's client. */
export interface PullerProps {
  readonly release: Release;
  readonly service: ServiceResources;
  readonly stage: Pick<Stage, 'apiScope' | 'keepData' | 'logDays' | 'reports' | 'reservedConcurrency'>;
  /** Absent if the stage has no probe. */
  readonly client?: ProbeClient | undefined;
  readonly serviceUrl: string;
}

const readClient = ({ secretArn }: ProbeClient): Permission => ({
  sid: 'ReadProbeClient',
  actions: ['secretsmanager:GetSecretValue'],
  resources: [secretArn],
});

/** Makes a function that pulls a report as the probe's client, and has these further permissions. */
const makePuller = (
  scope: Construct,
  puller: { readonly name: string; readonly description: string },
  { release, service, stage, client, serviceUrl }: PullerProps,
  permissions: readonly Permission[] = [],
): LambdaFunction =>
  makeLambdaFunction(
    scope,
    {
      ...puller,
      permissions: () => [...(client ? [readClient(client)] : []), ...permissions],
    },
    {
      code: release.code(puller.name),
      service,
      logs: logSettings(stage),
      ...(puller.name === PROBE && { reservedConcurrency: stage.reservedConcurrency?.probe }),
      environment: {
        COMMIT: release.name,
        API_SCOPE: stage.apiScope,
        ...(stage.reports.finalAfterHours && {
          FINAL_AFTER_HOURS: String(stage.reports.finalAfterHours),
        }),
        [PROBE_ENV.serviceUrl]: serviceUrl,
        ...(client && {
          [PROBE_ENV.tokenUrl]: client.tokenUrl,
          [PROBE_ENV.clientSecretId]: client.secretArn,
        }),
        POWERTOOLS_SERVICE_NAME: service.names.service,
        POWERTOOLS_METRICS_NAMESPACE: METRIC_NAMESPACE,
        NODE_OPTIONS: '--enable-source-maps',
      },
    },
  );

/** Makes the probe, which pulls a report on a schedule, from outside, as a partner does. Returns its alias. */
export function makeProbe(scope: Construct, everyMinutes: number, props: PullerProps): LiveFunction {
  const description = 'Pulls a report as a partner does, and tells whether it came';
  const live = makeLive(makePuller(scope, { name: PROBE, description }, props));
  new Rule(scope, 'ProbeSchedule', {
    description: 'Starts the probe',
    schedule: Schedule.rate(Duration.minutes(everyMinutes)),
    // A failed run is not repeated, because the next run comes soon enough.
    targets: [new FunctionTarget(live, { retryAttempts: 0 })],
  });
  return live;
}

/** Name of the check's file in `functions/` and of its bundle's folder. */
const RELEASE_CHECK = 'release-check';

/** How much longer CloudFormation waits for the check's answer than the check may run, for a start that is throttled. */
const SPARE_SECONDS = 120;

/**
 * Puts a gate between the new versions and the aliases that lead callers to them: a custom resource, which the function
 * `release-check` serves (lib/probe/release-gate.ts). If it refuses the release, the deployment fails before any alias
 * has moved. It is in every stage and in every deployment, because its creation passes unchecked.
 *
 * @param isOpen whether this deployment passes the gate without a check
 * @param asked the functions whose new versions the gate asks, by name
 * @param functions every function with an alias; no alias moves before the gate has passed
 */
export function addReleaseGate(
  scope: Construct,
  isOpen: boolean,
  asked: ReadonlyMap<string, LiveFunction>,
  functions: readonly LiveFunction[],
  puller: PullerProps,
): CustomResource {
  const description =
    'Asks the versions of a new release, and pulls a report from them, before any alias moves';
  const check = makePuller(scope, { name: RELEASE_CHECK, description }, puller, [
    {
      sid: 'AskNewRelease',
      actions: ['lambda:InvokeFunction'],
      resources: [...asked.keys()].map((name) => qualifiedArn(puller.service, name, '*')),
      wildcard: 'The number of a version is known only when it is published.',
    },
  ]);
  const versions = [...asked].map(([name, { version }]) => [name, version.functionArn]);
  const gate = new CustomResource(scope, 'ReleaseGate', {
    resourceType: 'Custom::ReleaseGate',
    serviceToken: check.functionArn,
    serviceTimeout: Duration.seconds(settingsOf(RELEASE_CHECK).timeoutSeconds + SPARE_SECONDS),
    // There is nothing to delete. And a deployment that goes back to a release without the gate would ask that
    // release's `release-check`, which gives CloudFormation no answer.
    removalPolicy: RemovalPolicy.RETAIN,
    properties: {
      [GATE.release]: puller.release.name,
      [GATE.versions]: Object.fromEntries(versions),
      // A property: if the resource were left out, the next deployment would create it, and pass unchecked too.
      [GATE.isOpen]: isOpen,
    },
  });
  for (const alias of functions) alias.node.addDependency(gate);
  return gate;
}
