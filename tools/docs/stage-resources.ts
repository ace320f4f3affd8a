import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { addStage } from '../../infra/add-stage.ts';
import { readStage, type StageInput } from '../../infra/stage.ts';

/** A resource in a CloudFormation template: only the parts that decide its cost. */
export interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

/** Synthesizes the stacks of a stage, without the functions' code. Returns their resources. */
export function stageResources(name: string, input: StageInput): TemplateResource[] {
  const { context } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'));
  const outdir = mkdtempSync(join(tmpdir(), 'templates-'));
  try {
    const app = new App({
      outdir,
      context,
      analyticsReporting: false,
      stackTraces: false,
      treeMetadata: false,
      builtinCloudFormationValidation: false,
    });
    addStage(app, readStage(name, input), { code: () => Code.fromInline('//'), name: 'unknown' });
    return app.synth().stacks.flatMap(({ template }) => Object.values<TemplateResource>(template.Resources));
  } finally {
    rmSync(outdir, { recursive: true });
  }
}
