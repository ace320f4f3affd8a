import type { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import { bundledCode } from '../../infra/api/function-code.ts';
import { grownAccount, newAccount } from './accounts.ts';
import { buildStacks, resourcesOf } from './synthesize.ts';

const { app, data, identity, api, operations } = buildStacks(newAccount);
const grown = buildStacks(grownAccount);

describe("AWS's own advice", () => {
  it.each([
    ['a new account', newAccount],
    ['a grown account', grownAccount],
  ])('has CloudFormation take every template of %s', (_, account) => {
    expect(() => buildStacks(account, true)).not.toThrow();
  });

  it.each([
    ['a new account', app],
    ['a grown account', grown.app],
  ])('leaves no finding unanswered in %s', (_, checked) => {
    const { violations } = new AwsSolutionsChecks(checked).validateScope(checked);
    expect(
      violations.map(({ ruleName, violatingResources }) => [
        ruleName,
        violatingResources.map(({ constructPath }) => constructPath),
      ]),
    ).toEqual([]);
  });
});

/** A new field of a report is one line of the catalogue, and no other file's business; `data.test.ts` compares them. */
const withoutColumns = (template: unknown): unknown =>
  JSON.parse(JSON.stringify(template), (key, value) =>
    key === 'Columns' ? 'as the catalogue has them' : value,
  );

describe('every stack', () => {
  it.each(Object.entries({ data, identity, api, operations }))('%s is as it was', (_, stack) => {
    expect(withoutColumns(Template.fromStack(stack as Stack).toJSON())).toMatchSnapshot();
  });

  it('carries the tags that its cost is told by', () => {
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

  it('is protected from deletion where the stage keeps its data', () => {
    expect([data, identity, api, operations].map((stack) => stack?.terminationProtection)).toEqual(
      Array(4).fill(false),
    );
    expect([grown.data, grown.api, grown.operations].map((stack) => stack.terminationProtection)).toEqual(
      Array(3).fill(true),
    );
  });
});

describe('bundledCode', () => {
  it('says how to make a bundle that is missing', () => {
    expect(() => bundledCode('no-such-function')).toThrow(
      'The bundle dist/no-such-function/index.mjs is missing. Run `npm run bundle` first.',
    );
  });
});
