import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import type { BucketNames } from '../data/data-stack.ts';
import type { TokenIssuer } from '../identity/token-issuer.ts';
import type { ResourceNames } from '../resource-names.ts';
import type { Stage } from '../stage.ts';
import { CustomDomain } from './custom-domain.ts';
import { Firewall } from './firewall.ts';
import type { FunctionCode } from './function-code.ts';
import { functionEnvironment } from './function-environment.ts';
import { makeLambdaFunction } from './lambda-function.ts';
import { startOnOrder } from './publication-trigger.ts';
import { ReportsApi } from './rest-api.ts';
import { type ServiceFunction, serviceFunctions } from './service-functions.ts';

export interface ApiStackProps extends StackProps {
  readonly stage: Stage;
  readonly names: ResourceNames;
  readonly bucketNames: BucketNames;
  readonly tokenIssuer: TokenIssuer;
  readonly functionCode: FunctionCode;
}

/** What answers requests. It holds no data: it can go and come again, though an address of API Gateway's changes. */
export class ApiStack extends Stack {
  constructor(scope: Construct, id: string, props: ApiStackProps) {
    const { stage, names, bucketNames, tokenIssuer, functionCode, ...stackProps } = props;
    super(scope, id, stackProps);
    const { prefix, kmsKeyArn } = stage.events;
    const eventsBucket = Bucket.fromBucketName(this, 'Events', bucketNames.events);
    const resultsBucket = Bucket.fromBucketName(this, 'Results', bucketNames.results);
    const place = {
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
    const environment = functionEnvironment({
      stage,
      names,
      tokenIssuer,
      resultsBucketName: bucketNames.results,
      eventsBucketName: bucketNames.events,
      partnersBucketName: bucketNames.partners,
    });
    const make = (entry: ServiceFunction) =>
      makeLambdaFunction(this, entry, {
        code: functionCode(entry.name),
        environment,
        place,
        logDays: stage.logDays,
      });
    const functions = serviceFunctions.map((entry) => ({ entry, handler: make(entry) }));

    for (const { entry, handler } of functions)
      if (entry.startedBy === 'orders') startOnOrder(this, handler, resultsBucket);

    const reportsApi = new ReportsApi(this, 'ReportsApi', {
      names,
      stageName: stage.name,
      throttling: stage.throttling,
      logDays: stage.logDays,
      routes: functions.flatMap(({ entry: { route }, handler }) =>
        route === undefined ? [] : [{ path: route, handler: handler as IFunction }],
      ),
    });
    new Firewall(this, 'Firewall', {
      name: names.service,
      resourceArn: reportsApi.api.deploymentStage.stageArn,
      maxRequestsPerAddress: stage.maxRequestsPerAddress,
    });
    if (stage.domain) new CustomDomain(this, 'Domain', { api: reportsApi.api, domain: stage.domain });

    new CfnOutput(this, 'ApiUrl', {
      value: stage.domain ? `https://${stage.domain.name}` : reportsApi.url,
    });
    new CfnOutput(this, 'Scope', { value: `${stage.apiScope}/.default` });
    if (stage.identity.provider === 'existing')
      new CfnOutput(this, 'TokenUrl', { value: stage.identity.tokenUrl });
  }
}
