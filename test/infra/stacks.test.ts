import type { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import { grownAccount, keptWithCognito, newAccount } from './accounts.ts';
import { buildStacks, ofType, propertiesOf, resolved, resourcesOf } from './synthesize.ts';

// CDK checks these templates against AWS's specifications, and throws at a fault.
const { app, data, identity, api, operations } = buildStacks(newAccount, { isChecked: true });
const grown = buildStacks(grownAccount, { isChecked: true });

describe("AWS's own advice", () => {
  it.each([
    ['a new account', app],
    ['a grown account', grown.app],
  ])('has a written answer in the code to everything that it finds in %s', (_, checked) => {
    const { violations } = new AwsSolutionsChecks(checked).validateScope(checked);
    const found = violations.map(({ ruleName, violatingResources }) => {
      return [ruleName, violatingResources.map(({ constructPath }) => constructPath)];
    });
    expect(found).toEqual([]);
  });
});

describe('every stack', () => {
  it('has the tags by which an operator finds its cost', () => {
    const tagged = Object.values(resourcesOf(data)).filter(({ Type }) => Type === 'AWS::Athena::WorkGroup');
    const tags = { service: 'performance-reports', stage: 'test', team: 'reporting' };
    const Tags = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
    expect(tagged).toMatchObject([{ Properties: { Tags } }]);
  });

  it('is protected from deletion if the stage keeps its data, but not in its first deployment, which may fail', () => {
    const first = buildStacks(grownAccount, { isFirst: true });
    const isProtected = (stacks: ReturnType<typeof buildStacks>) =>
      [stacks.data, stacks.api, stacks.operations].map((stack) => stack.terminationProtection);
    expect([isProtected(grown), isProtected(first)]).toEqual([Array(3).fill(true), Array(3).fill(false)]);
    const unkept = [data, identity, api, operations].map((stack) => stack?.terminationProtection);
    expect(unkept).toEqual(Array(4).fill(false));
  });
});

it('stacks are deployed one after the other, so a deployment that fails does not change the later stacks', () => {
  const namesOf = (stacks: readonly (Stack | undefined)[]) => stacks.map((stack) => stack?.stackName);
  expect(namesOf(identity?.dependencies ?? [])).toEqual(namesOf([data]));
  expect(namesOf(api.dependencies)).toEqual(namesOf([data, identity]));
});

describe('the values that stacks import from each other', () => {
  const exportsOf = (stack: Stack | undefined) =>
    Object.values(stack ? (Template.fromStack(stack).toJSON()['Outputs'] ?? {}) : {})
      .map((output) => (output as { Export?: { Name: string } }).Export?.Name)
      .filter((name) => name !== undefined);

  const { probe: _, ...unprobed } = newAccount;
  // CloudFormation refuses to change or remove an export that another stack imports.
  const always = ['events-bucket', 'results-bucket', 'partners-bucket', 'issuer', 'token-url'];
  it.each([
    ['with a probe', { data, identity, api }, [...always, 'probe-client']],
    ['without a probe', buildStacks(unprobed), always],
  ] as const)('are exactly the exports that are listed for a stage %s', (_, stacks, values) => {
    const exported = new Set([stacks.data, stacks.identity].flatMap(exportsOf));
    const imported = [
      ...JSON.stringify(Template.fromStack(stacks.api).toJSON()).matchAll(/"Fn::ImportValue":"([^"]+)"/g),
    ];
    expect(new Set(imported.map(([, name]) => name))).toEqual(exported);
    expect(exported).toEqual(new Set(values.map((value) => `performance-reports-test-${value}`)));
  });
});

describe('the names of resources', () => {
  /** The most characters that AWS allows, by the type of the resource and the member that has its name. */
  const MOST: Readonly<Record<string, Readonly<Record<string, number>>>> = {
    ...{
      'AWS::Backup::BackupVault': { BackupVaultName: 50 },
      'AWS::Backup::BackupPlan': { BackupPlanName: 50 },
    },
    ...{ 'AWS::Cognito::UserPoolDomain': { Domain: 63 }, 'AWS::Events::Rule': { Name: 64 } },
    ...{ 'AWS::Lambda::Function': { FunctionName: 64 }, 'AWS::SQS::Queue': { QueueName: 80 } },
  };
  const namesIn = (name: string) => {
    const { data, identity, api } = buildStacks(keptWithCognito, { name });
    return [data, identity, api]
      .flatMap((stack) => (stack ? Object.values(resourcesOf(stack)) : []))
      .flatMap(({ Type, Properties }) => {
        const { BackupPlan: inner = {}, ...members } = resolved(Properties) as Record<string, object>;
        return Object.entries({ ...members, ...inner }).flatMap(([member, value]) => {
          const most = MOST[Type]?.[member];
          return most === undefined
            ? []
            : [{ Type, most, value: String(value).replace('<Fn::Select>', '01234567') }];
        });
      });
  };

  it('are not longer than AWS allows, in a stage with the longest name', () => {
    const names = namesIn('sixteen-letters1');
    expect(names.filter(({ most, value }) => value.length > most)).toEqual([]);
    expect(new Set(names.map(({ Type }) => Type))).toEqual(new Set(Object.keys(MOST)));
  });

  it('of vaults change only where they were too long, because a changed name replaces the vault', () => {
    const vaultOf = (name: string) =>
      namesIn(name).find(({ most, value }) => most === 50 && /\d/.test(value));
    expect([vaultOf('twelvelength'), vaultOf('thirteen-long')]).toMatchObject([
      { value: 'performance-reports-twelvelength-partners-01234567' },
      { value: 'performance-reports-thirteen-long-01234567' },
    ]);
  });
});

