import type { Stack } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { reports } from '../../lib/report/catalogue.ts';
import { permissionParts, unprovenParts } from '../deployed/proven-parts.ts';
import { statements } from '../deployed/statements.ts';
import { grownAccount, newAccount } from './accounts.ts';
import { buildStacks, ofType, resolved, resourcesOf } from './synthesize.ts';

interface Statement {
  readonly Sid?: string;
  readonly Effect: string;
  readonly Action: string | string[];
  readonly Resource?: string | string[];
  readonly Principal?: unknown;
  readonly Condition?: Record<string, Record<string, unknown>>;
}

const stages = { newAccount: buildStacks(newAccount), grownAccount: buildStacks(grownAccount) };
const stacksOf = ({ data, identity, api, operations }: (typeof stages)['newAccount']): Stack[] =>
  [data, identity, api, operations].filter((stack) => stack !== undefined);
const all = Object.values(stages).flatMap(stacksOf).map(resourcesOf);

const list = <T>(value: T | T[] | undefined): T[] => (value === undefined ? [] : ([value].flat() as T[]));

/** Every statement of every policy in a value, at any depth. */
function statementsIn(value: unknown): Statement[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'Statement' ? list(inner as Statement[]) : statementsIn(inner),
  );
}

const allowing = all.flatMap((resources) =>
  statementsIn(resolved(resources)).filter(({ Effect }) => Effect === 'Allow'),
);

/** The statements of each function's role, by the function's name. */
const rolesOf = (stage: keyof typeof stages) => {
  const resources = resourcesOf(stages[stage].api);
  return Object.fromEntries(
    ofType(resources, 'AWS::Lambda::Function').map(({ Properties }) => {
      const role = resources[(Properties['Role'] as { 'Fn::GetAtt': [string] })['Fn::GetAtt'][0]];
      const name = String(Properties['FunctionName']).replace('performance-reports-test-', '');
      return [name, statementsIn(resolved(role))] as const;
    }),
  );
};
const roles = rolesOf('newAccount');

/** The folders in ARNs or prefixes of objects, for example `jobs/`. */
const foldersOf = (places: readonly string[]): string[] =>
  places.flatMap((place) => /(?:^|\/)(\w+\/)\*$/.exec(place)?.[1] ?? []);

const prefixesOf = (condition: Statement['Condition']): string[] =>
  list(condition?.['StringLike']?.['s3:prefix'] as string | string[] | undefined);

const tables = reports.map(({ table }) => table).sort();

/** Every allowed wildcard, with the reason why nothing narrower is possible. */
const ALLOWED_WILDCARDS = [
  // The names of objects depend on their content: days and files, queries, reports, tickets.
  RegExp(`^arn:(aws|<AWS::Partition>):s3:::made-events/(${tables.join('|')})/\\*$`),
  /^arn:(aws|<AWS::Partition>):s3:::made-results\/(athena|reports|cached|jobs|waiting|publications|abandoned|slots|orders|tickets)\/\*$/,
  // The name of an object is the digest of a client id, which is known only when a token arrives.
  /^arn:(aws|<AWS::Partition>):s3:::made-partners\/partners\/\*$/,
  // The number of a version is known only when the version is published.
  /^arn:[^ ]+:function:performance-reports-test-[a-z-]+:\*$/,
  RegExp(`^arn:(aws|<AWS::Partition>):s3:::example-events/warehouse/(${tables.join('|')})/\\*$`),
];

