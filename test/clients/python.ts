import { join } from 'node:path';
import { toolCache } from '../tool-cache.ts';
import { runInstaller, runProgram } from './run-program.ts';

const PYTHONS = ['python3', 'python3.13', 'python3.12', 'python3.11'];

/**
 * The path of a Python with these pinned packages, in a virtual environment that is kept for the next run. If the
 * machine has no Python, prints one line and resolves to undefined. Rejects if the packages can't be downloaded.
 * `install` puts the packages into the environment, by default with `pip install`.
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

/**
 * A Python with DuckDB and a package that contains DuckDB's HTTP extension. Without the package, `INSTALL httpfs` would
 * fetch the extension from DuckDB's host.
 */
export const duckDbPython = (): Promise<string | undefined> =>
  pythonWith('duckdb-client', [
    'duckdb==1.5.5',
    'duckdb-extensions==1.5.5',
    'duckdb-extension-httpfs==1.5.5',
  ]);

/** A Python program that copies the HTTP extension into `HOME`, where `INSTALL httpfs` finds it. */
export const INSTALL_HTTPFS = 'from duckdb_extensions import import_extension; import_extension("httpfs")';
