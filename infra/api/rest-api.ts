import { Aws, CfnOutput, Duration, RemovalPolicy, Size, Validations } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  type CfnDomainName,
  type CfnRestApi,
  DomainName,
  EndpointType,
  type IResource,
  LambdaIntegration,
  LogGroupLogDestination,
  MethodLoggingLevel,
  Resource,
  ResponseType,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { CfnPermission, type IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets';
import { Construct } from 'constructs';
import { GATEWAY_TIMEOUT_SECONDS } from '../../lib/function-settings.ts';
import { type GatewayProblem, gatewayProblems } from '../../lib/problems/gateway-problems.ts';
import { PROBLEM_MEDIA_TYPE, problemDocument } from '../../lib/problems/problem.ts';
import { COMMON_HEADERS } from '../../lib/response-headers.ts';
import { MIN_GZIP_BYTES, PREFLIGHT_METHOD, ROUTE_METHODS } from '../../lib/routes.ts';
import type { LogSettings } from '../kept-resources.ts';
import type { ResourceNames } from '../resource-names.ts';
import type { Stage } from '../stage.ts';
import { limitOfOthers, limitsOfRoutes, type MethodLimit } from './method-limits.ts';

/**
 * The fields of a line of the access log. Three are left out on purpose: the path, which may hold a ticket (the route
 * has only a placeholder); the query string; and `error.message`, which quotes the whole Authorization header of a
 * request that matches no route. API Gateway does not escape values, and a quote would break the line. So no field may
 * hold a text from the caller, such as the User-Agent.
 */
export const ACCESS_LOG_FIELDS = {
  requestId: '$context.requestId',
  extendedRequestId: '$context.extendedRequestId',
  time: '$context.requestTimeEpoch',
  address: '$context.identity.sourceIp',
  domain: '$context.domainName',
  method: '$context.httpMethod',
  route: '$context.resourcePath',
  status: '$context.status',
  /** The kind of gateway response, if the gateway itself answered. */
  gatewayAnswer: '$context.error.responseType',
  firewallStatus: '$context.wafResponseCode',
  functionStatus: '$context.integration.integrationStatus',
  functionError: '$context.integration.error',
  functionMs: '$context.integration.latency',
  totalMs: '$context.responseLatency',
  bytes: '$context.responseLength',
} as const;

export interface ReportsApiProps {
  readonly names: ResourceNames;
  readonly stageName: string;
  /** Whether partners use the operator's own host name. API Gateway's own address is then closed. */
  readonly hasDomain: boolean;
  /** How many Lambda executions requests may hold at one time. */
  readonly executions: number;
  readonly logs: LogSettings;
  /** Origins whose pages may call the API. If there are any, the API answers preflights. */
  readonly corsOrigins: readonly string[];
  readonly routes: readonly { readonly path: string; readonly handler: IFunction }[];
  /** The function that answers every path and method that no route takes. */
  readonly notFound: IFunction;
}

/** TLS 1.2 or later, also at a domain, where the API's own policy counts. BASIC must come before STRICT. */
const TLS = {
  securityPolicy: 'SecurityPolicy_TLS13_1_2_2021_06',
  endpointAccessMode: 'BASIC',
} as const;

const BY_FUNCTION =
  'The function checks the token itself, so that every answer is a problem document and 401 says what the contract says (docs/contract.md#the-token). The waiting room takes the ticket in its path instead; the description of the API is public.';

const throttling = ({ requestsPerSecond, burst }: MethodLimit) => ({
  throttlingRateLimit: requestsPerSecond,
  throttlingBurstLimit: burst,
});

/**
 * One permission covers all methods. With a permission for each method, CloudFormation would make the permissions only
 * after the stage. Until then, the stage could not call the function.
 */
const integrationWith = (handler: IFunction) =>
  new LambdaIntegration(handler, {
    timeout: Duration.seconds(GATEWAY_TIMEOUT_SECONDS),
    scopePermissionToMethod: false,
  });

const addMethod = (resource: IResource, method: string, integration: LambdaIntegration) =>
  Validations.of(resource.addMethod(method, integration)).acknowledge(
    { id: 'AwsSolutions-APIG4', reason: BY_FUNCTION },
    { id: 'AwsSolutions-COG4', reason: BY_FUNCTION },
  );

/** The REST API. Each route leads to its own function, which gets the request unchanged. */
export class ReportsApi extends Construct {
  /** API Gateway's own address, without a slash at its end. It is closed if the stage has a domain. */
  readonly url: string;
  readonly api: RestApi;

  constructor(
    scope: Construct,
    id: string,
    { names, stageName, hasDomain, executions, logs, corsOrigins, routes, notFound }: ReportsApiProps,
  ) {
    super(scope, id);
    const accessLog = new LogGroup(this, 'AccessLog', {
      logGroupName: names.accessLog,
      ...logs,
    });
    const methods = corsOrigins.length > 0 ? [...ROUTE_METHODS, PREFLIGHT_METHOD] : ROUTE_METHODS;
    this.api = new RestApi(this, 'Api', {
      restApiName: names.service,
      description: 'Performance reports',
      endpointTypes: [EndpointType.REGIONAL],
      // API Gateway's own address would be a second entrance.
      disableExecuteApiEndpoint: hasDomain,
      minCompressionSize: Size.bytes(MIN_GZIP_BYTES),
      // Access logs need the account's role for API Gateway. An account has one such role per region, for all its APIs
      // and stages: this one takes the place of the role that it had. So the role stays when this stack is deleted. It also stays when the first deployment is rolled
      // back, because the account uses the role as soon as it is made.
      cloudWatchRole: true,
      cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
      deployOptions: {
        stageName,
        ...throttling(limitOfOthers(executions)),
        methodOptions: Object.fromEntries(
          [...limitsOfRoutes(executions)]
            .filter(([name]) => methods.some((method) => name.endsWith(`/${method}`)))
            .map(([name, limit]) => [name, throttling(limit)]),
        ),
        accessLogDestination: new LogGroupLogDestination(accessLog),
        accessLogFormat: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG_FIELDS)),
        loggingLevel: MethodLoggingLevel.OFF,
        dataTraceEnabled: false,
      },
    });
    Object.assign(this.api.node.defaultChild as CfnRestApi, TLS);
    // Removes the URL output that CDK adds, because the stack has its own.
    this.api.node.tryRemoveChild('Endpoint');
    for (const { path, handler } of routes) {
      const resource = this.api.root.resourceForPath(path);
      for (const method of methods) addMethod(resource, method, integrationWith(handler));
    }
    this.#catchAll(notFound);
    for (const permission of this.api.node.findAll().filter((node) => node instanceof CfnPermission))
      this.api.latestDeployment?.node.addDependency(permission);
    addGatewayAnswers(this.api, corsOrigins.length > 0);
    this.url = `https://${this.api.restApiId}.execute-api.${Aws.REGION}.${Aws.URL_SUFFIX}/${stageName}`;
    this.#acknowledge();
  }

  /**
   * Answers requests that no route takes. Without this, API Gateway tells a caller with a bearer token that its header
   * is no AWS signature. `{proxy+}` covers neither the root nor a path with its own resource, so these get `ANY` too.
   */
  #catchAll(handler: IFunction): void {
    const integration = integrationWith(handler);
    const { root } = this.api;
    const others = root.node.findAll().filter((node): node is Resource => node instanceof Resource);
    for (const resource of [root, ...others, root.addResource('{proxy+}')])
      addMethod(resource, 'ANY', integration);
  }

  #acknowledge(): void {
    Validations.of(this.api).acknowledge(
      {
        id: 'AwsSolutions-APIG2',
        reason:
          'The functions check every parameter and answer all faults in one document. API Gateway can declare no parameter with brackets in its name.',
      },
      {
        id: 'AwsSolutions-APIG6',
        reason:
          'Execution logs hold what the access log leaves out: headers and query values. The access log and the functions’ lines say what happened without them.',
      },
      {
        id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
        reason:
          'The role is the account’s, for all of its APIs, and API Gateway checks that it may do what this policy of AWS’s says.',
      },
    );
  }
}

