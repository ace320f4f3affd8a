/**
 * `node infra/run-cdk.ts deploy dev …` runs CDK's command on all stacks of that stage, and on no other's. What
 * follows the stage is handed on.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { chooseStages } from './choose-stages.ts';
import { reportingFaults, SetupFault } from './setup-fault.ts';
import { stages } from './stages.ts';

const [command = 'deploy', stage, ...rest] = process.argv.slice(2);
reportingFaults(() => {
  if (stage === undefined)
    throw new SetupFault(
      `Name a stage, one of ${Object.keys(stages).join(', ')}: npm run ${command} -- <stage>`,
    );
  chooseStages(stages, stage);
  const cdk = fileURLToPath(import.meta.resolve('aws-cdk/bin/cdk'));
  const { status } = spawnSync(
    process.execPath,
    [cdk, command, '*', '--context', `stage=${stage}`, ...rest],
    {
      stdio: 'inherit',
    },
  );
  process.exitCode = status ?? 1;
});
