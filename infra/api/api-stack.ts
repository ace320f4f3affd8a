import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { GATE } from '../../lib/names.ts';
import { routes } from '../../lib/routes.ts';
import type { BucketNames } from '../data/data-stack.ts';
import type { TokenIssuer } from '../identity/identity-stack.ts';
import { logSettings } from '../kept-resources.ts';
import type { ResourceNames } from '../resource-names.ts';
import type { Stage } from '../stage.ts';
import { makeDownloadsEdge } from './downloads-edge.ts';
import { addFirewall } from './firewall.ts';
import { functionEnvironment } from './function-environment.ts';
import { makeLambdaFunction, makeLive, type Release } from './lambda-function.ts';
import { addReleaseGate, makeProbe, type ProbeClient } from './probe.ts';
import { publishOnRequest } from './publication-trigger.ts';
import { makeDomain, ReportsApi } from './rest-api.ts';
import {
  abandon,
  publicFunction,
  publish,
  requestedFunctions,
  type ServiceFunction,
  serviceFunctions,
} from './service-functions.ts';

export interface ApiStackProps extends StackProps {
  readonly stage: Stage;
  readonly names: ResourceNames;
  readonly bucketNames: BucketNames;
  readonly tokenIssuer: TokenIssuer;
  /** Set if the stage has a probe. */
  readonly probeClient?: ProbeClient;
  readonly release: Release;
  /** Whether the release passes its gate without a check. */
  readonly isOpen: boolean;
}

/**
 * The stack that answers requests. It holds no data: it can be deleted and deployed again, but API Gateway's address
 * then changes.
 */
export class ApiStack extends Stack {
  constructor(scope: Construct, id: string, props: ApiStackProps) {
    const { stage, names, bucketNames, tokenIssuer, probeClient, release, isOpen, ...stackProps } = props;
    super(scope, id, stackProps);
    const { prefix, kmsKeyArn } = stage.events;
    const eventsBucket = Bucket.fromBucketName(this, 'Events', bucketNames.events);
    const resultsBucket = Bucket.fromBucketName(this, 'Results', bucketNames.results);
    const service = {
      stack: this,
      names,
      eventsBucket,
      eventsPrefix: prefix,
      ...(kmsKeyArn && { eventsKeyArn: kmsKeyArn }),
      resultsBucket,
      ...(stage.entitlements.by === 'partners' && {
        partnersBucket: Bucket.fromBucketName(this, 'Partners', bucketNames.partners),
      }),
    };
    const edge = stage.downloads && makeDownloadsEdge(this, 'EdgeForDownloads', names, resultsBucket);
    const edgeOrigin = edge && `https://${edge.distributionDomainName}`;
    const environment = functionEnvironment({
      stage,
      names,
      tokenIssuer,
      bucketNames,
      downloadsEdgeOrigin: edgeOrigin,
      commit: release.name,
    });
    const make = (entry: ServiceFunction) =>
      makeLive(
        makeLambdaFunction(this, entry, {
          code: release.code(entry.name),
          environment,
          service,
          logs: logSettings(stage),
          ...(entry === publish && { reservedConcurrency: stage.reservedConcurrency?.publish }),
        }),
      );
    /** The functions' live aliases, by the function's name. All callers use the aliases. */
    const functions = new Map(serviceFunctions.map((entry) => [entry.name, make(entry)]));
    const functionOf = (name: string) => {
      const alias = functions.get(name);
      if (!alias) throw new TypeError(`infra/api/service-functions.ts has no function "${name}"`);
      return alias;
    };
    publishOnRequest(this, {
      publish: functionOf(publish.name),
      abandon: functionOf(abandon.name),
      resultsBucket,
      names,
    });

    const reportsApi = new ReportsApi(this, 'ReportsApi', {
      names,
      stageName: stage.name,
      hasDomain: stage.domain !== undefined,
      executions: stage.executions,
      logs: logSettings(stage),
      corsOrigins: stage.corsOrigins,
      routes: routes.map(({ path, functionName }) => ({ path, handler: functionOf(functionName) })),
      notFound: functionOf(publicFunction.name),
    });
    addFirewall(this, names.service, reportsApi.api.deploymentStage.stageArn, {
      maxRequestsPerAddress: stage.maxRequestsPerAddress,
      isForPages: stage.corsOrigins.length > 0,
    });
    if (stage.domain) makeDomain(this, 'Domain', reportsApi.api, stage.domain);

    const serviceUrl = stage.domain ? `https://${stage.domain.name}` : reportsApi.url;
    const puller = { release, service, stage, client: probeClient, serviceUrl };
    const probe = stage.probe && makeProbe(this, stage.probe.everyMinutes, puller);
    const requested = new Map(requestedFunctions.map(({ name }) => [name, functionOf(name)]));
    const gated = [...functions.values(), ...(probe ? [probe] : [])];
    const gate = addReleaseGate(this, isOpen, requested, gated, puller);
    new CfnOutput(this, 'GateOutcome', { value: gate.getAttString(GATE.outcome) });
    new CfnOutput(this, 'ApiUrl', { value: serviceUrl });
    new CfnOutput(this, 'Scope', { value: `${stage.apiScope}/.default` });
    if (edgeOrigin) new CfnOutput(this, 'DownloadsEdge', { value: edgeOrigin });
    if (stage.identity.provider === 'existing')
      new CfnOutput(this, 'TokenUrl', { value: stage.identity.tokenUrl });
  }
}
