import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { chooseStage, ownStages, readFlags } from '../../infra/choose-stage.ts';
import { readStage } from '../../infra/stage.ts';
import { stages } from '../../infra/stages.ts';
import { CONTACT_FORM, TOKEN_ENDPOINT_FORM } from '../../lib/access/access-details.ts';
import { ownerNames } from '../../lib/report/catalogue.ts';
import { grownAccount, newAccount } from './accounts.ts';

/** How the error begins that names the faults of a stage. */
const incomplete = (stage: string) =>
  `Stage "${stage}" is incomplete or wrong. Correct it in stages.ts (docs/deploy.md, "Stages of your own").`;

describe('the stages that come with the product', () => {
  it('include dev, which is complete, and prod, which still needs an alarm address and a runbook URL', () => {
    expect(chooseStage(stages, 'dev')).toMatchObject({ name: 'dev', keepData: false });
    expect(() => chooseStage(stages, 'prod')).toThrow(
      `${incomplete('prod')}\n` +
        'alarms.email: expected an address here, or a topic in alarms.topicArn: without one, nobody is told of an alarm\n' +
        'runbookUrl: expected the http or https URL where the person on call can read docs/runbook.md',
    );
  });

  it('protect the data of prod, and accept the operator’s own topic in place of the address', () => {
    const { prod } = stages;
    const runbookUrl = 'https://git.example/runbook.md';
    const topicArn = 'arn:aws:sns:eu-west-1:123456789012:pages';
    for (const told of [{ email: 'operator@example.com' }, { topicArn }])
      expect(
        chooseStage({ prod: { ...prod, alarms: { ...prod?.alarms, ...told }, runbookUrl } }, 'prod'),
      ).toMatchObject({ name: 'prod', keepData: true, alarms: told });
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
    const names = Object.keys(await ownStages('test/deployed/stages.ts'));
    expect(names).toEqual(['pool', 'claims', 'shipped', 'kept']);
  });

  it.each([
    ['nowhere.ts', /^There is no file .*nowhere\.ts, which `-c stages` names\.$/],
    ['infra/choose-stage.ts', /exports no stages\. It needs: export const stages/],
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

  const existing = {
    provider: 'existing',
    issuer: 'https://login.example',
    jwksUri: 'https://login.example/keys',
    tokenUrl: 'https://login.example/t',
  };
  const { jwksUri: _, ...withoutKeys } = existing;
  const alarms = { gigabytesScannedPerHour: 20 };
  const topicArn = 'arn:aws:sns:eu-west-1:123456789012:pages';
  const firstDay = '2025-01-01';

  const FAULTS: Readonly<Record<string, object>> = {
    'keepData: Invalid key: Expected "keepData" but received undefined': {},
    'logdays: Invalid key: Expected never but received "logdays"': { logdays: 14 },
    ['shiftMinutes: `shiftMinutes` is no part of the stage file any more: remove it. A gate checks each release before it ' +
      'gets any request (docs/deploy.md, "Releases")']: { shiftMinutes: 10 },
    'executions: Invalid value: Expected >=10 but received 9': { executions: 9 },
    'logDays: CloudWatch keeps no logs for 15 days': { logDays: 15 },
    'apiScope: expected printable characters without space, quote or backslash, received "performance reports"':
      { apiScope: 'performance reports' },
    'identity.jwksUri: Invalid key: Expected "jwksUri" but received undefined': { identity: withoutKeys },
    'identity.provider: Invalid type: Expected ("existing" | "cognito") but received "okta"': {
      identity: { provider: 'okta' },
    },
    [`entitlements: expected one or more of ${ownerNames.join(', ')}`]: { entitlements: { by: 'claims' } },
    'events.firstDay: expected a date, YYYY-MM-DD': { events: { firstDay: '2025-02-30' } },
    'events.prefix: expected a prefix that ends with a slash, received "warehouse"': {
      events: { firstDay, prefix: 'warehouse' },
    },
    'queries.maxGigabytesScanned: Invalid value: Expected >=0.01 but received 0.001': {
      queries: { maxGigabytesScanned: 0.001 },
    },
    'entitlements.everyCompanyValue: must not be a number': {
      entitlements: { by: 'claims', publisherCompanies: { claim: 'c' }, everyCompanyValue: '-5' },
    },
    'probe.secretArn: expected if the identity provider is an existing issuer, and only then': {
      identity: existing,
    },
    'alarms.email: expected without alarms.topicArn: subscribe the address to that topic': {
      alarms: { ...alarms, email: 'operator@example.com', topicArn },
    },
    'alarms.topicArn: expected the ARN of a topic of SNS, received "pages"': {
      alarms: { ...alarms, topicArn: 'pages' },
    },
    'corsOrigins.0: expected an origin, https://host, received "https://dash.partner.example/"': {
      corsOrigins: ['https://dash.partner.example/'],
    },
    'events.currency: expected a currency, ISO 4217, received "euro"': {
      events: { firstDay, currency: 'euro' },
    },
    [`identity.tokenUrl: expected ${TOKEN_ENDPOINT_FORM}, with https, received "http://login.example/t"`]: {
      identity: { ...existing, tokenUrl: 'http://login.example/t' },
      probe: undefined,
    },
    [`access.tokenEndpoint: expected ${TOKEN_ENDPOINT_FORM}, with https, received "login.example/token"`]: {
      access: { tokenEndpoint: 'login.example/token' },
    },
    [`access.contact: expected ${CONTACT_FORM}, received "the reports team"`]: {
      access: { contact: 'the reports team' },
    },
    'environment.account: expected the 12 digits of an AWS account, received "12345678901"': {
      environment: { account: '12345678901', region: 'eu-west-1' },
    },
  };
  it.each(Object.entries(FAULTS))('names the fault of a stage: %s', (fault, change) => {
    const input = Object.keys(change).length === 0 ? {} : { ...newAccount, ...change };
    expect(() => readStage('test', input)).toThrow(`${incomplete('test')}\n${fault}`);
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
      `${incomplete('Test_1')}\nits name: expected at most 16 lower case letters, digits and hyphens\n` +
        'keepData: Invalid key: Expected "keepData" but received undefined\n' +
        'maxRequestsPerAddress: Invalid value: Expected >=10 but received 1',
    );
  });
});
