import { describe, expect, it } from 'vitest';
import { ACCESS_LOG_FIELDS } from '../../infra/api/access-log.ts';
import { gatewayProblems } from '../../lib/answers/gateway-problems.ts';
import { readConfig } from '../../lib/config.ts';
import { grownAccount, newAccount } from './accounts.ts';
import { buildStacks, named, ofType, type Resource, resolved, resourcesOf } from './synthesize.ts';

const made = resourcesOf(buildStacks(newAccount).api);
const grown = resourcesOf(buildStacks(grownAccount).api);

const environment = ({ Properties }: Resource) =>
  (resolved(Properties['Environment']) as { Variables: Record<string, string> }).Variables;

const ROUTES = ['GET', 'HEAD'].flatMap((method) => [
  `${method} /openapi.json`,
  `${method} /reporting/advertiserperformance`,
  `${method} /reporting/downloads/{ticket}/{hop}`,
  `${method} /reporting/publisherperformance`,
]);

/** The path of a resource that is referred to by `<logical id>`. */
function pathOf(resources: typeof made, reference: string): string {
  const resource = resources[reference.slice(1, -1)];
  if (resource?.Type !== 'AWS::ApiGateway::Resource') return '';
  return `${pathOf(resources, resolved(resource.Properties['ParentId']) as string)}/${resource.Properties['PathPart']}`;
}

/** The functions behind routes, each with its method and path. */
const routed = (resources: typeof made) =>
  ofType(resources, 'AWS::ApiGateway::Method').map(({ Properties }) => {
    const { Uri, TimeoutInMillis } = Properties['Integration'] as { Uri: unknown; TimeoutInMillis: number };
    const id = /<(\w+)\.Arn>/.exec(String(resolved(Uri)))?.[1] ?? '';
    return {
      method: Properties['HttpMethod'],
      path: pathOf(resources, resolved(Properties['ResourceId']) as string),
      gatewayMs: TimeoutInMillis,
      handler: resources[id] as Resource,
    };
  });

describe('the functions', () => {
  const functions = ofType(made, 'AWS::Lambda::Function');

  it('run on Node 24 and arm64, traced, with a log of their own that expires', () => {
    expect(functions.map(({ Properties }) => Properties['FunctionName'])).toEqual(
      ['publisherperformance', 'advertiserperformance', 'downloads', 'openapi', 'publish'].map(
        (name) => `performance-reports-test-${name}`,
      ),
    );
    for (const { Properties } of functions) {
      expect(Properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
        TracingConfig: { Mode: 'Active' },
        LoggingConfig: { LogFormat: 'JSON' },
      });
      const { LogGroup } = Properties['LoggingConfig'] as { LogGroup: { Ref: string } };
      expect(made[LogGroup.Ref]?.Properties).toMatchObject({
        LogGroupName: `/aws/lambda/${Properties['FunctionName']}`,
        RetentionInDays: 14,
      });
    }
  });

  it('have every variable that they read', () => {
    for (const each of functions) {
      const { token, ...config } = readConfig(environment(each));
      expect(token.apiScope).toBe('api://performance-reports');
      expect(config).toMatchObject({
        entitlements: { by: 'partners', bucket: 'made-partners' },
        athenaDatabase: 'performance_reports_test',
        athenaWorkgroup: 'performance-reports-test',
        resultsBucket: 'made-results',
        queryWaitMs: 25_000,
        longestQueryMs: 600_000,
        downloadUrlSeconds: 300,
      });
      expect(environment(each)['POWERTOOLS_SERVICE_NAME']).toBe('performance-reports-test');
    }
  });

  it('know the claims that entitle callers, where the stage has some', () => {
    for (const each of ofType(grown, 'AWS::Lambda::Function'))
      expect(readConfig(environment(each)).entitlements).toEqual({
        by: 'claims',
        rules: {
          PublisherCompanyId: { claim: 'roles', prefix: 'publisher-company:', everyCompany: 'every-company' },
          AdvertiserCompanyId: undefined,
        },
      });
  });

  it('give up after their query wait and before the gateway does', () => {
    expect(routed(made)).toHaveLength(8);
    for (const { handler, gatewayMs } of routed(made)) {
      const functionMs = Number(handler.Properties['Timeout']) * 1_000;
      expect(Number(environment(handler)['QUERY_WAIT_MS'])).toBeLessThan(functionMs);
      expect(functionMs).toBeLessThan(gatewayMs);
      // More than that, a regional API takes on request alone.
      expect(gatewayMs).toBeLessThanOrEqual(29_000);
    }
  });

  it('start publishing on the arrival of an order, once', () => {
    const [rule] = ofType(made, 'AWS::Events::Rule');
    expect(resolved(rule?.Properties)).toMatchObject({
      EventPattern: {
        source: ['aws.s3'],
        'detail-type': ['Object Created'],
        detail: {
          bucket: { name: ['made-results'] },
          object: { key: [{ prefix: 'orders/' }] },
        },
      },
      Targets: [{ Arn: expect.stringMatching(/^<publish\w+\.Arn>$/) }],
    });
    expect(ofType(made, 'AWS::Lambda::EventInvokeConfig')[0]?.Properties).toMatchObject({
      MaximumRetryAttempts: 0,
    });
  });
});

