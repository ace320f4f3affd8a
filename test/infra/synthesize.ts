import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, type Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { afterAll } from 'vitest';
import { addStage, type StageStacks } from '../../infra/add-stage.ts';
import type { DeploymentFlags } from '../../infra/choose-stage.ts';
import { readStage, type StageInput } from '../../infra/stage.ts';

export interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly UpdatePolicy?: unknown;
  readonly DependsOn?: readonly string[];
}

const assemblies = mkdtempSync(join(tmpdir(), 'assemblies-'));
afterAll(() => rmSync(assemblies, { recursive: true }));

/**
 * Builds the stacks of a stage like `cdk synth`, but without the functions' code. CDK checks the templates only if
 * `isChecked` is set, because the check takes a second.
 */
export function buildStacks(
  input: StageInput,
  {
    isChecked = false,
    name = 'test',
    ...flags
  }: { readonly isChecked?: boolean; readonly name?: string } & Partial<DeploymentFlags> = {},
): StageStacks & { readonly app: App } {
  const { context } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'));
  const quiet = { analyticsReporting: false, stackTraces: false, treeMetadata: false };
  const outdir = mkdtempSync(join(assemblies, 'app-'));
  const app = new App({ outdir, context, ...quiet, builtinCloudFormationValidation: isChecked });
  const release = { code: () => Code.fromInline('// bundled'), name: '0123456789ab-c0ffee' };
  const stacks = addStage(app, readStage(name, input), release, flags);
  // CDK applies its rule packs after the synthesis, when its tokens are resolved.
  app.synth();
  return { app, ...stacks };
}

/** The resources of a stack by their logical ids. */
export const resourcesOf = (stack: Stack): Readonly<Record<string, Resource>> =>
  Template.fromStack(stack).toJSON()['Resources'];

/** The one resource whose logical id begins with `start`; throws if there is not exactly one. */
export function named(resources: Readonly<Record<string, Resource>>, start: string): [string, Resource] {
  const [found, ...more] = Object.entries(resources).filter(([id]) => id.startsWith(start));
  if (!found || more.length > 0)
    throw new Error(`${more.length + (found ? 1 : 0)} resources begin with ${start}`);
  return found;
}

export const ofType = (resources: Readonly<Record<string, Resource>>, type: string): Resource[] =>
  Object.values(resources).filter(({ Type }) => Type === type);

/** The properties of all resources of a type. */
export const propertiesOf = (resources: Readonly<Record<string, Resource>>, type: string) =>
  ofType(resources, type).map(({ Properties }) => Properties);

/** Values for the stacks' exports. */
const EXPORTS: Readonly<Record<string, string>> = {
  'performance-reports-test-events-bucket': 'made-events',
  'performance-reports-test-results-bucket': 'made-results',
  'performance-reports-test-partners-bucket': 'made-partners',
  'performance-reports-test-issuer': 'https://cognito.example/pool',
  'performance-reports-test-token-url': 'https://cognito.example/token',
  'performance-reports-test-probe-client':
    'arn:aws:secretsmanager:eu-west-1:123456789012:secret:probe-AbCdEf',
};

/** A value with readable texts in place of the references that CloudFormation resolves. */
export function resolved(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(resolved);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const [name, argument] = entries[0] ?? [];
  if (name === 'Fn::Join')
    return (argument[1] as unknown[]).map((part) => String(resolved(part))).join(argument[0]);
  if (name === 'Ref') return `<${argument}>`;
  if (name === 'Fn::GetAtt') return `<${argument.join('.')}>`;
  if (name === 'Fn::ImportValue') return EXPORTS[argument];
  if (name?.startsWith('Fn::')) return `<${name}>`;
  return Object.fromEntries(entries.map(([key, inner]) => [key, resolved(inner)]));
}