describe('public access', () => {
  it('is blocked for every bucket', () => {
    const buckets = all.flatMap((resources) => ofType(resources, 'AWS::S3::Bucket'));
    expect(buckets).toHaveLength(5);
    const blocked = ['BlockPublicAcls', 'BlockPublicPolicy', 'IgnorePublicAcls', 'RestrictPublicBuckets'];
    const PublicAccessBlockConfiguration = Object.fromEntries(blocked.map((name) => [name, true]));
    const OwnershipControls = { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] };
    for (const { Properties } of buckets)
      expect(Properties).toMatchObject({ PublicAccessBlockConfiguration, OwnershipControls });
  });

  it('is granted to nobody: `*` is a principal only in Deny statements', () => {
    const principals = allowing.flatMap(({ Principal }) => (Principal === undefined ? [] : [Principal]));
    const services = ['lambda', 'apigateway', 'events', 'cloudwatch', 'backup'];
    expect(new Set(principals.map((principal) => JSON.stringify(principal)))).toEqual(
      new Set(services.map((service) => `{"Service":"${service}.amazonaws.com"}`)),
    );
  });

  it('is denied, like all other access to a bucket, if the request does not use TLS 1.2 or later', () => {
    const policies = all.flatMap((resources) => ofType(resources, 'AWS::S3::BucketPolicy'));
    expect(policies).toHaveLength(5);
    const denied = { Effect: 'Deny', Action: 's3:*', Principal: { AWS: '*' } };
    const conditions = [
      { Bool: { 'aws:SecureTransport': 'false' } },
      { NumericLessThan: { 's3:TlsVersion': 1.2 } },
    ];
    const statements = conditions.map((Condition) => ({ ...denied, Condition }));
    for (const policy of policies) expect(statementsIn(policy).slice(0, 2)).toMatchObject(statements);
  });

  it('cannot start a function: only API Gateway and EventBridge can', () => {
    const permissions = all.flatMap((resources) => ofType(resources, 'AWS::Lambda::Permission'));
    expect(permissions.length).toBeGreaterThan(10);
    for (const { Properties } of permissions) {
      expect(['apigateway.amazonaws.com', 'events.amazonaws.com']).toContain(Properties['Principal']);
      expect(Properties['SourceArn']).toBeDefined();
    }
    expect(all.flatMap((resources) => ofType(resources, 'AWS::Lambda::Url'))).toEqual([]);
  });
});

describe('grants', () => {
  it('have only the wildcards that are listed with a reason', () => {
    const wildcards = allowing
      .flatMap(({ Resource }) => list(Resource).map((resource) => ({ resource })))
      .filter(({ resource }) => resource.includes('*'));
    expect(wildcards.length).toBeGreaterThan(20);
    const known = (resource: string) => ALLOWED_WILDCARDS.some((pattern) => pattern.test(resource));
    expect(wildcards.filter(({ resource }) => !known(resource))).toEqual([]);
  });

  it('come from inline policies, except for the roles of API Gateway’s log and AWS Backup', () => {
    for (const resources of all)
      expect(
        ofType(resources, 'AWS::IAM::Policy').concat(ofType(resources, 'AWS::IAM::ManagedPolicy')),
      ).toEqual([]);
    const managed = all
      .flatMap((resources) => ofType(resources, 'AWS::IAM::Role'))
      .flatMap(({ Properties }) => list(resolved(Properties['ManagedPolicyArns'])));
    const logs = 'AmazonAPIGatewayPushToCloudWatchLogs';
    const backup = ['Backup', 'Restore'].map(
      (does) => `:iam::aws:policy/AWSBackupServiceRolePolicyForS3${does}`,
    );
    expect(managed).toEqual([logs, ...backup, logs].map((name) => expect.stringMatching(RegExp(`${name}$`))));
  });
});