/**
 * The issuer and the keys that the functions trust, except the probe and the release check: these are clients of the
 * API and check no tokens.
 */
const trusted = (api: Stack) =>
  propertiesOf(resourcesOf(api), 'AWS::Lambda::Function')
    .filter(({ FunctionName }) => !/-(probe|release-check)$/.test(String(FunctionName)))
    .map(({ Environment }) => (resolved(Environment) as { Variables: Record<string, string> }).Variables)
    .map(({ TOKEN_ISSUER, TOKEN_JWKS_URI }) => `${TOKEN_ISSUER} ${TOKEN_JWKS_URI}`);

describe('a stage without an existing identity provider', () => {
  const resources = identity ? resourcesOf(identity) : {};

  it('has a user pool with the scope that every token request must name', () => {
    expect(ofType(resources, 'AWS::Cognito::UserPoolResourceServer')[0]?.Properties).toMatchObject({
      Identifier: 'api://performance-reports',
      Scopes: [{ ScopeName: '.default' }],
    });
  });

  it('has only the probe’s client: operators add partners without a deployment, and nobody can sign up', () => {
    const clients = propertiesOf(resources, 'AWS::Cognito::UserPoolClient').map(resolved);
    const flows = { AllowedOAuthFlows: ['client_credentials'], AllowedOAuthFlowsUserPoolClient: true };
    const AllowedOAuthScopes = [expect.stringMatching(/^<PartnersApi\w+>\/\.default$/)];
    const client = { ClientName: 'probe', GenerateSecret: true, ...flows, AllowedOAuthScopes };
    expect(clients).toEqual([expect.objectContaining(client)]);
    expect(ofType(resources, 'AWS::Cognito::UserPool')[0]?.Properties).toMatchObject({
      AdminCreateUserConfig: { AllowAdminCreateUserOnly: true },
    });
  });

  it('keeps the id and the secret of the probe’s client in Secrets Manager', () => {
    const [secret] = ofType(resources, 'AWS::SecretsManager::Secret');
    const SecretString = expect.stringMatching(/^{"clientId":"<\w+>","clientSecret":"<\w+\.ClientSecret>"}$/);
    const Name = 'performance-reports-test-probe';
    expect(resolved(secret?.Properties)).toMatchObject({ Name, SecretString });
  });

  it('trusts tokens of its user pool', () => {
    const pool = 'https://cognito.example/pool';
    expect(new Set(trusted(api))).toEqual(new Set([`${pool} ${pool}/.well-known/jwks.json`]));
  });
});

describe('the user pool of a stage that keeps its data', () => {
  const poolOf = (isFirst: boolean) => {
    const { identity } = buildStacks(keptWithCognito, { isFirst });
    return ofType(identity ? resourcesOf(identity) : {}, 'AWS::Cognito::UserPool')[0];
  };

  it('remains when its stack is deleted, and is protected from deletion after the first deployment', () => {
    const policies = { DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' };
    for (const [isFirst, DeletionProtection] of [
      [false, 'ACTIVE'],
      // A rollback of the first deployment must be able to remove the pool.
      [true, 'INACTIVE'],
    ] as const)
      expect(poolOf(isFirst)).toMatchObject({ ...policies, Properties: { DeletionProtection } });
  });
});

describe('a stage with an existing identity provider', () => {
  it('has no user pool, and trusts the provider’s issuer and keys', () => {
    expect(grown.identity).toBeUndefined();
    const provider = 'https://login.example/tenant/v2.0 https://login.example/tenant/keys';
    expect(new Set(trusted(grown.api))).toEqual(new Set([provider]));
  });
});
