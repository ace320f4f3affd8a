import { S3 } from '@aws-sdk/client-s3';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { limitsOfRoutes } from '../../infra/api/method-limits.ts';
import { readStage } from '../../infra/stage.ts';
import { prod } from '../../infra/stages.ts';
import { partnerKey } from '../../lib/access/partner-record.ts';
import { tables } from '../../lib/report/tables.ts';
import { diagnose } from '../../tools/doctor/diagnose.ts';
import { healthChecks } from '../../tools/doctor/health.ts';
import type { AccountQuotas } from '../../tools/doctor/quotas.ts';
import { doctorCommand } from '../../tools/doctor.ts';
import { type Answer, list, noStack, refusal, result } from './aws-answer.ts';
import { PARTNERS_BUCKET, startAwsStandIn } from './aws-stand-in.ts';
import { partnerHere } from './run-partner.ts';

const EMAIL = 'operator@example.com';
const told = { alarms: { ...prod.alarms, email: EMAIL }, runbookUrl: 'https://git.example/runbook.md' };
const stage = readStage('prod', { ...prod, ...told, reservedConcurrency: { publish: 5, probe: 1 } });
const stageLimits = [...limitsOfRoutes(stage.executions).values()];
const acceptedPerSecond = stageLimits.reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond, 0);
const lacksAll = `lacks ${tables.map(({ name }) => name).join(' and ')}`;
const quota = (value: number) => ({ value, isAdjustable: true });
const grown: AccountQuotas = {
  // The stage reserves 6 of 1,000 executions for publishing and for the probe.
  executions: quota(994),
  reservedExecutions: 6,
  activeQueries: quota(200),
  starts: quota(20),
  requests: quota(10_000),
  tokens: quota(150),
};

describe('diagnose', () => {
  it('finds no problem in an account with the quotas of the guide, and lists the limits, the narrowest first', () => {
    const { limits, findings } = diagnose(grown, stage);
    expect(findings).toEqual([]);
    expect(limits.map(({ name }) => name)).toEqual([
      'Athena, StartQueryExecution a second',
      'this stage, executions',
      'Athena, active DML queries',
      'Lambda, concurrent executions',
      'Cognito, ClientAuthentication a second',
      'API Gateway, requests a second',
    ]);
    expect(limits[0]?.reportsPerSecond).toBe(20);
  });

  const raise = (service: string, code: string, value: number) =>
    `aws service-quotas request-service-quota-increase --service-code ${service} --quota-code ${code} --desired-value ${value}`;
  const until = (executions: number) =>
    `\n  Until then, set executions: ${executions}, so that partners are told 429 and when to come again.`;
  const raiseLambda = (value: number, now: number) => raise('lambda', 'L-B99A9384', value) + until(now);
  const askSupport =
    'AWS does not raise "Lambda, concurrent executions" on request: ask its support, or use another account or region.';
  it.each<[string, Partial<AccountQuotas> & { more?: object }, RegExp, string]>([
    [
      'a new account has few executions',
      { executions: quota(10), reservedExecutions: 0 },
      /hold 1000 executions of Lambda at a time; the account has 10/,
      raiseLambda(1000, 10),
    ],
    [
      'executions are few and AWS does not raise their quota',
      { executions: { value: 10, isAdjustable: false }, reservedExecutions: 0 },
      /the account has 10/,
      askSupport + until(10),
    ],
    [
      'other functions reserve most executions',
      { executions: quota(400), reservedExecutions: 605 },
      /the account has 400/,
      raiseLambda(1599, 400),
    ],
    [
      'the region allows few active queries',
      { activeQueries: quota(20) },
      /20 queries of 8 s at a time are 2.5 reports a second/,
      raise('athena', 'L-FC5F6546', 200),
    ],
    [
      'one partner may take too many active queries',
      { more: { queries: { ...stage.queries, underWayPerPartner: 60 } } },
      /One partner may have 60 of the account's 200 active queries/,
      'Set queries.underWayPerPartner: 50.',
    ],
    [
      'no executions are reserved for publishing',
      { executions: quota(1_000), reservedExecutions: 0, more: { reservedConcurrency: undefined } },
      /large reports are not published/,
      'Set reservedConcurrency: { publish: 5, probe: 1 } in the stage.',
    ],
    [
      'API Gateway takes fewer requests than the stage',
      { requests: quota(30) },
      /all of the account's APIs together 30/,
      raise('apigateway', 'L-8A5B8E43', Math.ceil(acceptedPerSecond)),
    ],
  ])('says what to do if %s', (_, { more, ...quotas }, finding, remedy) => {
    const { findings } = diagnose({ ...grown, ...quotas }, { ...stage, ...more } as typeof stage);
    expect(findings).toEqual([{ finding: expect.stringMatching(finding), remedy }]);
  });

  it('leaves out quotas that AWS does not report, and the quota of tokens if a stage does not use Cognito', () => {
    const existing = { ...stage, identity: { provider: 'existing' } } as unknown as typeof stage;
    const { limits } = diagnose({ ...grown, starts: undefined }, existing);
    for (const { name } of limits) expect(name).not.toMatch(/StartQueryExecution|ClientAuthentication/);
  });
});