describe('a function', () => {
  const resources = (name: string, action: string): string[] => {
    const statements = (roles[name] ?? []).filter(({ Action }) => list(Action).includes(action));
    const named = statements.flatMap(({ Resource }) => list(Resource));
    return named.map((resource) => resource.replace('arn:<AWS::Partition>:s3:::', '')).sort();
  };

  it.each([
    ...reports.map(({ name, table }): [string, string[]] => [name, [table]]),
    ['downloads', tables],
    ['publish', []],
  ])('can read only the records that it needs: %s reads %j', (name, readable) => {
    const events = resources(name, 's3:GetObject').filter((resource) => resource.startsWith('made-events/'));
    expect(events).toEqual(readable.map((table) => `made-events/${table}/*`));
    const described = resources(name, 'glue:GetTable').filter((resource) => resource.includes(':table/'));
    expect(described.map((resource) => resource.split('/').at(-1))).toEqual(readable);
    const listed = (roles[name] ?? []).find(({ Sid }) => Sid === 'ListEvents')?.Condition?.['StringLike'];
    expect(list(listed?.['s3:prefix']).sort()).toEqual(readable.map((table) => `${table}/*`));
  });

  it.each([
    ...reports.map(({ name }) => [name, ['s3:GetObject made-partners/partners/*']] as const),
    ['downloads', ['s3:GetObject made-partners/partners/*']] as const,
    ['publish', []] as const,
    ['public', []] as const,
  ])('cannot list or change the register: %s can do no more than %j', (name, granted) => {
    const all = (roles[name] ?? []).flatMap(({ Action, Resource }) =>
      list(Action).flatMap((action) => list(Resource).map((resource) => `${action} ${resource}`)),
    );
    const ofRegister = all.filter((grant) => grant.includes('made-partners'));
    expect(ofRegister.map((grant) => grant.replace('arn:<AWS::Partition>:s3:::', ''))).toEqual(granted);
  });

  it('cannot read the register if claims say whose rows a caller sees', () => {
    expect(JSON.stringify(resolved(resourcesOf(stages.grownAccount.api)))).not.toContain('made-partners');
  });

  it('can run queries only in the workgroup of its stage', () => {
    for (const name of [...reports.map((report) => report.name), 'downloads'])
      expect(resources(name, 'athena:StartQueryExecution')).toEqual([
        'arn:<AWS::Partition>:athena:<AWS::Region>:<AWS::AccountId>:workgroup/performance-reports-test',
      ]);
    expect(resources('publish', 'athena:StartQueryExecution')).toEqual([]);
  });

  it('has exactly the statements that docs/security.md names for it', () => {
    const listed = statements.flatMap(({ sid, functions }) => functions.map((name) => `${name} ${sid}`));
    // The statements of two accounts: one has the register, the other has events with their own encryption key.
    const synthesized = (['newAccount', 'grownAccount'] as const).flatMap((account) =>
      Object.entries(rolesOf(account)).flatMap(([name, role]) =>
        role.flatMap(({ Sid }) => (Sid === undefined ? [] : [`${name} ${Sid}`])),
      ),
    );
    expect([...new Set(synthesized)].sort()).toEqual(listed.sort());
  });

  it('has every action and folder of its proven statements in the lists of parts, if a statement names several', () => {
    const several = statements.flatMap(({ sid, functions, isProven }) =>
      functions.flatMap((name) => {
        const { Action, Resource, Condition } = roles[name]?.find(({ Sid }) => Sid === sid) ?? {};
        const lists = [list(Action), foldersOf(list(Resource)), foldersOf(prefixesOf(Condition))];
        const parts = lists.filter(({ length }) => length > 1).flat();
        return isProven ? parts.map((part) => `${name} ${sid} ${part}`) : [];
      }),
    );
    const unproven = unprovenParts.flatMap(({ parts, ...rest }) => parts.map((part) => ({ ...rest, part })));
    const listed = [...permissionParts, ...unproven].flatMap(({ functions, sid, part }) =>
      functions.map((name) => `${name} ${sid} ${part}`),
    );
    expect(several.length).toBeGreaterThan(50);
    expect(listed.sort()).toEqual(several.sort());
  });

  it('has in each statement the actions that docs/security.md names', () => {
    const everyRole = [roles, rolesOf('grownAccount')].flatMap((of) => Object.values(of).flat());
    const granted = new Map(everyRole.map(({ Sid, Action }) => [Sid, list(Action)]));
    for (const { sid, actions } of statements)
      expect(new Set(actions), sid).toEqual(new Set(granted.get(sid)));
  });
});