const { notFound } = gatewayProblems;

/**
 * Every answer that the gateway gives by itself, except 413, which can't be customised. Its other kinds of answers can't
 * occur, because the API has no authorizers, API keys or validators. The limit per address has an answer of its own, in
 * `firewall.ts`.
 */
const gatewayAnswers: readonly GatewayProblem[] = [
  ...Object.values(gatewayProblems),
  // No method uses AWS signatures. But on an unknown route, the gateway expects a signature, and takes a bearer token
  // for an invalid signature.
  { ...notFound, responseType: 'INVALID_SIGNATURE' },
  { ...notFound, responseType: 'EXPIRED_TOKEN' },
];

/**
 * Makes the gateway answer in the shape of the service's own problem documents.
 *
 * @param isForPages whether pages of all other origins may read these answers, which hold nothing private
 */
export function addGatewayAnswers(api: RestApi, isForPages: boolean): void {
  for (const problem of gatewayAnswers) {
    api.addGatewayResponse(problem.responseType, {
      type: ResponseType.of(problem.responseType),
      statusCode: String(problem.status),
      responseHeaders: {
        'Content-Type': `'${PROBLEM_MEDIA_TYPE}'`,
        'Cache-Control': "'no-store'",
        ...quoted(COMMON_HEADERS),
        ...(problem.retryAfterSeconds !== undefined && { 'Retry-After': `'${problem.retryAfterSeconds}'` }),
        ...(isForPages && { 'Access-Control-Allow-Origin': "'*'" }),
      },
      // The gateway falls back to the template `application/json`, whatever the request accepts. It sends the
      // Content-Type above.
      templates: { 'application/json': JSON.stringify(problemDocument(problem, '$context.requestId')) },
    });
  }
}

/** API Gateway takes a value in single quotes for a constant, and a value without them for an expression. */
const quoted = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `'${value}'`]));

/**
 * Makes the operator's own host name for the API. Its DNS record is made too if the stage names the zone.
 */
export function makeDomain(
  scope: Construct,
  id: string,
  api: RestApi,
  domain: NonNullable<Stage['domain']>,
): void {
  const construct = new Construct(scope, id);
  const domainName = new DomainName(construct, 'Name', {
    domainName: domain.name,
    certificate: Certificate.fromCertificateArn(construct, 'Certificate', domain.certificateArn),
    endpointType: EndpointType.REGIONAL,
  });
  Object.assign(domainName.node.defaultChild as CfnDomainName, TLS);
  domainName.addBasePathMapping(api, { stage: api.deploymentStage });
  if (domain.hostedZone) {
    new ARecord(construct, 'Record', {
      zone: HostedZone.fromHostedZoneAttributes(construct, 'Zone', {
        hostedZoneId: domain.hostedZone.id,
        zoneName: domain.hostedZone.name,
      }),
      recordName: `${domain.name}.`,
      target: RecordTarget.fromAlias(new ApiGatewayDomain(domainName)),
    });
  } else {
    new CfnOutput(construct, 'RecordTarget', { value: domainName.domainNameAliasDomainName });
  }
}
