import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { copyOfProject } from '../deployed/changed-copy.ts';
import { runCommand } from '../deployed/run-command.ts';
import type { Step } from './read-recipes.ts';

const BIN = resolve(import.meta.dirname, '../../node_modules/.bin');
const CHANGED = ['ls-files', '--deduplicate', '--exclude-standard', '--modified', '--others'];
/** Makes Git leave out a copy's packages. `.gitignore` matches only a folder, but this `node_modules` is a link. */
const OWN = ['--', ':!node_modules'];

/** A copy of the current tree, with the packages of the original. */
export interface TreeCopy extends AsyncDisposable {
  readonly directory: string;
  /** Does a recipe's step; resolves to the step's output. Rejects if the step fails. */
  follow(step: Step): Promise<string>;
  /** The files that differ from the copied originals. */
  changedFiles(): Promise<string[]>;
}

export async function copyTree(): Promise<TreeCopy> {
  const directory = await copyOfProject();
  await run(directory, 'git', 'init', '--quiet');
  await run(directory, 'git', 'add', '--all', ...OWN);
  return {
    directory,
    async follow(step) {
      if (step.kind === 'run') return run(directory, 'bash', '-euo', 'pipefail', '-c', step.command);
      const file = join(directory, step.path);
      await mkdir(dirname(file), { recursive: true });
      const parts = (await readFile(file, 'utf8')).split(step.before);
      if (parts.length !== 2)
        throw new Error(`${step.path} holds this ${parts.length - 1} times, not once:\n${step.before}`);
      await writeFile(file, parts.join(step.after));
      return '';
    },
    changedFiles: async () => (await run(directory, 'git', ...CHANGED, ...OWN)).trim().split('\n').sort(),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

async function run(cwd: string, command: string, ...parameters: readonly string[]): Promise<string> {
  const env = {
    ...process.env,
    PATH: `${BIN}:${process.env['PATH']}`,
    VITEST: undefined,
    // Vitest makes the child processes of its workers print in colours, which these variables prevent.
    FORCE_COLOR: undefined,
    NO_COLOR: '1',
    NODE_ENV: undefined,
  };
  const { code, output } = await runCommand(command, parameters, { cwd, env });
  if (code !== 0)
    throw new Error(`${command} ${parameters.at(-1)} ended with ${code}:\n${output.slice(-6_000)}`);
  return output;
}
