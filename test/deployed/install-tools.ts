import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { NoTools } from '../lane-fault.ts';
import { runCommand } from './run-command.ts';

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');
const PYTHONS = ['python3', 'python3.13', 'python3.12', 'python3.11'];

/**
 * Puts the emulator, the AWS CLI and cfn-lint into the user's cache, unless they are there already. Resolves to the
 * folder of their commands; rejects with NoTools where they can't be had.
 */
export async function installTools(): Promise<string> {
  const pins = createHash('sha256')
    .update(await readFile(REQUIREMENTS))
    .digest('hex')
    .slice(0, 12);
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'performance-reports');
  const home = join(cache, `emulator-${pins}`);
  const commands = join(home, 'bin');
  // Written last: an installation that was killed half-way has no such file.
  const complete = join(home, 'complete');
  if (existsSync(complete)) return commands;

  const python = await findPython();
  process.stdout.write(`Fetching an AWS emulator, the AWS CLI and cfn-lint, once, into ${home}\n`);
  await rm(home, { recursive: true, force: true });
  await mkdir(cache, { recursive: true });
  await run(python, '-m', 'venv', home);
  await run(join(commands, 'python'), '-m', 'pip', 'install', '--quiet', '-r', REQUIREMENTS);
  await writeFile(complete, '');
  return commands;
}

async function findPython(): Promise<string> {
  for (const python of PYTHONS) {
    const test = ['-c', 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'];
    const { code } = await runCommand(python, test).catch(() => ({ code: 1 }));
    if (code === 0) return python;
  }
  throw new NoTools(
    'The AWS emulator and cfn-lint need Python, 3.11 or later, with venv; there is none here.',
  );
}

async function run(command: string, ...parameters: string[]): Promise<void> {
  const { code, output } = await runCommand(command, parameters);
  if (code !== 0)
    throw new NoTools(
      `The AWS emulator and cfn-lint can't be installed: ${parameters.slice(0, 3).join(' ')} ends with ${code}: ${output.trim().split('\n').at(-1)}`,
    );
}