describe('the firewall', () => {
  const [, { Properties: acl }] = named(made, 'FirewallAcl');

  it('stands before the stage and lets pass what no rule stops', () => {
    expect(acl).toMatchObject({ Scope: 'REGIONAL', DefaultAction: { Allow: {} } });
    expect((acl['Rules'] as { Name: string }[]).map(({ Name }) => Name)).toEqual([
      'requests-per-address',
      'core',
      'known-bad-inputs',
    ]);
    const [, association] = named(made, 'FirewallAssociation');
    expect(resolved(association.Properties['ResourceArn'])).toMatch(
      /:\/restapis\/<ReportsApi\w+>\/stages\/<ReportsApiDeploymentStagetest\w+>$/,
    );
  });

  it('shows no token and no query value in its samples', () => {
    expect(acl['DataProtectionConfig']).toEqual({
      DataProtections: [
        { Action: 'SUBSTITUTION', Field: { FieldType: 'SINGLE_HEADER', FieldKeys: ['authorization'] } },
        { Action: 'SUBSTITUTION', Field: { FieldType: 'QUERY_STRING' } },
      ],
    });
  });
});

describe('the API', () => {
  it('is regional, takes GET and HEAD alone, and throttles all callers together', () => {
    expect(ofType(made, 'AWS::ApiGateway::RestApi')[0]?.Properties).toMatchObject({
      EndpointConfiguration: { Types: ['REGIONAL'] },
    });
    expect(
      routed(made)
        .map(({ method, path }) => `${method} ${path}`)
        .sort(),
    ).toEqual(ROUTES);
    expect(ofType(made, 'AWS::ApiGateway::Stage')[0]?.Properties).toMatchObject({
      TracingEnabled: true,
      MethodSettings: [
        {
          HttpMethod: '*',
          ResourcePath: '/*',
          ThrottlingRateLimit: 5,
          ThrottlingBurstLimit: 10,
          LoggingLevel: 'OFF',
          DataTraceEnabled: false,
        },
      ],
    });
  });

  it('logs no token, no query value and no ticket', () => {
    const [, stage] = named(made, 'ReportsApiDeploymentStage');
    const { Format } = stage.Properties['AccessLogSetting'] as { Format: string };
    expect(JSON.parse(Format)).toEqual(ACCESS_LOG_FIELDS);
    for (const secret of [
      // It quotes the Authorization header of a request that matches no route.
      'error.message',
      'authorize',
      'context.path',
      'requestOverride',
      'querystring',
      'identity.apiKey',
    ])
      expect(Format).not.toContain(secret);
  });

  it('answers in the shape of the service, for whatever reason it answers', () => {
    const answers = ofType(made, 'AWS::ApiGateway::GatewayResponse').map(({ Properties }) => Properties);
    expect(answers.map(({ ResponseType, StatusCode }) => `${ResponseType} ${StatusCode}`)).toEqual([
      'MISSING_AUTHENTICATION_TOKEN 404',
      'REQUEST_TOO_LARGE 413',
      'THROTTLED 429',
      'INTEGRATION_FAILURE 502',
      'INTEGRATION_TIMEOUT 504',
      'INVALID_SIGNATURE 404',
      'EXPIRED_TOKEN 404',
      'WAF_FILTERED 403',
      'DEFAULT_4XX 400',
      'DEFAULT_5XX 500',
    ]);
    for (const { ResponseParameters, ResponseTemplates, StatusCode } of answers) {
      expect(ResponseParameters).toEqual({
        'gatewayresponse.header.Content-Type': "'application/problem+json'",
        'gatewayresponse.header.Cache-Control': "'no-store'",
      });
      const document = JSON.parse((ResponseTemplates as Record<string, string>)['application/json'] ?? '');
      expect(Object.keys(document)).toEqual(['detail', 'title', 'status', 'type', 'instance']);
      expect(document).toMatchObject({
        type: expect.stringMatching(/^urn:problem-type:performance-reports:[a-z-]+$/),
        status: Number(StatusCode),
        instance: 'urn:uuid:$context.requestId',
      });
    }
    expect(JSON.stringify(answers[0])).toContain(gatewayProblems.notFound.detail);
  });

  it('answers at the domain of the stage, if it has one', () => {
    expect(ofType(made, 'AWS::ApiGateway::DomainName')).toEqual([]);
    expect(ofType(grown, 'AWS::ApiGateway::DomainName')[0]?.Properties).toMatchObject({
      DomainName: 'reports.example.com',
      SecurityPolicy: 'TLS_1_2',
      EndpointConfiguration: { Types: ['REGIONAL'] },
    });
    expect(ofType(grown, 'AWS::ApiGateway::BasePathMapping')).toHaveLength(1);
    expect(ofType(grown, 'AWS::Route53::RecordSet')[0]?.Properties).toMatchObject({
      Name: 'reports.example.com.',
      HostedZoneId: 'Z0123456789',
    });
  });
});