const aws = await startAwsStandIn({ dev: 'cognito' });
afterAll(() => aws.close());
beforeEach(() => {
  for (const [name, value] of Object.entries(aws.env)) vi.stubEnv(name, value);
  aws.calls.length = 0;
});

const TOPIC = 'arn:aws:sns:us-east-1:000000000000:performance-reports-dev-alarms';
const subscribed = (SubscriptionArn: string) =>
  result('ListSubscriptionsByTopic', list('Subscriptions', [{ Endpoint: EMAIL, SubscriptionArn }]));
const topics = [{ ResourceType: 'AWS::SNS::Topic', PhysicalResourceId: TOPIC }];
/** What AWS answers for a healthy stage in a new account, by the call. */
const healthy: Readonly<Record<string, Answer>> = {
  GetWorkGroup: { body: { WorkGroup: { Name: 'performance-reports-dev', State: 'ENABLED' } } },
  ListTableMetadata: { body: { TableMetadataList: tables.map(({ name }) => ({ Name: name })) } },
  ListStackResources: result('ListStackResources', list('StackResourceSummaries', topics)),
  ListSubscriptionsByTopic: subscribed(`${TOPIC}:1`),
  GetServiceQuota: { body: { Quota: { Value: 150, Adjustable: true } } },
};
const limit = { ConcurrentExecutions: 10, UnreservedConcurrentExecutions: 10 };
const answering = (changes: typeof healthy) => {
  const answers = { ...healthy, ...changes };
  aws.answer = (call) =>
    answers[call] ??
    (/account-settings/.test(call) ? { body: { AccountLimit: limit } } : undefined) ??
    (/\/functions\//.test(call) ? refusal('ResourceNotFoundException', 'none', 404) : undefined);
};

describe('the checks of a deployed stage', () => {
  const deployed = readStage('dev', { ...prod, ...told });
  const addresses = { apiUrl: '', tokenUrl: '', scope: '' };
  const outputs = { partnersBucket: PARTNERS_BUCKET, userPoolId: 'pool', ...addresses };
  const found = async () => {
    const findings: string[] = [];
    for (const { find } of healthChecks(deployed, outputs))
      for (const { finding, remedy } of [(await find()) ?? []].flat()) findings.push(`${finding} ${remedy}`);
    return findings;
  };
  const PROBE = { ClientId: 'probe-id', ClientName: 'probe', AllowedOAuthScopes: [], secrets: new Map() };
  const ADD = 'add dev probe --client probe-id --publisher-companies every-company --contact a@b.example';

  it('find that the register is empty and that the probe is no partner, until the probe is added', async () => {
    answering({});
    aws.clients.set('probe-id', PROBE);
    expect(await found()).toEqual([
      expect.stringMatching(
        /^The register of partners is empty: every caller is answered 401\. .*#restore-the-/,
      ),
      expect.stringMatching(
        /^The probe's client probe-id sees no publisher company.* add dev probe --client probe-id/,
      ),
    ]);
    await partnerHere(ADD.split(' '));
    expect(await found()).toEqual([]);
    await partnerHere('set dev probe --active no'.split(' '));
    expect(await found()).toEqual([expect.stringMatching(/ npm run partner -- set dev probe --active yes /)]);
    await partnerHere('set dev probe --active yes'.split(' '));
  });

  const stopped = { body: { WorkGroup: { State: 'DISABLED' } } };
  const others = tables.filter(({ name }) => name !== 'advertiser_events');
  const lacking = { body: { TableMetadataList: others.map(({ name }) => ({ Name: name })) } };
  const noDatabase = refusal('MetadataException', 'EntityNotFoundException: Database x not found');
  const PENDING = /^operator@example.com has not confirmed/;
  it.each<[string, typeof healthy, RegExp]>([
    ['a stopped workgroup', { GetWorkGroup: stopped }, /is DISABLED: no query starts/],
    ['a deleted table', { ListTableMetadata: lacking }, /lacks advertiser_events: queries of it fail/],
    ['a deleted database', { ListTableMetadata: noDatabase }, RegExp(lacksAll)],
    ['an unconfirmed address', { ListSubscriptionsByTopic: subscribed('PendingConfirmation') }, PENDING],
  ])('find %s', async (_, change, finding) => {
    answering(change);
    expect(await found()).toEqual([expect.stringMatching(finding)]);
  });

  it('find a partner whose record is gone', async () => {
    answering({});
    const gone = { Bucket: PARTNERS_BUCKET, Key: partnerKey('probe-id') };
    await new S3({ forcePathStyle: true }).deleteObject(gone);
    expect((await found()).join()).toMatch(/without a record, who are answered 401: probe\./);
  });
});

describe('npm run doctor', () => {
  const run = async (...args: string[]) => {
    const lines: string[] = [];
    await doctorCommand(args, (...more) => lines.push(...more));
    return lines.join('\n');
  };

  it('says which quota of a new account is reached first, how to raise it, and reads only', async () => {
    const { GetServiceQuota: GetAWSDefaultServiceQuota = {} } = healthy;
    answering({ GetServiceQuota: refusal('NoSuchResourceException', 'none'), GetAWSDefaultServiceQuota });
    const output = await run('dev');
    expect(output.split('\n').slice(0, 3)).toEqual([
      'New reports a second that each place lets through, the narrowest first:',
      '     1.1  Lambda, concurrent executions           10',
      '     2.1  this stage, executions                  100',
    ]);
    expect(output).toContain('--service-code lambda --quota-code L-B99A9384 --desired-value 1000');
    expect(output).toMatch(/ 150 +API Gateway, requests|API Gateway, requests a second +150/);
    expect(output).toMatch(/npx cdk drift -c stage=dev$/);
    expect(aws.calls.filter((call) => !/ (Get|List|Describe|GET)/.test(call))).toEqual([]);
  });

  it('names each call that AWS refuses, and shows the rest', async () => {
    answering({
      GetWorkGroup: refusal('AccessDeniedException', 'not authorized to perform: athena:GetWorkGroup'),
      GetServiceQuota: refusal('AccessDeniedException', 'not authorized: servicequotas:GetServiceQuota'),
      ListTableMetadata: { body: { TableMetadataList: [] } },
    });
    const output = await run('dev');
    expect(output).toContain('     2.1  this stage, executions');
    expect(output).toContain(lacksAll);
    expect(output).toMatch(/^Not seen, so it may be wrong:$/m);
    expect(output).toMatch(/^ {2}the workgroup: AccessDeniedException: .*athena:GetWorkGroup$/m);
    expect(output).toMatch(/^ {2}the quota "Athena, active DML queries": AccessDeniedException/m);
  });

  it('says that a stage is not deployed, and tells its limits all the same', async () => {
    answering({ DescribeStacks: noStack });
    const output = await run('dev');
    expect(output).toContain('     2.1  this stage, executions');
    expect(output).toMatch(/^ {2}the stacks' outputs: There is no stage "dev" in this account/m);
  });

  it('says in one line that a stage does not exist or was not given', async () => {
    await expect(run('nowhere')).rejects.toThrow('no stage "nowhere"');
    await expect(run()).rejects.toThrow('npm run doctor -- <stage> [--stages <file>]');
    await expect(run('dev', '--query-seconds', '8')).rejects.toThrow("Unknown option '--query-seconds'");
  });
});
