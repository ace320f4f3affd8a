import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { chooseStage, ownStages } from '../../infra/choose-stage.ts';
import { readFlags } from '../../infra/deployment-flags.ts';
import { readStage } from '../../infra/stage.ts';
import { stages } from '../../infra/stages.ts';
import { CONTACT_FORM, TOKEN_ENDPOINT_FORM } from '../../lib/access/access-details.ts';
import { ownerNames } from '../../lib/report/catalogue.ts';
import { grownAccount, newAccount } from './accounts.ts';

describe('the stages that come with the product', () => {
  it('include dev, which is complete, and prod, which still needs an alarm address and a runbook URL', () => {
    expect(chooseStage(stages, 'dev')).toMatchObject({ name: 'dev', keepData: false });
    expect(() => chooseStage(stages, 'prod')).toThrow(
      [
        'Stage "prod" is incomplete or wrong. Correct it in stages.ts (docs/deploy.md, "Stages of your own").',
        'alarms.email: expected an address here, or a topic in alarms.topicArn: without one, nobody is told of an alarm',
        'runbookUrl: expected the http or https URL where the person on call can read docs/runbook.md',
      ].join('\n'),
    );
  });

  it('protect the data of prod', () => {
    const { prod } = stages;
    const own = {
      ...prod,
      alarms: { ...prod?.alarms, email: 'operator@example.com' },
      runbookUrl: 'https://git.example/runbook.md',
    };
    expect(chooseStage({ prod: own }, 'prod')).toMatchObject({ name: 'prod', keepData: true });
  });

  it('accept the operator’s own topic in place of the address', () => {
    const topicArn = 'arn:aws:sns:eu-west-1:123456789012:pages';
    const own = {
      ...stages['prod'],
      alarms: { ...stages['prod']?.alarms, topicArn },
      runbookUrl: 'https://git.example/runbook.md',
    };
    expect(chooseStage({ prod: own }, 'prod')).toMatchObject({ alarms: { topicArn } });
  });

  it('are named in the error for an unknown stage', () => {
    expect(() => chooseStage(stages, 'elsewhere')).toThrow(
      `There is no stage "elsewhere". There are: ${Object.keys(stages).join(', ')}. ` +
        'Choose one with `-c stage=<name>`, or write your own in stages.ts (docs/deploy.md, "Stages of your own").',
    );
  });
});

describe('the operator’s own stages', () => {
  it('come from a file beside cdk.json that is not in Git', async () => {
    expect(await ownStages()).toEqual({});
    expect(execFileSync('git', ['ls-files', 'stages.ts'], { encoding: 'utf8' })).toBe('');
  });

  it('come from another file with `-c stages`', async () => {
    expect(Object.keys(await ownStages('test/deployed/stages.ts'))).toEqual(['pool', 'claims', 'kept']);
  });

  it.each([
    ['nowhere.ts', /^There is no file .*nowhere\.ts, which `-c stages` names\.$/],
    ['infra/deployment-flags.ts', /exports no stages\. It needs: export const stages/],
  ])("are refused with one clear message if they can't be read from %s", async (path, message) => {
    await expect(ownStages(path)).rejects.toThrow(message);
  });
});

describe('readFlags', () => {
  const flags = (given: Readonly<Record<string, string>>) => readFlags((key) => given[key]);

  it('reads `first=yes` and `gate=open`, and is false for a flag that is not given', () => {
    expect(flags({})).toEqual({ isFirst: false, isOpen: false });
    expect(flags({ first: 'yes' })).toEqual({ isFirst: true, isOpen: false });
    expect(flags({ gate: 'open' })).toEqual({ isFirst: false, isOpen: true });
  });

  it.each([
    ['first', 'no', "first=yes` until a stage's first deployment has succeeded"],
    ['first', 'true', 'first=yes` until'],
    ['first', '', 'first=yes` until'],
    ['gate', 'no', 'gate=open` for a release that no check may stop'],
  ])('refuses the unclear flag "-c %s=%s"', (key, value, cure) => {
    expect(() => flags({ [key]: value })).toThrow(`\`-c ${key}=${value}\` means nothing. Say \`-c ${cure}`);
  });
});

