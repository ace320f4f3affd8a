/**
 * The CDK app: `-c stage=dev` for one stage of `stages.ts`, nothing for all of them. It looks nothing up, so that
 * it runs without a network and without credentials.
 */
import { App } from 'aws-cdk-lib';
import { addStage } from './add-stage.ts';
import { bundledCode } from './api/function-code.ts';
import { chooseStages } from './choose-stages.ts';
import { reportingFaults } from './setup-fault.ts';
import { stages } from './stages.ts';

reportingFaults(() => {
  const app = new App();
  for (const stage of chooseStages(stages, app.node.tryGetContext('stage')))
    addStage(app, stage, bundledCode);
  app.synth();
});
