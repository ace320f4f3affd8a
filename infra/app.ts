/**
 * The CDK app: the stacks of one stage, which is `dev` unless `-c stage=<name>` names another. It bundles the functions
 * itself and looks nothing up in AWS, so that it runs on a fresh clone without a network and without credentials.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { reportingFaults } from '../lib/terminal/operator-fault.ts';
import { addStage } from './add-stage.ts';
import { bundleFunctions } from './bundle-functions.ts';
import { chooseStage, ownStages, readFlags } from './choose-stage.ts';
import { releaseName } from './release-name.ts';
import { stages } from './stages.ts';

await reportingFaults(async () => {
  const app = new App();
  const context = (key: string): string | undefined => app.node.tryGetContext(key);
  const stage = chooseStage({ ...stages, ...(await ownStages(context('stages'))) }, context('stage'));
  const flags = readFlags(context);
  const folder = mkdtempSync(join(tmpdir(), 'bundles-'));
  try {
    bundleFunctions(folder);
    const name = releaseName(stage, folder, context('commit'));
    addStage(app, stage, { code: (functionName) => Code.fromAsset(join(folder, functionName)), name }, flags);
    app.synth();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
