import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readStage } from '../../infra/stage.ts';
import { prod } from '../../infra/stages.ts';
import { diagnose } from '../../tools/doctor/diagnose.ts';
import type { AccountQuotas } from '../../tools/doctor/quotas.ts';
import { spawnNode } from '../spawn-node.ts';

const stage = readStage('prod', {
  ...prod,
  alarms: { ...prod.alarms, email: 'operator@example.com' },
  runbookUrl: 'https://git.example/runbook.md',
  reservedConcurrency: { publish: 5, probe: 1 },
});
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
    const { limits, findings } = diagnose(grown, stage, 8);
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

  const RAISE = 'aws service-quotas request-service-quota-increase';
  it.each([
    [
      'a new account has few executions',
      { executions: quota(10), reservedExecutions: 0 },
      {},
      /hold 1000 executions of Lambda at a time; the account has 10/,
      `${RAISE} --service-code lambda --quota-code L-B99A9384 --desired-value 1000\n  Until then, set executions: 10, so that partners are told 429 and when to come again.`,
    ],
    [
      'executions are few and AWS does not raise their quota',
      { executions: { value: 10, isAdjustable: false }, reservedExecutions: 0 },
      {},
      /the account has 10/,
      'AWS does not raise "Lambda, concurrent executions" on request: ask its support, or use another account or region.\n  Until then, set executions: 10, so that partners are told 429 and when to come again.',
    ],
    [
      'other functions reserve most executions',
      { executions: quota(400), reservedExecutions: 605 },
      {},
      /the account has 400/,
      `${RAISE} --service-code lambda --quota-code L-B99A9384 --desired-value 1599\n  Until then, set executions: 400, so that partners are told 429 and when to come again.`,
    ],
    [
      'the region allows few active queries',
      { activeQueries: quota(20) },
      {},
      /20 queries of 8 s at a time are 2.5 reports a second/,
      `${RAISE} --service-code athena --quota-code L-FC5F6546 --desired-value 200`,
    ],
    [
      'one partner may take too many active queries',
      {},
      { queries: { ...stage.queries, underWayPerPartner: 60 } },
      /One partner may have 60 of the account's 200 active queries/,
      'Set queries.underWayPerPartner: 50.',
    ],
    [
      'no executions are reserved for publishing',
      { executions: quota(1_000), reservedExecutions: 0 },
      { reservedConcurrency: undefined },
      /large reports are not published/,
      'Set reservedConcurrency: { publish: 5, probe: 1 } in the stage.',
    ],
    [
      'API Gateway takes fewer requests than the stage',
      { requests: quota(30) },
      {},
      /all of the account's APIs together 30/,
      `${RAISE} --service-code apigateway --quota-code L-8A5B8E43 --desired-value 230`,
    ],
  ])('says what to do if %s', (_, quotas, more, finding, remedy) => {
    const { findings } = diagnose({ ...grown, ...quotas }, { ...stage, ...more } as typeof stage, 8);
    expect(findings).toEqual([{ finding: expect.stringMatching(finding), remedy }]);
  });

  it('leaves out quotas that AWS does not report, and the quota of tokens if a stage does not use Cognito', () => {
    const existing = { ...stage, identity: { provider: 'existing' } } as unknown as typeof stage;
    const { limits } = diagnose({ ...grown, starts: undefined }, existing, 8);
    expect(limits.map(({ name }) => name)).not.toContain('Athena, StartQueryExecution a second');
    expect(limits.map(({ name }) => name)).not.toContain('Cognito, ClientAuthentication a second');
  });
});

describe('npm run doctor', () => {
  /**
   * The calls that the command sends to the stand-in of Lambda and Service Quotas, which answers like a new account.
   */
  const calls: string[] = [];
  const server = createServer(async (request, response) => {
    const operation = String(request.headers['x-amz-target'] ?? '').split('.')[1];
    const { ServiceCode, QuotaCode } = JSON.parse((await buffer(request)).toString() || '{}');
    calls.push(operation ? `${operation} ${ServiceCode}/${QuotaCode}` : `${request.method} ${request.url}`);
    const values: Record<string, number> = { 'L-FC5F6546': 200, 'L-8A5B8E43': 10_000, 'L-74D3DD04': 150 };
    const value =
      values[QuotaCode] ??
      (operation === 'GetAWSDefaultServiceQuota' && QuotaCode === 'L-4FF11DD3' ? 20 : undefined);
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    if (request.url?.includes('/functions/')) {
      response.setHeader('x-amzn-errortype', 'ResourceNotFoundException');
      response.writeHead(404).end('{}');
    } else if (!operation)
      response.end(
        JSON.stringify({ AccountLimit: { ConcurrentExecutions: 10, UnreservedConcurrentExecutions: 10 } }),
      );
    else if (value === undefined)
      response.writeHead(400).end(JSON.stringify({ __type: 'NoSuchResourceException', message: 'none' }));
    else response.end(JSON.stringify({ Quota: { Value: value, Adjustable: QuotaCode !== 'L-74D3DD04' } }));
  });
  let url = '';
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => void server.close());

  const run = async (...args: string[]) => {
    const child = spawnNode(['tools/doctor.ts', ...args], {
      env: {
        PATH: process.env['PATH'] ?? '',
        AWS_ENDPOINT_URL: url,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'x',
        AWS_SECRET_ACCESS_KEY: 'x',
      },
    });
    let output = '';
    child.stdout.on('data', (text) => (output += text));
    child.stderr.on('data', (text) => (output += text));
    const [code] = await once(child, 'close');
    return { code, output };
  };

  it('says which quota of a new account is reached first, and how to raise it', async () => {
    const { code, output } = await run('dev');
    expect(code, output).toBe(0);
    expect(output.split('\n').slice(0, 3)).toEqual([
      'New reports a second that each place lets through, the narrowest first:',
      '     1.1  Lambda, concurrent executions           10',
      '     2.1  this stage, executions                  100',
    ]);
    expect(output).toContain(
      'aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000',
    );
    // The command reads AWS's default if the account has no own value.
    expect(calls).toContain('GetAWSDefaultServiceQuota athena/L-4FF11DD3');
    expect(calls.every((call) => /^Get|^GET /.test(call))).toBe(true);
  });

  it('says in one line that a stage does not exist or was not given', async () => {
    expect(await run('nowhere')).toMatchObject({
      code: 1,
      output: expect.stringContaining('no stage "nowhere"'),
    });
    expect(await run()).toEqual({
      code: 1,
      output: 'npm run doctor -- <stage> [--query-seconds <seconds>] [--stages <file>]\n',
    });
  });
});
