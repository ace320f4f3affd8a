import { createHash } from 'node:crypto';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

const CACHE = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'performance-reports');

/**
 * A directory of tools in the user's cache, made once for these pins. Resolves to undefined where they can't be had,
 * and says so in one line. What a killed run left is made anew.
 */
export async function toolCache(
  name: string,
  pins: readonly string[],
  make: (home: string) => Promise<unknown>,
): Promise<string | undefined> {
  const home = join(
    CACHE,
    `${name}-${createHash('sha256').update(pins.join('\n')).digest('hex').slice(0, 12)}`,
  );
  const complete = join(home, 'complete');
  if (await stat(complete).catch(() => undefined)) return home;
  try {
    await rm(home, { recursive: true, force: true });
    await mkdir(home, { recursive: true });
    await make(home);
    await writeFile(complete, '');
    return home;
  } catch (error) {
    process.stdout.write(`NOT RUN: ${name} can't be had here: ${String(error).split('\n')[0]}\n`);
    return undefined;
  }
}
