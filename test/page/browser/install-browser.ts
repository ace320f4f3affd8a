import { runCommand } from '../../deployed/run-command.ts';
import { fetchAgain } from '../../fetch-again.ts';
import { NoTools } from '../../lane-fault.ts';
import { findBrowser } from './find-browser.ts';

/** apt-get ends with 100 whatever is wrong. What it says tells more, in the language that this sets. */
const SETTINGS = { DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
const NO_RIGHT = /are you root|Could not open lock file .*Permission denied/;
const NOT_OFFERED = /Unable to locate package|has no installation candidate/;
const NOT_DOWNLOADED = /Failed to fetch/;

/**
 * Installs Chromium by apt-get, unless there is one. Rejects with NoTools where the machine has no apt-get, where this user
 * may not install, and where apt-get offers no Chromium; with another error where it can't be downloaded.
 */
export async function installBrowser(pausesMs?: readonly number[]): Promise<void> {
  if (await findBrowser()) return;
  const reason = await fetchAgain('Chromium', aptGetInstall, pausesMs);
  if (reason) throw new NoTools(`There is no Chromium for the tests in a browser: ${reason}.`);
}

/** Resolves to why this machine can't have it, or to undefined when it is installed. Rejects if a download fails. */
async function aptGetInstall(): Promise<string | undefined> {
  const update = await aptGet('update');
  if (!update) return 'there is no apt-get';
  if (NO_RIGHT.test(update.output)) return 'apt-get needs root';
  const install = await aptGet('install', '--no-install-recommends', 'chromium');
  if (!install) return 'there is no apt-get';
  if (install.code === 0) return (await findBrowser()) ? undefined : 'apt-get installed none';
  // If the lists of packages can't be fetched, `update` ends well all the same, and `install` knows no package.
  const hasLists = update.code === 0 && !NOT_DOWNLOADED.test(update.output);
  if (hasLists && NOT_OFFERED.test(install.output)) return 'apt-get offers none';
  throw new Error((hasLists ? install : update).output);
}

/** Resolves to undefined where there is no apt-get. */
const aptGet = (...parameters: string[]) =>
  runCommand('apt-get', ['--quiet', '--yes', ...parameters], { env: { ...process.env, ...SETTINGS } }).catch(
    () => undefined,
  );
