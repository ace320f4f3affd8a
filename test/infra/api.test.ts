import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { limitsOfRoutes } from '../../infra/api/method-limits.ts';
import { ACCESS_LOG_FIELDS } from '../../infra/api/rest-api.ts';
import { serviceFunctions } from '../../infra/api/service-functions.ts';
import { readConfig } from '../../lib/config.ts';
import { DOWNLOADS_EDGE } from '../../lib/downloads-edge.ts';
import { functionSettings, TICKET_MS } from '../../lib/function-settings.ts';
import { readProbeConfig } from '../../lib/probe/pull-report.ts';
import { gatewayProblems } from '../../lib/problems/gateway-problems.ts';
import { PUBLIC_FUNCTION, ROUTE_METHODS, routes } from '../../lib/routes.ts';
import { grownAccount, keptWithCognito, newAccount } from './accounts.ts';
import * as synthesize from './synthesize.ts';

const { buildStacks, named, ofType, propertiesOf, resolved, resourcesOf } = synthesize;
type Resource = synthesize.Resource;

const made = resourcesOf(buildStacks(newAccount).api);
const grown = resourcesOf(buildStacks(grownAccount).api);
/** A stage with open web pages, an edge for downloads on standby, and its own words on tokens. */
const open = resourcesOf(buildStacks(keptWithCognito).api);

const environment = ({ Properties }: Resource): Record<string, string> => {
  const text = JSON.stringify(resolved(Properties['Environment']));
  return JSON.parse(text.replaceAll(/<EdgeForDownloads\w+\.DomainName>/g, 'd1.cloudfront.net')).Variables;
};

/** Matches a reference to the live alias of this function. */
const live = (name: string) => expect.stringMatching(RegExp(`^<${name}live\\w+>$`));

/** The settings with which Lambda invokes a function's alias for an event. */
const invokedLater = (name: string) =>
  ofType(made, 'AWS::Lambda::EventInvokeConfig').find(({ Properties }) =>
    JSON.stringify(Properties['Qualifier']).includes(`"${name}live`),
  )?.Properties;

/** The functions except the probe and the release check: these two are clients, with other environments. */
const serving = (functions: readonly Resource[]) =>
  functions.filter(({ Properties }) => !/-(probe|release-check)$/.test(String(Properties['FunctionName'])));

const functionOf = (resources: typeof made, name: string) =>
  ofType(resources, 'AWS::Lambda::Function').find(
    ({ Properties }) => Properties['FunctionName'] === `performance-reports-test-${name}`,
  ) as Resource;

/** Every path and all its parent paths. */
const above = (path: string) =>
  path.split('/').map((_, at, parts) => parts.slice(0, at + 1).join('/') || '/');
const NODES = [...new Set(routes.flatMap(({ path }) => above(path))), '/{proxy+}'];

/** The path of the resource to which the reference `<logical id>` leads. */
function pathOf(resources: typeof made, reference: string): string {
  const resource = resources[reference.slice(1, -1)];
  if (resource?.Type !== 'AWS::ApiGateway::Resource') return '';
  return `${pathOf(resources, resolved(resource.Properties['ParentId']) as string)}/${resource.Properties['PathPart']}`;
}

