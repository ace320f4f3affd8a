import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readlink, realpath, rm, stat, symlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fetchAgain } from './fetch-again.ts';

/** No installation takes this long. An incomplete installation of this age was left behind by a killed process. */
const LEFT_BEHIND_MS = 86_400_000;

/**
 * A directory with a tool in the user's cache, installed once for these pins. `make` installs into the empty directory
 * that it gets. If `make` fails, it is called again (`fetchAgain`); after the last failure, this function rejects.
 *
 * A link to the directory is made when the installation is complete. The directory itself is never renamed, because the
 * commands of a Python environment contain its path.
 */
export async function toolCache(
  name: string,
  pins: readonly string[],
  make: (directory: string) => Promise<unknown>,
): Promise<string> {
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'performance-reports');
  const version = createHash('sha256').update(pins.join('\n')).digest('hex').slice(0, 16);
  const link = join(cache, `${name}-${version}`);
  const installed = await realpath(link).catch(() => undefined);
  if (installed) return installed;

  await mkdir(cache, { recursive: true });
  // Removes a link whose directory was deleted.
  await rm(link, { force: true });
  await removeLeftBehind(cache, `${name}-${version}-`);
  const install = async () => {
    const directory = await mkdtemp(`${link}-`);
    let isLinked = false;
    try {
      await make(directory);
      isLinked = await linkTo(directory, link);
    } finally {
      if (!isLinked) await rm(directory, { recursive: true, force: true });
    }
  };
  await fetchAgain(name, install);
  return realpath(link);
}

/**
 * Makes the link, unless it exists. Resolves to whether it leads to this directory. It leads to another one if another
 * process installed the tool first.
 */
async function linkTo(directory: string, link: string): Promise<boolean> {
  await symlink(directory, link).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return (await readlink(link)) === directory;
}

async function removeLeftBehind(cache: string, prefix: string): Promise<void> {
  for (const entry of await readdir(cache)) {
    if (!entry.startsWith(prefix)) continue;
    const directory = join(cache, entry);
    // Another process may have removed the directory by now.
    const found = await stat(directory).catch(() => undefined);
    if (found && found.mtimeMs < Date.now() - LEFT_BEHIND_MS)
      await rm(directory, { recursive: true, force: true });
  }
}
