import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

const script = join(import.meta.dirname, 'browser/install-browser.ts');

/** Runs the script with only these programs in its PATH. */
async function installOn(programs: Readonly<Record<string, string>>) {
  const PATH = await mkdtemp(join(tmpdir(), 'install-browser-'));
  onTestFinished(() => rm(PATH, { recursive: true }));
  for (const [name, lines] of Object.entries(programs))
    await writeFile(join(PATH, name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
  return new Promise((resolve) => {
    execFile(process.execPath, [script], { env: { PATH } }, (error, stdout) =>
      resolve({ code: error?.code ?? 0, stdout }),
    );
  });
}

it.each([
  ['there is a Chromium', { chromium: '' }],
  [
    'apt-get installs one',
    { 'apt-get': 'test "$3" = update || /bin/cp "$0" "$(/usr/bin/dirname "$0")/chromium"' },
  ],
])('lets the tests in a browser run where %s', async (_, programs) => {
  expect(await installOn(programs)).toEqual({ code: 0, stdout: '' });
});

it.each([
  ['the download fails', { 'apt-get': 'echo E: no network >&2; exit 100' }, /Command failed: apt-get/],
  ['apt-get has none', { 'apt-get': 'exit 0' }, /apt-get installed none/],
  ['there is no apt-get', {}, /apt-get ENOENT/],
])('leaves them out in one line where %s', async (_, programs, reason) => {
  const { code, stdout } = (await installOn(programs)) as { code: number; stdout: string };
  expect(code).toBe(69);
  expect(stdout).toMatch(/^NOT RUN: [^\n]+\n$/);
  expect(stdout).toMatch(reason);
});
