import { join } from 'node:path';
import { toolCache } from '../tool-cache.ts';
import { runInstaller, runProgram } from './run-program.ts';

const PYTHONS = ['python3', 'python3.13', 'python3.12', 'python3.11'];

/**
 * A Python with these packages, pinned, in an environment of its own that is kept for the next run. Undefined where the
 * machine has no Python, which it says in one line; rejects where the packages can't be downloaded. `install` puts them
 * into the environment, if it is not `pip install` of just these.
 */
export async function pythonWith(
  name: string,
  packages: readonly string[],
  install = (bin: string): Promise<unknown> =>
    runInstaller(join(bin, 'python'), ['-m', 'pip', 'install', '--quiet', ...packages]),
): Promise<string | undefined> {
  const python = await findPython();
  if (!python) {
    process.stdout.write(`NOT RUN: ${name} needs Python, 3.11 or later, with venv; there is none here.\n`);
    return undefined;
  }
  const home = await toolCache(name, packages, async (directory) => {
    await runInstaller(python, ['-m', 'venv', directory]);
    await install(join(directory, 'bin'));
  });
  return join(home, 'bin', 'python');
}

async function findPython(): Promise<string | undefined> {
  for (const python of PYTHONS) {
    const test = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))';
    const isGood = await runProgram(python, ['-c', test]).then(
      () => true,
      () => false,
    );
    if (isGood) return python;
  }
  return undefined;
}

/** DuckDB, with its extension for HTTP as a package: `INSTALL httpfs` fetches the same from DuckDB's own host. */
export const duckDbPython = (): Promise<string | undefined> =>
  pythonWith('duckdb-client', [
    'duckdb==1.5.5',
    'duckdb-extensions==1.5.5',
    'duckdb-extension-httpfs==1.5.5',
  ]);

/** A program for it that puts the extension into `HOME`, where `INSTALL` then finds it. */
export const INSTALL_HTTPFS = 'from duckdb_extensions import import_extension; import_extension("httpfs")';
