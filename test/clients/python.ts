import { join } from 'node:path';
import { isHere, runInstaller } from './run-program.ts';
import { toolCache } from './tool-cache.ts';

/**
 * A Python with these packages, pinned, in an environment of its own that is kept for the next run. Undefined where
 * there is no Python, or the packages can't be had; says so in one line.
 */
export async function pythonWith(name: string, packages: readonly string[]): Promise<string | undefined> {
  if (!(await isHere('python3', '--version'))) return undefined;
  const home = await toolCache(name, packages, async (directory) => {
    await runInstaller('python3', ['-m', 'venv', directory]);
    await runInstaller(join(directory, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', ...packages]);
  });
  return home && join(home, 'bin', 'python');
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
