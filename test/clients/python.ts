import { createHash } from 'node:crypto';
import { readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isHere, runProgram } from './run-program.ts';

const REQUIREMENTS = fileURLToPath(new URL('./requirements.txt', import.meta.url));

/**
 * A Python with the pinned packages, in an environment of its own that is kept for the next run. Undefined where
 * there is no Python, or the packages can't be had; says so in one line.
 */
export async function pythonWithPackages(): Promise<string | undefined> {
  if (!(await isHere('python3', '--version'))) return undefined;
  const pins = createHash('sha256')
    .update(await readFile(REQUIREMENTS))
    .digest('hex')
    .slice(0, 12);
  const home = join(tmpdir(), `performance-reports-python-${pins}`);
  const python = join(home, 'bin', 'python');
  if (await stat(join(home, 'complete')).catch(() => undefined)) return python;
  try {
    await rm(home, { recursive: true, force: true });
    await runProgram('python3', ['-m', 'venv', home]);
    await runProgram(python, ['-m', 'pip', 'install', '--quiet', '-r', REQUIREMENTS]);
    await runProgram('touch', [join(home, 'complete')]);
    return python;
  } catch (error) {
    process.stdout.write(
      `NOT RUN: requests and pandas can't be installed here: ${String(error).split('\n')[0]}\n`,
    );
    return undefined;
  }
}
