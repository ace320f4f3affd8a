/** `npm run browser`: installs Chromium if the machine has none. */
import { runCommand } from '../../deployed/run-command.ts';
import { fetchAgain } from '../../fetch-again.ts';
import { NoTools, tell } from '../../lane-fault.ts';
import { findBrowser } from './find-browser.ts';

/**
 * apt-get exits with 100 after every failure, so only its output shows the cause. The patterns below search the output
 * for it. LC_ALL makes the output English.
 */
const SETTINGS = { DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
const NO_RIGHT = /are you root|Could not open lock file .*Permission denied/;
const NOT_OFFERED = /Unable to locate package|has no installation candidate/;
const NOT_DOWNLOADED = /Failed to fetch/;

/**
 * Installs Chromium by apt-get if the machine has none. Rejects with NoTools if the machine has no apt-get, if this
 * user may not install, or if apt-get offers no Chromium. Rejects with another error if the download fails.
 */
async function installBrowser(): Promise<void> {
  if (await findBrowser()) return;
  const reason = await fetchAgain('Chromium', aptGetInstall);
  if (reason) throw new NoTools(`There is no Chromium for the tests in a browser: ${reason}.`);
}

/** Resolves to undefined on success, else to the reason why Chromium can't be had. Rejects if a download fails. */
async function aptGetInstall(): Promise<string | undefined> {
  const update = await aptGet('update');
  if (!update) return 'there is no apt-get';
  if (NO_RIGHT.test(update.output)) return 'apt-get needs root';
  const install = await aptGet('install', '--no-install-recommends', 'chromium');
  if (!install) return 'there is no apt-get';
  if (install.code === 0) return (await findBrowser()) ? undefined : 'apt-get installed none';
  // If the package lists can't be fetched, `update` may still exit with 0, and `install` then finds no package.
  const hasLists = update.code === 0 && !NOT_DOWNLOADED.test(update.output);
  if (hasLists && NOT_OFFERED.test(install.output)) return 'apt-get offers none';
  throw new Error((hasLists ? install : update).output);
}

/** Runs apt-get. Resolves to undefined if the machine has no apt-get. */
const aptGet = (...parameters: string[]) =>
  runCommand('apt-get', ['--quiet', '--yes', ...parameters], { env: { ...process.env, ...SETTINGS } }).catch(
    () => undefined,
  );

try {
  await installBrowser();
} catch (error) {
  tell(error);
}
