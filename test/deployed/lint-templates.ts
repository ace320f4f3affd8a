/** `npm run lint:templates`: runs cfn-lint on the templates of stages that together have each setting. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { linted } from '../infra/accounts.ts';
import { LaneFault, tell } from '../lane-fault.ts';
import { installTools } from './install-tools.ts';
import { runCommand } from './run-command.ts';

const SYNTHESIZE = join(import.meta.dirname, 'synthesize-templates.ts');

/** The checks of cfn-lint whose findings are accepted, each with the reason. */
const ANSWERED: Readonly<Record<string, string>> = {
  W3005: 'CDK writes dependencies out that its references imply. They are harmless.',
};

try {
  const commands = await installTools();
  const directory = await mkdtemp(join(tmpdir(), 'templates-'));
  try {
    for (const stage of Object.keys(linted))
      await run(process.execPath, SYNTHESIZE, stage, join(directory, stage));
    const templates = (await readdir(directory, { recursive: true }))
      .filter((file) => file.endsWith('.template.json'))
      .map((file) => join(directory, file));
    if (templates.length === 0) throw new LaneFault('There are no templates.');
    const ignored = Object.keys(ANSWERED).flatMap((check) => ['--ignore-checks', check]);
    await run(join(commands, 'cfn-lint'), ...templates, ...ignored);
    process.stdout.write(`cfn-lint finds nothing in ${templates.length} templates.\n`);
  } finally {
    await rm(directory, { recursive: true });
  }
} catch (error) {
  tell(error);
}

async function run(command: string, ...parameters: string[]): Promise<void> {
  const { code, output } = await runCommand(command, parameters);
  if (code !== 0) throw new LaneFault(output.trim());
}
