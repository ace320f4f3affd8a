import type { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import { grownAccount, keptWithCognito, newAccount } from './accounts.ts';
import { buildStacks, resolved, resourcesOf } from './synthesize.ts';

// CDK checks these templates against AWS's specifications, and throws at a fault.
const { app, data, identity, api, operations } = buildStacks(newAccount, { isChecked: true });
const grown = buildStacks(grownAccount, { isChecked: true });

describe("AWS's own advice", () => {
  it.each([
    ['a new account', app],
    ['a grown account', grown.app],
  ])('has a written answer in the code to everything that it finds in %s', (_, checked) => {
    const { violations } = new AwsSolutionsChecks(checked).validateScope(checked);
    expect(
      violations.map(({ ruleName, violatingResources }) => [
        ruleName,
        violatingResources.map(({ constructPath }) => constructPath),
      ]),
    ).toEqual([]);
  });
});

describe('every stack', () => {
  it('has the tags by which an operator finds its cost', () => {
    const tagged = Object.values(resourcesOf(data)).filter(({ Type }) => Type === 'AWS::Athena::WorkGroup');
    expect(tagged).toMatchObject([
      {
        Properties: {
          Tags: [
            { Key: 'service', Value: 'performance-reports' },
            { Key: 'stage', Value: 'test' },
            { Key: 'team', Value: 'reporting' },
          ],
        },
      },
    ]);
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
    'AWS::Backup::BackupVault': { BackupVaultName: 50 },
    'AWS::Backup::BackupPlan': { BackupPlanName: 50 },
    'AWS::Cognito::UserPoolDomain': { Domain: 63 },
    'AWS::Events::Rule': { Name: 64 },
    'AWS::Lambda::Function': { FunctionName: 64 },
    'AWS::SQS::Queue': { QueueName: 80 },
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
