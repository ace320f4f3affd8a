import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from './run-command.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Copies the project, with the files that Git does not track yet, and links its packages. Resolves to the folder. */
export async function copyOfProject(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'performance-reports-copy-'));
  const list = ['ls-files', '--deduplicate', '--cached', '--others', '--exclude-standard'];
  const { output } = await runCommand('git', list, { cwd: ROOT });
  // Git still lists a deleted file if the deletion is not staged, and lists a `node_modules` that is a link.
  for (const name of output.trim().split('\n'))
    if (name !== 'node_modules' && existsSync(join(ROOT, name)))
      await cp(join(ROOT, name), join(directory, name));
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  return directory;
}

/** Makes a copy of the project with one file changed. The caller disposes of the copy. */
export async function changedCopy(file: string, change: (source: string) => string) {
  const directory = await copyOfProject();
  const source = await readFile(join(directory, file), 'utf8');
  const changed = change(source);
  if (changed === source) throw new TypeError(`${file} is not changed: it lacks what was to be replaced`);
  await writeFile(join(directory, file), changed);
  return { directory, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) };
}