/** The functions behind routes, each with its method and path. */
const routed = (resources: typeof made) =>
  ofType(resources, 'AWS::ApiGateway::Method').map(({ Properties }) => {
    const { Uri, TimeoutInMillis } = Properties['Integration'] as { Uri: unknown; TimeoutInMillis: number };
    const alias = resources[/\/functions\/<(\w+)>\//.exec(String(resolved(Uri)))?.[1] ?? ''];
    const id = String(resolved(alias?.Properties['FunctionName'])).slice(1, -1);
    const path = pathOf(resources, resolved(Properties['ResourceId']) as string) || '/';
    const handler = resources[id] as Resource;
    return { method: Properties['HttpMethod'], path, gatewayMs: TimeoutInMillis, handler };
  });

describe('the functions', () => {
  const functions = ofType(made, 'AWS::Lambda::Function');

  it('are those of functions/, on Node 24 and arm64; each has its own log, which expires', () => {
    const names = [...serviceFunctions.map(({ name }) => name), 'probe', 'release-check'];
    expect(functions.map(({ Properties }) => Properties['FunctionName'])).toEqual(
      names.map((name) => `performance-reports-test-${name}`),
    );
    // Every function has settings, and no settings are left for a removed function.
    for (const known of [names, Object.keys(functionSettings)])
      expect(readdirSync('functions').sort()).toEqual(known.map((name) => `${name}.ts`).sort());
    for (const { Properties } of functions) {
      const runtime = { Runtime: 'nodejs24.x', Architectures: ['arm64'], Handler: 'index.handler' };
      expect(Properties).toMatchObject({ ...runtime, LoggingConfig: { LogFormat: 'JSON' } });
      const { LogGroup } = Properties['LoggingConfig'] as { LogGroup: { Ref: string } };
      const log = { LogGroupName: `/aws/lambda/${Properties['FunctionName']}`, RetentionInDays: 14 };
      expect(made[LogGroup.Ref]?.Properties).toMatchObject(log);
    }
  });

  it('have logs that outlive the stack, as that of the API, if the stage keeps its data', () => {
    const policies = (resources: typeof made) =>
      new Set(ofType(resources, 'AWS::Logs::LogGroup').map(({ DeletionPolicy }) => DeletionPolicy));
    const [gone, stays] = ['Delete', 'RetainExceptOnCreate'].map((policy) => new Set([policy]));
    expect([policies(made), policies(grown)]).toEqual([gone, stays]);
  });

  it('have every variable that they read', () => {
    for (const each of serving(functions)) {
      const { token, ...config } = readConfig(environment(each));
      expect(token.apiScope).toBe('api://performance-reports');
      expect(config).toMatchObject({
        ...{ commit: '0123456789ab-c0ffee', entitlements: { by: 'partners', bucket: 'made-partners' } },
        ...{ athenaDatabase: 'performance_reports_test', athenaWorkgroup: 'performance-reports-test' },
        ...{ resultsBucket: 'made-results', queriesPerPartner: 5, queryWaitMs: 25_000 },
        ...{ longestQueryMs: 600_000, downloadUrlSeconds: 300 },
      });
      expect(environment(each)['POWERTOOLS_SERVICE_NAME']).toBe('performance-reports-test');
    }
  });

  it('get the token endpoint, by default the identity provider’s, and the contact if the stage names one', () => {
    for (const [resources, expected] of [
      [made, { tokenEndpoint: 'https://cognito.example/token' }],
      [grown, { tokenEndpoint: 'https://login.example/tenant/token' }],
      [open, keptWithCognito.access],
    ] as const)
      for (const each of serving(ofType(resources, 'AWS::Lambda::Function')))
        expect(readConfig(environment(each)).access).toEqual(expected);
  });

  it('get the claims that say whose rows a caller sees, if the stage has such claims', () => {
    const rule = { claim: 'roles', prefix: 'publisher-company:', everyCompany: 'every-company' };
    const entitlements = { by: 'claims', rules: { publisherCompanies: rule } };
    for (const each of serving(ofType(grown, 'AWS::Lambda::Function')))
      expect(readConfig(environment(each)).entitlements).toEqual(entitlements);
  });

  it('end their wait for a query before they time out, and time out before the gateway does', () => {
    expect(routed(made)).toHaveLength(2 * routes.length + NODES.length);
    for (const { handler, path, gatewayMs } of routed(made)) {
      const functionMs = Number(handler.Properties['Timeout']) * 1_000;
      if (/performance$|downloads/.test(String(handler.Properties['FunctionName'])))
        expect(Number(environment(handler)['QUERY_WAIT_MS']) + TICKET_MS, path).toBeLessThan(functionMs);
      expect(functionMs).toBeLessThan(gatewayMs);
      // AWS allows a regional API more than 29 s only on request.
      expect(gatewayMs).toBeLessThanOrEqual(29_000);
    }
  });

  it('have the memory and the time that their work needs: downloads mostly waits, and S3 may throttle', () => {
    const settings = ['downloads', 'publisherperformance', 'publish', 'abandon'].map((name) => {
      const { MemorySize, Timeout } = functionOf(made, name).Properties;
      return `${name} ${MemorySize} MB ${Timeout} s`;
    });
    const expected = ['downloads 512 MB 28 s', 'publisherperformance 1769 MB 28 s', 'publish 1769 MB 900 s'];
    expect(settings).toEqual([...expected, 'abandon 512 MB 60 s']);
  });

  const requested = Object.entries(made).find(([, { Properties }]) => Properties?.['EventPattern']);
  const threeTries = { MaximumRetryAttempts: 2, MaximumEventAgeInSeconds: 3_600 };

  it('publish large results on request, try each three times, and call `abandon` after the last failure', () => {
    const made = { bucket: { name: ['made-results'] }, object: { key: [{ prefix: 'publications/' }] } };
    const EventPattern = { source: ['aws.s3'], 'detail-type': ['Object Created'], detail: made };
    const Targets = [{ Arn: live('publish'), RetryPolicy: { ...threeTries, MaximumRetryAttempts: 20 } }];
    expect(resolved(requested?.[1].Properties)).toMatchObject({ EventPattern, Targets });
    const DestinationConfig = { OnFailure: { Destination: live('abandon') } };
    expect(resolved(invokedLater('publish'))).toMatchObject({ ...threeTries, DestinationConfig });
  });

  it('keep lost events in a queue: events that EventBridge cannot deliver, and events on which `abandon` fails', () => {
    expect(ofType(made, 'AWS::SQS::Queue')).toHaveLength(1);
    const [queueId, queue] = named(made, 'LostEvents3');
    const kept = { MessageRetentionPeriod: 14 * 86_400, SqsManagedSseEnabled: true };
    expect(queue.Properties).toMatchObject({ QueueName: 'performance-reports-test-lost-events', ...kept });
    const Arn = `<${queueId}.Arn>`;
    expect(resolved(requested?.[1].Properties['Targets'])).toMatchObject([{ DeadLetterConfig: { Arn } }]);
    const DestinationConfig = { OnFailure: { Destination: Arn } };
    expect(resolved(invokedLater('abandon'))).toMatchObject({ ...threeTries, DestinationConfig });
  });

  it('have a queue of lost events whose policy lets only the publication rule send, only over TLS', () => {
    const [policy, ...more] = ofType(made, 'AWS::SQS::QueuePolicy');
    expect(more).toEqual([]);
    const everybody = { Effect: 'Deny', Principal: { AWS: '*' } };
    const Principal = { Service: 'events.amazonaws.com' };
    const events = { Effect: 'Allow', Action: 'sqs:SendMessage', Principal };
    const ofRule = { ArnEquals: { 'aws:SourceArn': `<${requested?.[0]}.Arn>` } };
    const Statement = [
      { ...everybody, Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
      { ...events, Condition: ofRule },
    ];
    expect(resolved(policy?.Properties['PolicyDocument'])).toMatchObject({ Statement });
  });

  it('have no reserved concurrency, except publish if the stage reserves some', () => {
    const reserved = (resources: typeof made) =>
      propertiesOf(resources, 'AWS::Lambda::Function')
        .map((each) => [each['FunctionName'], each['ReservedConcurrentExecutions']])
        .filter(([, executions]) => executions !== undefined);
    expect(reserved(made)).toEqual([]);
    expect(reserved(grown)).toEqual([['performance-reports-test-publish', 5]]);
  });
});

describe('the probe', () => {
  it('sends requests to the address that partners use, as often as the stage says, and knows the promised hour', () => {
    const probe = functionOf(grown, 'probe');
    expect(readProbeConfig(environment(probe))).toEqual({
      scope: 'api://performance-reports/.default',
      serviceUrl: 'https://reports.example.com',
      tokenUrl: 'https://login.example/tenant/token',
      clientSecretId: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:probe-AbCdEf',
    });
    expect(readProbeConfig(environment(functionOf(open, 'probe'))).finalAfterHours).toBe(6);
    const schedules = propertiesOf(grown, 'AWS::Events::Rule').map((rule) => rule['ScheduleExpression']);
    expect(schedules).toContain('rate(5 minutes)');
  });
});

describe('a release', () => {
  const aliases = (resources: typeof made) => ofType(resources, 'AWS::Lambda::Alias');

  it('is a version of each function, which all callers reach through the live alias', () => {
    const names = propertiesOf(made, 'AWS::Lambda::Alias').map((alias) => alias['Name']);
    // `release-check` is part of a deployment and not of the service, so it has no alias.
    expect(names).toEqual(Array(ofType(made, 'AWS::Lambda::Function').length - 1).fill('live'));
    const uriOf = ({ Integration }: Resource['Properties']) => (Integration as { Uri: unknown }).Uri;
    const permissions = propertiesOf(made, 'AWS::Lambda::Permission').map((each) => each['FunctionName']);
    const called = [...permissions, ...propertiesOf(made, 'AWS::ApiGateway::Method').map(uriOf)];
    for (const each of called) expect(String(resolved(each))).toMatch(/<\w+live\w+>/);
  });

  it('is deployed to API Gateway only after API Gateway has the permission to call each function', () => {
    const permissions = Object.entries(made).filter(
      ([, { Type, Properties }]) =>
        Type === 'AWS::Lambda::Permission' && Properties['Principal'] === 'apigateway.amazonaws.com',
    );
    const routedFunctions = new Set(routed(made).map(({ handler }) => handler));
    expect(permissions).toHaveLength(routedFunctions.size);
    // CloudFormation would create the stage, and so the deployment, before a permission that refers to the stage.
    for (const [, { Properties }] of permissions)
      expect(JSON.stringify(Properties['SourceArn'])).not.toContain('DeploymentStage');
    const [deployment] = ofType(made, 'AWS::ApiGateway::Deployment');
    expect(deployment?.DependsOn).toEqual(expect.arrayContaining(permissions.map(([id]) => id)));
  });

  it('keeps the earlier versions, except a version whose deployment failed', () => {
    const policies = { DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' };
    for (const each of ofType(made, 'AWS::Lambda::Version')) expect(each).toMatchObject(policies);
  });

  it('passes a gate before any alias moves', () => {
    for (const resources of [made, grown]) {
      const [gateId, gate] = named(resources, 'ReleaseGate');
      expect(aliases(resources).length).toBeGreaterThanOrEqual(8);
      for (const { DependsOn } of aliases(resources)) expect(DependsOn).toContain(gateId);
      expect(resolved(gate.Properties)).toMatchObject({
        ServiceToken: expect.stringMatching(/^<releasecheck\w+\.Arn>$/),
        // Longer than the function, which so can say itself why it refuses.
        ServiceTimeout: '420',
        Release: '0123456789ab-c0ffee',
        IsOpen: false,
      });
      expect(functionOf(resources, 'release-check').Properties['Timeout']).toBe(300);
    }
  });

  it('has a gate that asks the new versions of all functions that requests reach', () => {
    const [, { Properties }] = named(grown, 'ReleaseGate');
    const versions = resolved(Properties['Versions']) as Record<string, string>;
    expect(Object.keys(versions).sort()).toEqual(
      [...new Set(routes.map(({ functionName }) => functionName))].sort(),
    );
    for (const arn of Object.values(versions)) expect(arn).toMatch(/^<\w+CurrentVersion\w+>$/);
    expect(readProbeConfig(environment(functionOf(grown, 'release-check'))).serviceUrl).toBe(
      'https://reports.example.com',
    );
  });

  it('keeps its gate if the operator opens it, and never asks for its deletion', () => {
    const [, open] = named(resourcesOf(buildStacks(grownAccount, { isOpen: true }).api), 'ReleaseGate');
    const [, closed] = named(grown, 'ReleaseGate');
    expect(open).toEqual({ ...closed, Properties: { ...closed.Properties, IsOpen: true } });
    expect(closed).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
  });
});

describe('the firewall', () => {
  const [, { Properties: acl }] = named(made, 'FirewallAcl');

  it('guards the API’s stage, and allows every request that no rule blocks', () => {
    expect(acl).toMatchObject({ Scope: 'REGIONAL', DefaultAction: { Allow: {} } });
    expect(acl['Rules']).toHaveLength(3);
    const [, association] = named(made, 'FirewallAssociation');
    expect(resolved(association.Properties['ResourceArn'])).toMatch(
      /:\/restapis\/<ReportsApi\w+>\/stages\/<ReportsApiDeploymentStagetest\w+>$/,
    );
  });

  it('shows no token and no query value in its samples', () => {
    const ofField = (Field: object) => ({ Action: 'SUBSTITUTION', Field });
    const token = ofField({ FieldType: 'SINGLE_HEADER', FieldKeys: ['authorization'] });
    const DataProtections = [token, ofField({ FieldType: 'QUERY_STRING' })];
    expect(acl['DataProtectionConfig']).toEqual({ DataProtections });
  });
});

describe('the API', () => {
  it('is regional, and has a function for every path and method', () => {
    expect(ofType(made, 'AWS::ApiGateway::RestApi')[0]?.Properties).toMatchObject({
      EndpointConfiguration: { Types: ['REGIONAL'] },
    });
    const named = routes.flatMap(({ path }) => ROUTE_METHODS.map((method) => `${method} ${path}`));
    const methods = [...named, ...NODES.map((path) => `ANY ${path}`)];
    const deployed = routed(made).map(({ method, path }) => `${method} ${path}`);
    expect(deployed.sort()).toEqual(methods.sort());
    for (const { method, path, handler } of routed(made)) {
      const route = method === 'ANY' ? undefined : routes.find((one) => one.path === path);
      expect(handler.Properties['FunctionName']).toBe(
        `performance-reports-test-${route?.functionName ?? PUBLIC_FUNCTION}`,
      );
    }
  });

  interface MethodSetting {
    readonly HttpMethod: string;
    readonly ResourcePath: string;
    readonly ThrottlingBurstLimit: number;
    readonly ThrottlingRateLimit: number;
  }
  const methodSettings = (resources: typeof made) =>
    propertiesOf(resources, 'AWS::ApiGateway::Stage')[0]?.['MethodSettings'] as MethodSetting[];

  it('limits the requests to each method of its routes, and by default those to all other methods', () => {
    const [others, ...named] = methodSettings(made);
    // CloudFormation's name for the root is a single slash; every other path has one more slash at its beginning.
    const pathOf = (path: string) => (path === '/' ? path : path.slice(1).replaceAll('~1', '/'));
    expect(
      named.map(({ ResourcePath, HttpMethod }) => `${HttpMethod} ${pathOf(ResourcePath)}`).sort(),
    ).toEqual(routes.flatMap(({ path }) => ROUTE_METHODS.map((method) => `${method} ${path}`)).sort());
    const throttling = { ThrottlingRateLimit: 5, ThrottlingBurstLimit: 3 };
    const unlogged = { LoggingLevel: 'OFF', DataTraceEnabled: false };
    expect(others).toEqual({ HttpMethod: '*', ResourcePath: '/*', ...throttling, ...unlogged });
    const isReport = ({ HttpMethod, ResourcePath }: MethodSetting) =>
      HttpMethod === 'GET' && ResourcePath.endsWith('performance');
    const numbers = serving(ofType(made, 'AWS::Lambda::Function')).map(
      (each) => readConfig(environment(each)).requestsPerSecond,
    );
    expect(new Set(numbers)).toEqual(new Set(named.filter(isReport).map((one) => one.ThrottlingRateLimit)));
  });

  it.each([
    [1_000, []],
    [3_000, ['https://dash.partner.example']],
  ])('lets requests use at most %i executions of Lambda (allowed origins: %j)', (executions, corsOrigins) => {
    const resources = resourcesOf(buildStacks({ ...newAccount, executions, corsOrigins }).api);
    // A request takes up to 25 s in the waiting room, 8 s at reports and days, and 50 ms elsewhere.
    const secondsOf = (method: string, path: string) => {
      if (method === 'OPTIONS') return 0.05;
      if (path.includes('downloads')) return 25;
      return path.includes('performance') ? 8 : 0.05;
    };
    const heldBy = ({ HttpMethod, ResourcePath, ThrottlingBurstLimit, ThrottlingRateLimit }: MethodSetting) =>
      ThrottlingBurstLimit + ThrottlingRateLimit * secondsOf(HttpMethod, ResourcePath);
    const [others, ...named] = methodSettings(resources);
    const held = named.reduce((sum, each) => sum + heldBy(each), 0);
    const rest = routed(resources).length - named.length;
    expect(held + rest * (others ? heldBy(others) : 0)).toBeLessThanOrEqual(executions);
    // The limits are not needlessly low: requests to the routes alone can use more than 80 % of the executions.
    expect(held).toBeGreaterThan(0.8 * executions);
  });

  it.each([10, 100, 1_000])('lets honest requests pass if it has %i executions', (executions) => {
    for (const [name, { burst, requestsPerSecond }] of limitsOfRoutes(executions)) {
      const isOfReport = /performance\/HEAD$/.test(name);
      const mayWait = /performance|downloads/.test(name) && !name.endsWith('/OPTIONS');
      // Two requests may come at once, unless both could wait for long in a stage that has few executions.
      expect(burst, name).toBeGreaterThanOrEqual(isOfReport ? 5 : mayWait && executions < 100 ? 1 : 2);
      expect(requestsPerSecond, name).toBeGreaterThanOrEqual(isOfReport ? 1 : mayWait ? 0.05 : 5);
      expect(burst, name).toBeLessThanOrEqual(executions / 2);
    }
  });

  it('keeps the account’s log role, which other stages use, even if its first deployment is rolled back', () => {
    const Principal = { Service: 'apigateway.amazonaws.com' };
    const roles = ofType(made, 'AWS::IAM::Role').filter(({ DeletionPolicy }) => DeletionPolicy === 'Retain');
    expect(roles).toMatchObject([
      { Properties: { AssumeRolePolicyDocument: { Statement: [{ Principal }] } } },
    ]);
    expect(ofType(made, 'AWS::ApiGateway::Account')).toMatchObject([{ DeletionPolicy: 'Retain' }]);
  });

  it('logs no token, no query value and no ticket', () => {
    const [, stage] = named(made, 'ReportsApiDeploymentStage');
    const { Format } = stage.Properties['AccessLogSetting'] as { Format: string };
    expect(JSON.parse(Format)).toEqual(ACCESS_LOG_FIELDS);
    for (const secret of [
      // This message quotes the Authorization header of a request that matches no route.
      'error.message',
      'authorize',
      'context.path',
      'requestOverride',
      'querystring',
      'identity.apiKey',
      // A quote in a User-Agent would break the log line.
      'userAgent',
    ])
      expect(Format).not.toContain(secret);
  });

  it('answers with problem documents, like the service, when the gateway itself answers', () => {
    const answers = ofType(made, 'AWS::ApiGateway::GatewayResponse').map(({ Properties }) => Properties);
    expect(answers.map(({ ResponseType, StatusCode }) => `${ResponseType} ${StatusCode}`)).toEqual([
      ...['MISSING_AUTHENTICATION_TOKEN 404', 'THROTTLED 429', 'INTEGRATION_FAILURE 502'],
      ...['INTEGRATION_TIMEOUT 504', 'WAF_FILTERED 403', 'DEFAULT_4XX 400', 'DEFAULT_5XX 500'],
      ...['INVALID_SIGNATURE 404', 'EXPIRED_TOKEN 404'],
    ]);
    for (const { ResponseParameters, ResponseTemplates, StatusCode } of answers) {
      const headers: Record<string, unknown> = {
        ...{ 'Content-Type': "'application/problem+json'", 'Cache-Control': "'no-store'" },
        ...{ 'X-Content-Type-Options': "'nosniff'", 'Strict-Transport-Security': "'max-age=31536000'" },
        ...(StatusCode === '429' && { 'Retry-After': expect.stringMatching(/^'\d+'$/) }),
      };
      const named = Object.entries(headers).map(([name, value]) => [`gatewayresponse.header.${name}`, value]);
      expect(ResponseParameters).toEqual(Object.fromEntries(named));
      const document = JSON.parse((ResponseTemplates as Record<string, string>)['application/json'] ?? '');
      expect(Object.keys(document)).toEqual(['detail', 'title', 'status', 'type', 'help', 'instance']);
      expect(document.instance).toBe('urn:uuid:$context.requestId');
    }
    expect(JSON.stringify(answers[0])).toContain(gatewayProblems.notFound.detail);
  });

  // Without these, an API accepts TLS 1.0, also at its domain.
  const POLICY = { SecurityPolicy: 'SecurityPolicy_TLS13_1_2_2021_06', EndpointAccessMode: 'BASIC' };

  it('accepts only TLS 1.2 or later', () => {
    for (const resources of [made, grown])
      expect(propertiesOf(resources, 'AWS::ApiGateway::RestApi')).toMatchObject([POLICY]);
  });

  it('answers at the stage’s domain, if the stage has one', () => {
    expect(ofType(made, 'AWS::ApiGateway::DomainName')).toEqual([]);
    const domain = { DomainName: 'reports.example.com', EndpointConfiguration: { Types: ['REGIONAL'] } };
    expect(propertiesOf(grown, 'AWS::ApiGateway::DomainName')).toMatchObject([{ ...domain, ...POLICY }]);
    expect(ofType(grown, 'AWS::ApiGateway::BasePathMapping')).toHaveLength(1);
    const record = { Name: 'reports.example.com.', HostedZoneId: 'Z0123456789' };
    expect(propertiesOf(grown, 'AWS::Route53::RecordSet')[0]).toMatchObject(record);
  });

  it('closes its execute-api address if the stage has a domain', () => {
    const { domain, ...rest } = grownAccount;
    const without = resourcesOf(buildStacks(rest).api);
    const isClosed = (resources: typeof made) =>
      propertiesOf(resources, 'AWS::ApiGateway::RestApi').map((api) => api['DisableExecuteApiEndpoint']);
    expect([isClosed(grown), isClosed(without)]).toEqual([[true], [false]]);
    // API Gateway closes the address only with a new deployment, which needs another logical id.
    const deploymentOf = (resources: typeof made) =>
      Object.entries(resources).find(([, { Type }]) => Type === 'AWS::ApiGateway::Deployment')?.[0];
    expect(deploymentOf(grown)).not.toBe(deploymentOf(without));
  });
});

describe('web pages of other origins', () => {
  it('are allowed by the functions, on every route, if the stage names their origins', () => {
    const preflights = routed(open).filter(({ method }) => method === 'OPTIONS');
    expect(preflights.map(({ path }) => path).sort()).toEqual(routes.map(({ path }) => path).sort());
    for (const { handler } of preflights) {
      const { corsOrigins, currency } = readConfig(environment(handler));
      expect([corsOrigins, currency]).toEqual([keptWithCognito.corsOrigins, 'EUR']);
    }
  });

  it('may read the gateway’s and the firewall’s own answers only if the stage names origins', () => {
    const header = 'gatewayresponse.header.Access-Control-Allow-Origin';
    const allowed = (resources: typeof made) =>
      propertiesOf(resources, 'AWS::ApiGateway::GatewayResponse').map(
        (answer) => (answer['ResponseParameters'] as Record<string, string>)[header],
      );
    expect(new Set(allowed(open))).toEqual(new Set(["'*'"]));
    expect(new Set(allowed(made))).toEqual(new Set([undefined]));
    const ofFirewall = (resources: typeof made) => JSON.stringify(ofType(resources, 'AWS::WAFv2::WebACL'));
    const header429 = '"ResponseCode":429,"ResponseHeaders":[';
    const isReadable = (resources: typeof made) =>
      /^[^\]]*"Access-Control-Allow-Origin","Value":"\*"/.test(
        ofFirewall(resources).split(header429)[1] ?? '',
      );
    expect([isReadable(open), isReadable(made)]).toEqual([true, false]);
  });
});

describe('the edge for downloads', () => {
  const edge = (resources: typeof made) => ofType(resources, 'AWS::CloudFront::Distribution');
  /** The edge's origin and the links' origin, from the functions' settings. They must be equal in all functions. */
  const knownTo = (resources: typeof made) => {
    const known = serving(ofType(resources, 'AWS::Lambda::Function')).map((each) => {
      const { downloadsEdgeOrigin, linkOrigin } = readConfig(environment(each));
      return JSON.stringify([downloadsEdgeOrigin, linkOrigin]);
    });
    expect(new Set(known).size).toBe(1);
    return JSON.parse(known[0] ?? '');
  };

  it('exists if the stage has it on or on standby, and links lead to it only if it is on', () => {
    expect([edge(made).length, knownTo(made)]).toEqual([0, [null, null]]);
    // On standby, the edge's origin is already in the settings: open web pages may use the edge once it is on.
    expect([edge(open).length, knownTo(open)]).toEqual([1, ['https://d1.cloudfront.net', null]]);
    const origins = ['https://d1.cloudfront.net', 'https://d1.cloudfront.net'];
    expect([edge(grown).length, knownTo(grown)]).toEqual([1, origins]);
  });

  it('sends requests to the results bucket’s regional name, without its own signature or permission', () => {
    const DomainName = expect.stringMatching(/results.*\.s3\.eu-west-1\./);
    expect(resolved(edge(grown)[0]?.Properties['DistributionConfig'])).toMatchObject({
      Origins: [{ DomainName, S3OriginConfig: { OriginAccessIdentity: '' } }],
    });
    expect(ofType(grown, 'AWS::CloudFront::OriginAccessControl')).toEqual([]);
    expect(ofType(grown, 'AWS::S3::BucketPolicy')).toEqual([]);
  });

  it('has the cache key of its local stand-in, accepts HTTPS only, and logs nothing', () => {
    const config = edge(grown)[0]?.Properties['DistributionConfig'];
    const errors = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504];
    const methods = { AllowedMethods: ['GET', 'HEAD', 'OPTIONS'] };
    expect(config).toMatchObject({
      DefaultCacheBehavior: { ...methods, Compress: false, ViewerProtocolPolicy: 'https-only' },
      CustomErrorResponses: errors.map((ErrorCode) => ({ ErrorCode, ErrorCachingMinTTL: 0 })),
    });
    expect(config).not.toHaveProperty('Logging');
    expect(config).not.toHaveProperty('DefaultCacheBehavior.OriginRequestPolicyId');
    const ParametersInCacheKeyAndForwardedToOrigin = {
      ...{ QueryStringsConfig: { QueryStringBehavior: 'all' }, CookiesConfig: { CookieBehavior: 'none' } },
      HeadersConfig: { HeaderBehavior: 'whitelist', Headers: DOWNLOADS_EDGE.key.headers },
      ...{ EnableAcceptEncodingGzip: false, EnableAcceptEncodingBrotli: false },
    };
    const policy = { MinTTL: 0, DefaultTTL: 0, MaxTTL: 1, ParametersInCacheKeyAndForwardedToOrigin };
    const made = propertiesOf(grown, 'AWS::CloudFront::CachePolicy');
    expect(made).toMatchObject([{ CachePolicyConfig: policy }]);
  });
});
