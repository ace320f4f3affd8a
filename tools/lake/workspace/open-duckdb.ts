import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import { makeWorkDirectory } from './work-directory.ts';

const UNITS: Readonly<Record<string, number>> = {
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  MIB: 2 ** 20,
  GIB: 2 ** 30,
  TIB: 2 ** 40,
};

/** With less memory, DuckDB has too little to sort with. */
const LEAST_BYTES = 500e6;

/** The memory of Node.js and of DuckDB's library, which DuckDB's limit leaves out (`npm run bench -- convert`). */
const UNCOUNTED_BYTES = 200e6;
const COUNTED_SHARE = 0.8;

/** The bytes that `--memory` asks for. Throws an OperatorFault that names the option. */
export function memoryBytes(text: string): number {
  const [, amount = '', unit = ''] = /^(\d+(?:\.\d+)?) ?([a-z]+)$/i.exec(text) ?? [];
  const bytes = Number(amount) * (UNITS[unit.toUpperCase()] ?? Number.NaN);
  if (!(bytes >= LEAST_BYTES))
    throw new OperatorFault(
      `--memory is ${JSON.stringify(text)}; write how much this may use, like 2GB or 800MB, and at least 500MB`,
    );
  return bytes;
}

/** Half of the machine's memory, or half of what its container may use if that is less. */
export const usualMemory = (machine = totalmem(), container = process.constrainedMemory()): number =>
  Math.max(LEAST_BYTES, Math.floor(Math.min(machine, container || machine) / 2));

/** The memory limit to give DuckDB, so that the whole process uses at most `bytes`. */
export const duckDbMemory = (bytes: number): number => Math.floor(bytes * COUNTED_SHARE - UNCOUNTED_BYTES);

export interface Workspace extends AsyncDisposable {
  /** A connection to DuckDB whose time zone is UTC. */
  readonly connection: DuckDBConnection;
  /** A directory for unfinished files. It is removed at the end. */
  readonly directory: string;
}

/**
 * Opens DuckDB, with a directory for unfinished files and for data that DuckDB spills from memory.
 *
 * @param beside the folder that is written. The directory lies in this folder, so that finished files can be renamed
 *   into place. Only one command can write into the folder at a time. Without `beside`, the system's temporary
 *   directory is used
 * @param memory the bytes that the process may use, by default half of the machine's memory
 */
export async function openWorkspace({
  beside,
  memory = usualMemory(),
}: {
  readonly beside?: string;
  readonly memory?: number;
} = {}): Promise<Workspace> {
  const directory = await makeWorkDirectory(beside ?? tmpdir());
  try {
    const instance = await lockedInstance(directory.lock, {
      temp_directory: join(directory.path, 'spilled'),
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
      memory_limit: `${duckDbMemory(memory)}B`,
    });
    if (beside !== undefined)
      await directory.refuseAnother().catch((error) => {
        instance.closeSync();
        throw error;
      });
    const connection = await instance.connect();
    // Without the settings of the progress bar, `connection.progress` reports nothing.
    await connection.run(`SET TimeZone = 'UTC'; SET disabled_optimizers = '${TRUSTING_BOUNDS}';
      SET enable_progress_bar = true; SET enable_progress_bar_print = false; SET progress_bar_time = 0`);
    return {
      connection,
      directory: directory.path,
      async [Symbol.asyncDispose]() {
        connection.closeSync();
        instance.closeSync();
        await directory.remove();
      },
    };
  } catch (error) {
    await directory.remove();
    throw error;
  }
}

/**
 * The optimizers that take a column's bounds and number of NULLs from the footers. With false footers, DuckDB leaves
 * out records, takes conditions as decided, and makes 1256 of 1000. Files of other writers are read without them.
 */
const TRUSTING_BOUNDS = 'statistics_propagation,filter_pushdown,join_filter_pushdown';

/** Runs work on files that this command has written itself. Their bounds are true, and sorting is faster with them. */
export async function trustingBounds<Result>(
  connection: DuckDBConnection,
  work: () => Promise<Result>,
): Promise<Result> {
  await connection.run("SET disabled_optimizers = ''");
  try {
    return await work();
  } finally {
    await connection.run(`SET disabled_optimizers = '${TRUSTING_BOUNDS}'`);
  }
}

/** Tries several times, because another command may open the lock for a moment to see whether this one runs. */
async function lockedInstance(lock: string, options: Record<string, string>): Promise<DuckDBInstance> {
  for (let tries = 1; ; tries++)
    try {
      return await DuckDBInstance.create(lock, options);
    } catch (error) {
      if (tries === MOST_TRIES) throw error;
      await setTimeout(AGAIN_AFTER_MS);
    }
}

const MOST_TRIES = 10;
const AGAIN_AFTER_MS = 20;
