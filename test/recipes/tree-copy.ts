import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { runCommand } from '../deployed/run-command.ts';
import type { Step } from './read-recipes.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const BIN = join(ROOT, 'node_modules/.bin');
const LISTED = ['ls-files', '--deduplicate', '--exclude-standard'];
/** Makes Git leave out a copy's packages. `.gitignore` matches only a folder, but this `node_modules` is a link. */
const OWN = ['--', ':!node_modules'];

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

/** A copy of the current tree, with the packages of the original. */
export interface TreeCopy extends AsyncDisposable {
  readonly directory: string;
  /** Does a recipe's step; resolves to the step's output. Rejects if the step fails. */
  follow(step: Step): Promise<string>;
  /** The files that differ from the copied originals. */
  changedFiles(): Promise<string[]>;
}

export async function copyTree(): Promise<TreeCopy> {
  const directory = await mkdtemp(join(tmpdir(), 'performance-reports-recipe-'));
  for (const file of linesOf(await run(ROOT, 'git', ...LISTED, '--cached', '--others'))) {
    // Git still lists a deleted file if the deletion is not staged.
    if (!existsSync(join(ROOT, file))) continue;
    await mkdir(dirname(join(directory, file)), { recursive: true });
    await cp(join(ROOT, file), join(directory, file));
  }
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
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
    changedFiles: async () =>
      linesOf(await run(directory, 'git', ...LISTED, '--modified', '--others', ...OWN)).sort(),
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
