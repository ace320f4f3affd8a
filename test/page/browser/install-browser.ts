/**
 * Installs Chromium by apt-get, which takes root, unless there is one. Where none can be had, it says so in one line and
 * exits with the code for missing tools.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { UNAVAILABLE } from '../../lane-fault.ts';
import { findBrowser } from './find-browser.ts';

const LONGEST_MS = 180_000;

const aptGet = (...parameters: string[]) =>
  promisify(execFile)('apt-get', ['--quiet', '--yes', ...parameters], {
    timeout: LONGEST_MS,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });

if ((await findBrowser()) === undefined)
  try {
    await aptGet('update');
    await aptGet('install', '--no-install-recommends', 'chromium');
    if ((await findBrowser()) === undefined) throw new Error('apt-get installed none');
  } catch (error) {
    const [reason] = (error as Error).message.split('\n');
    process.stdout.write(
      `NOT RUN: the tests in a browser; there is no Chromium, and none can be had: ${reason}\n`,
    );
    process.exitCode = UNAVAILABLE;
  }
