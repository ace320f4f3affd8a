import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { NoTools } from '../lane-fault.ts';
import { installBrowser } from './browser/install-browser.ts';

let PATH: string;
beforeEach(async () => {
  PATH = await mkdtemp(join(tmpdir(), 'install-browser-'));
  vi.stubEnv('PATH', PATH);
  vi.stubEnv('CHROMIUM', '');
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  return async () => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    await rm(PATH, { recursive: true });
  };
});

/** Installs the browser on a machine that has only these programs. Does not pause between the tries. */
async function installOn(programs: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, lines] of Object.entries(programs))
    await writeFile(join(PATH, name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
  await installBrowser([0, 0]);
}

const whenUpdating = (lines: string) => `if [ "$3" = update ]; then ${lines}; exit; fi`;
const INSTALLED = '/bin/cp "$0" "$(/usr/bin/dirname "$0")/chromium"';
const UNKNOWN = 'echo "E: Unable to locate package chromium" >&2; exit 100';

describe('installBrowser', () => {
  it.each([
    ['the machine has Chromium already', { chromium: '' }],
    ['apt-get installs Chromium', { 'apt-get': `${whenUpdating('true')}; ${INSTALLED}` }],
  ])('succeeds if %s', async (_, programs) => {
    await expect(installOn(programs)).resolves.toBeUndefined();
  });

  it.each([
    ['there is no apt-get', {}],
    ['apt-get offers none', { 'apt-get': `${whenUpdating('true')}; ${UNKNOWN}` }],
    [
      'apt-get needs root',
      {
        'apt-get':
          'echo "E: Could not open lock file /var/lib/apt/lists/lock - open (13: Permission denied)" >&2; exit 100',
      },
    ],
  ])('rejects with NoTools and the reason: %s', async (reason, programs) => {
    await expect(installOn(programs)).rejects.toThrow(
      new NoTools(`There is no Chromium for the tests in a browser: ${reason}.`),
    );
  });

  it.each([
    ['the package', `${whenUpdating('true')}; echo "E: Failed to fetch a.deb" >&2; exit 100`, /a\.deb$/],
    ['the package lists', `${whenUpdating('echo "W: Failed to fetch InRelease"')}; ${UNKNOWN}`, /InRelease$/],
  ])('rejects with another error if it can’t download %s in three tries', async (_, aptGet, reason) => {
    const installing = installOn({ 'apt-get': aptGet });
    await expect(installing).rejects.toThrow(reason);
    await expect(installing).rejects.not.toBeInstanceOf(NoTools);
  });
});
