import { CustomResource, Duration, RemovalPolicy } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { functionStartedBy, settingsOf } from '../../lib/function-settings.ts';
import { GATE } from '../../lib/names.ts';
import type { LiveFunction } from './lambda-function.ts';
import { qualifiedArn } from './permissions.ts';
import { makePuller, type PullerProps } from './probe.ts';

/** Name of the check's file in `functions/` and of its bundle's folder. */
const RELEASE_CHECK = functionStartedBy('release');

/** How much longer CloudFormation waits for the check's answer than the check may run, for a start that is throttled. */
const SPARE_SECONDS = 120;

export interface ReleaseGateProps {
  /** Whether this deployment passes the gate without a check. */
  readonly isOpen: boolean;
  /** The functions whose new versions the gate asks, by name. */
  readonly asked: ReadonlyMap<string, LiveFunction>;
  /** Every function with an alias. No alias moves before the gate has passed. */
  readonly functions: readonly LiveFunction[];
  readonly puller: PullerProps;
}

/**
 * Puts a gate between the new versions and the aliases that lead callers to them: a custom resource, which the function
 * `release-check` serves (lib/probe/release-gate.ts). If it refuses the release, the deployment fails before any alias
 * has moved. It is in every stage and in every deployment, because its creation passes unchecked.
 */
export function addReleaseGate(
  scope: Construct,
  { isOpen, asked, functions, puller }: ReleaseGateProps,
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
