import { describe, expect, it } from 'vitest';
import { chooseStages } from '../../infra/choose-stages.ts';
import { readStage } from '../../infra/stage.ts';
import { stages } from '../../infra/stages.ts';
import { grownAccount, newAccount } from './accounts.ts';

describe('stage file', () => {
  it('holds at least two stages, all of them complete', () => {
    expect(chooseStages(stages, undefined).map(({ name }) => name)).toEqual(['dev', 'prod']);
  });

  it('protects the data of prod', () => {
    expect(chooseStages(stages, 'prod')).toMatchObject([{ name: 'prod', keepData: true }]);
  });

  it('names the stages there are when asked for another', () => {
    expect(() => chooseStages(stages, 'staging')).toThrow(
      'There is no stage "staging" in infra/stages.ts. It has: dev, prod.',
    );
  });
});

describe('readStage', () => {
  it.each([
    ['an empty account', newAccount],
    ['an account with everything', grownAccount],
  ])('takes the settings of %s', (_, input) => {
    expect(readStage('test', input)).toMatchObject({ name: 'test', ...input });
  });

  it.each([
    ['nothing at all', {}, 'keepData: Invalid key: Expected "keepData" but received undefined'],
    ['a setting unheard of', { logdays: 14 }, 'logdays: Invalid key: Expected never but received "logdays"'],
    [
      'a period that CloudWatch does not know',
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
      'an unknown kind of identity',
      { identity: { provider: 'okta' } },
      'identity.provider: Invalid type: Expected ("existing" | "cognito") but received "okta"',
    ],
    [
      'claims that name no claim',
      { entitlements: { by: 'claims' } },
      'entitlements: expected publisherCompanies or advertiserCompanies or both',
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
      'a limit below what Athena takes',
      { queries: { maxGigabytesScanned: 0.001 } },
      'queries.maxGigabytesScanned: Invalid value: Expected >=0.01 but received 0.001',
    ],
    [
      'an origin with a path',
      { corsOrigins: ['https://dash.partner.example/'] },
      'corsOrigins.0: expected an origin, https://host, received "https://dash.partner.example/"',
    ],
    [
      'a currency that is none',
      { events: { firstDay: '2025-01-01', currency: 'euro' } },
      'events.currency: expected a currency, ISO 4217, received "euro"',
    ],
    [
      'an account of eleven digits',
      { environment: { account: '12345678901', region: 'eu-west-1' } },
      'environment.account: expected the 12 digits of an AWS account, received "12345678901"',
    ],
  ])('names the fault of %s', (_, change, fault) => {
    const input = Object.keys(change).length === 0 ? {} : { ...newAccount, ...change };
    expect(() => readStage('test', input)).toThrow(
      `Stage "test" of infra/stages.ts is incomplete or wrong.\n${fault}`,
    );
  });

  it('names every fault at once', () => {
    const { keepData: _, ...rest } = newAccount;
    expect(() => readStage('Test_1', { ...rest, maxRequestsPerAddress: 1 })).toThrow(
      [
        'Stage "Test_1" of infra/stages.ts is incomplete or wrong.',
        'its name: expected at most 16 lower case letters, digits and hyphens',
        'keepData: Invalid key: Expected "keepData" but received undefined',
        'maxRequestsPerAddress: Invalid value: Expected >=10 but received 1',
      ].join('\n'),
    );
  });
});
