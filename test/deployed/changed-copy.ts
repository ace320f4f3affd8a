import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runCommand } from './run-command.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Makes a copy of the project with one file changed. The caller disposes of the copy. */
export async function changedCopy(file: string, change: (source: string) => string) {
  const directory = await mkdtemp(join(tmpdir(), 'performance-reports-copy-'));
  const { output } = await runCommand('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
  });
  for (const name of output.trim().split('\n')) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    // Git still lists a deleted file if the deletion is not committed.
    await cp(join(ROOT, name), join(directory, name)).catch(() => {});
  }
  // If node_modules is itself a link, Git lists it, and the loop above has copied it.
  await rm(join(directory, 'node_modules'), { force: true });
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  const source = await readFile(join(directory, file), 'utf8');
  const changed = change(source);
  if (changed === source) throw new TypeError(`${file} is not changed: it lacks what was to be replaced`);
  await writeFile(join(directory, file), changed);
  return { directory, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) };
}
