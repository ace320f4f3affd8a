/** `npm run lint:templates`: runs cfn-lint on the templates of stages that together have each setting. */
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { addStage } from '../../infra/add-stage.ts';
import { readStage } from '../../infra/stage.ts';
import { linted } from '../infra/accounts.ts';
import { LaneFault, tell } from '../lane-fault.ts';
import { installTools } from './install-tools.ts';
import { runCommand } from './run-command.ts';

/** The checks of cfn-lint whose findings are accepted, each with the reason. */
const ANSWERED: Readonly<Record<string, string>> = {
  W3005: 'CDK writes dependencies out that its references imply. They are harmless.',
};

try {
  const commands = await installTools();
  const { context } = JSON.parse(await readFile(new URL('../../cdk.json', import.meta.url), 'utf8'));
  const release = { code: () => Code.fromInline('// bundled'), name: '0123456789ab-c0ffee' };
  await using directory = await mkdtempDisposable(join(tmpdir(), 'templates-'));
  const templates = Object.entries(linted).flatMap(([name, input]) => {
    const app = new App({ outdir: join(directory.path, name), context, analyticsReporting: false });
    // The longest name that a stage may have.
    addStage(app, readStage('sixteen-letters1', input), release);
    return app.synth().stacks.map(({ templateFullPath }) => templateFullPath);
  });
  const ignored = Object.keys(ANSWERED).flatMap((check) => ['--ignore-checks', check]);
  const { code, output } = await runCommand(join(commands, 'cfn-lint'), [...templates, ...ignored]);
  if (code !== 0) throw new LaneFault(output.trim());
  process.stdout.write(`cfn-lint finds nothing in ${templates.length} templates.\n`);
} catch (error) {
  tell(error);
}
