import { readFileSync } from 'node:fs';
import { App, type Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { addStage, type StageStacks } from '../../infra/add-stage.ts';
import { readStage, type StageInput } from '../../infra/stage.ts';

export interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
}

/** What an operator with an empty account gets. */
export const newAccount: StageInput = {
  keepData: false,
  apiScope: 'api://performance-reports',
  identity: { provider: 'cognito', clients: ['first-partner', 'second-partner'] },
  entitlements: { by: 'none' },
  events: { firstDay: '2025-01-01' },
  queries: { maxGigabytesScanned: 10 },
  reports: { maxAgeSeconds: 300, longestQuerySeconds: 600, downloadUrlSeconds: 300 },
  throttling: { requestsPerSecond: 5, burst: 10 },
  maxRequestsPerAddress: 500,
  logDays: 14,
  alarms: { gigabytesScannedPerHour: 20 },
  runbookUrl: 'https://git.example/reports/docs/runbook.md',
  tags: { team: 'reporting' },
};

/** What an operator gets who has a bucket of events, an identity provider and a domain. */
export const grownAccount: StageInput = {
  ...newAccount,
  environment: { account: '123456789012', region: 'eu-west-1' },
  keepData: true,
  identity: {
    provider: 'existing',
    issuer: 'https://login.example/tenant/v2.0',
    jwksUri: 'https://login.example/tenant/keys',
    tokenUrl: 'https://login.example/tenant/token',
  },
  entitlements: {
    by: 'claims',
    publisherCompanies: { claim: 'roles', prefix: 'publisher-company:' },
    everyCompanyValue: 'every-company',
  },
  events: {
    bucket: 'example-events',
    prefix: 'warehouse/',
    kmsKeyArn: 'arn:aws:kms:eu-west-1:123456789012:key/11111111-2222-3333-4444-555555555555',
    firstDay: '2020-02-29',
  },
  alarms: { gigabytesScannedPerHour: 20, email: 'operator@example.com' },
  domain: {
    name: 'reports.example.com',
    certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/11111111-2222-3333-4444-555555555555',
    hostedZone: { id: 'Z0123456789', name: 'example.com' },
  },
};

/** Builds the stacks of a stage as `cdk synth` does, but for the code of the functions. */
export function buildStacks(input: StageInput): StageStacks & { readonly app: App } {
  const { context } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'));
  const app = new App({ context, analyticsReporting: false });
  return { app, ...addStage(app, readStage('test', input), () => Code.fromInline('// bundled')) };
}

/** The resources of a stack by their logical ids. */
export const resourcesOf = (stack: Stack): Readonly<Record<string, Resource>> =>
  Template.fromStack(stack).toJSON()['Resources'];

export const ofType = (resources: Readonly<Record<string, Resource>>, type: string): Resource[] =>
  Object.values(resources).filter(({ Type }) => Type === type);

/** A value with its references put into words, as CloudFormation puts in what they stand for. */
export function resolved(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(resolved);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const [name, argument] = entries[0] ?? [];
  if (name === 'Fn::Join')
    return (argument[1] as unknown[]).map((part) => String(resolved(part))).join(argument[0]);
  if (name === 'Ref') return `<${argument}>`;
  if (name === 'Fn::GetAtt') return `<${argument.join('.')}>`;
  if (name === 'Fn::GetStackOutput') return `https://${argument.OutputName}.example`;
  if (name?.startsWith('Fn::')) return `<${name}>`;
  return Object.fromEntries(entries.map(([key, inner]) => [key, resolved(inner)]));
}