describe('readStage', () => {
  it.each([
    ['an empty account', newAccount],
    ['a grown account', grownAccount],
  ])('accepts the settings of %s', (_, input) => {
    expect(readStage('test', input)).toMatchObject({ name: 'test', ...input });
  });

  it.each([
    ['a stage without settings', {}, 'keepData: Invalid key: Expected "keepData" but received undefined'],
    ['an unknown setting', { logdays: 14 }, 'logdays: Invalid key: Expected never but received "logdays"'],
    [
      'the setting that `executions` replaced',
      { throttling: { requestsPerSecond: 40, burst: 80 } },
      'throttling: throttling is no part of the stage file any more: API Gateway limits each method by itself. Set executions, ' +
        'from which the limits follow (docs/scale.md, "The limits of the stage")',
    ],
    [
      'the setting of shifted releases',
      { shiftMinutes: 10 },
      'shiftMinutes: `shiftMinutes` is no part of the stage file any more: remove it. A gate checks each release before it ' +
        'gets any request (docs/deploy.md, "Releases")',
    ],
    [
      'fewer executions than any account has',
      { executions: 9 },
      'executions: Invalid value: Expected >=10 but received 9',
    ],
    [
      'a number of log days that CloudWatch does not offer',
      { logDays: 15 },
      'logDays: CloudWatch keeps no logs for 15 days',
    ],
    [
      'a scope that Cognito refuses',
      { apiScope: 'performance reports' },
      'apiScope: expected printable characters without space, quote or backslash, received "performance reports"',
    ],
    [
      'an issuer without its keys',
      {
        identity: {
          provider: 'existing',
          issuer: 'https://login.example',
          tokenUrl: 'https://login.example/t',
        },
      },
      'identity.jwksUri: Invalid key: Expected "jwksUri" but received undefined',
    ],
    [
      'an unknown identity provider',
      { identity: { provider: 'okta' } },
      'identity.provider: Invalid type: Expected ("existing" | "cognito") but received "okta"',
    ],
    [
      'entitlements by claims without a claim',
      { entitlements: { by: 'claims' } },
      `entitlements: expected one or more of ${ownerNames.join(', ')}`,
    ],
    [
      'a day that does not exist',
      { events: { firstDay: '2025-02-30' } },
      'events.firstDay: expected a date, YYYY-MM-DD',
    ],
    [
      'a prefix without its slash',
      { events: { firstDay: '2025-01-01', prefix: 'warehouse' } },
      'events.prefix: expected a prefix that ends with a slash, received "warehouse"',
    ],
    [
      'a scan limit below Athena’s minimum',
      { queries: { maxGigabytesScanned: 0.001 } },
      'queries.maxGigabytesScanned: Invalid value: Expected >=0.01 but received 0.001',
    ],
    [
      'a value for every company that could be a company’s id',
      {
        entitlements: { by: 'claims', publisherCompanies: { claim: 'companies' }, everyCompanyValue: '-5' },
      },
      'entitlements.everyCompanyValue: must not be a number',
    ],
    [
      'a probe without a secret for its client',
      {
        identity: {
          provider: 'existing',
          issuer: 'https://login.example',
          jwksUri: 'https://login.example/keys',
          tokenUrl: 'https://login.example/t',
        },
      },
      'probe.secretArn: expected if the identity provider is an existing issuer, and only then',
    ],
    [
      'an alarm address together with the operator’s own topic',
      {
        alarms: {
          gigabytesScannedPerHour: 20,
          email: 'operator@example.com',
          topicArn: 'arn:aws:sns:eu-west-1:123456789012:pages',
        },
      },
      'alarms.email: expected without alarms.topicArn: subscribe the address to that topic',
    ],
    [
      'an alarm topic that is not an ARN',
      { alarms: { gigabytesScannedPerHour: 20, topicArn: 'pages' } },
      'alarms.topicArn: expected the ARN of a topic of SNS, received "pages"',
    ],
    [
      'an origin with a path',
      { corsOrigins: ['https://dash.partner.example/'] },
      'corsOrigins.0: expected an origin, https://host, received "https://dash.partner.example/"',
    ],
    [
      'a currency that is no code of ISO 4217',
      { events: { firstDay: '2025-01-01', currency: 'euro' } },
      'events.currency: expected a currency, ISO 4217, received "euro"',
    ],
    [
      'a token endpoint without TLS',
      {
        identity: {
          provider: 'existing',
          issuer: 'https://login.example',
          jwksUri: 'https://login.example/keys',
          tokenUrl: 'http://login.example/t',
        },
        probe: undefined,
      },
      `identity.tokenUrl: expected ${TOKEN_ENDPOINT_FORM}, with https, received "http://login.example/t"`,
    ],
    [
      'a token endpoint that is no URL',
      { access: { tokenEndpoint: 'login.example/token' } },
      `access.tokenEndpoint: expected ${TOKEN_ENDPOINT_FORM}, with https, received "login.example/token"`,
    ],
    [
      'a contact that is neither an e-mail address nor a URL',
      { access: { contact: 'the reports team' } },
      `access.contact: expected ${CONTACT_FORM}, received "the reports team"`,
    ],
    [
      'an account number of eleven digits',
      { environment: { account: '12345678901', region: 'eu-west-1' } },
      'environment.account: expected the 12 digits of an AWS account, received "12345678901"',
    ],
  ])('names the fault of %s', (_, change, fault) => {
    const input = Object.keys(change).length === 0 ? {} : { ...newAccount, ...change };
    expect(() => readStage('test', input)).toThrow(
      `Stage "test" is incomplete or wrong. Correct it in stages.ts (docs/deploy.md, "Stages of your own").\n${fault}`,
    );
  });

  it.each(['aws-prod', 'laws', 'amazon', 'my-cognito'])(
    'refuses the stage name "%s" with Cognito, which would refuse its domain during the deployment',
    (name) => {
      expect(() => readStage(name, newAccount)).toThrow(
        'its name: expected without "aws", "amazon" and "cognito", which Cognito takes in no domain',
      );
      expect(readStage(name, grownAccount)).toMatchObject({ name });
    },
  );

  it('names every fault at once', () => {
    const { keepData: _, ...rest } = newAccount;
    expect(() => readStage('Test_1', { ...rest, maxRequestsPerAddress: 1 })).toThrow(
      [
        'Stage "Test_1" is incomplete or wrong. Correct it in stages.ts (docs/deploy.md, "Stages of your own").',
        'its name: expected at most 16 lower case letters, digits and hyphens',
        'keepData: Invalid key: Expected "keepData" but received undefined',
        'maxRequestsPerAddress: Invalid value: Expected >=10 but received 1',
      ].join('\n'),
    );
  });
});
