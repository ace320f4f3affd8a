import { createRequire, syncBuiltinESMExports } from 'node:module';

/**
 * Is loaded before a program. Kills the program with SIGKILL after its nth change of a file below a folder. Changes of
 * hidden files at the top of the folder do not count, because these files are unfinished work.
 */
const { KILL_AFTER = '', KILL_BELOW = '' } = process.env;

const fs = createRequire(import.meta.url)('node:fs/promises') as Record<
  string,
  (...args: unknown[]) => Promise<unknown>
>;
let changes = 0;
const counts = (path: unknown): boolean =>
  String(path).startsWith(`${KILL_BELOW}/`) && !String(path).startsWith(`${KILL_BELOW}/.`);

for (const name of ['mkdir', 'rename', 'writeFile', 'copyFile', 'rm']) {
  const original = fs[name];
  if (!original) throw new Error(`node:fs/promises has no ${name}`);
  fs[name] = async (...args) => {
    const done = await original(...args);
    if (args.slice(0, 2).some(counts) && ++changes === Number(KILL_AFTER))
      process.kill(process.pid, 'SIGKILL');
    return done;
  };
}
syncBuiltinESMExports();
