import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { tmpdir, totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import { isBucket } from './store/bucket.ts';

/** With less memory, DuckDB has too little to sort with. */
const LEAST_BYTES = 500e6;

/** The memory of Node.js and of DuckDB's library, which DuckDB's limit leaves out (`npm run bench -- convert`). */
const UNCOUNTED_BYTES = 200e6;
const COUNTED_SHARE = 0.8;

/** The bytes that `--memory` asks for, if it is given. Throws an OperatorFault that names the option. */
export function memoryOption(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, amount, unit = '', binary] = /^(\d+(?:\.\d+)?) ?([MGT])(i?)B$/i.exec(text) ?? [];
  const bytes = Number(amount) * (binary ? 1024 : 1000) ** ('MGT'.indexOf(unit.toUpperCase()) + 2);
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
 * @param beside the lake that is written. If it is a folder, the directory lies in it, so that finished files can be
 * renamed into place, and only one command can write into it at a time. Else the system's temporary directory is used.
 * @param memory the bytes that the process may use
 */
export async function openWorkspace(beside?: string, memory = usualMemory()): Promise<Workspace> {
  const folder = beside === undefined || isBucket(beside) ? tmpdir() : beside;
  await using resources = new AsyncDisposableStack();
  const directory = await makeWorkDirectory(folder);
  resources.defer(() => directory.remove());
  const instance = await lockedInstance(join(directory.path, LOCK), {
    temp_directory: join(directory.path, 'spilled'),
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    memory_limit: `${duckDbMemory(memory)}B`,
  });
  resources.defer(() => instance.closeSync());
  if ((await directory.hasOthers()) && folder === beside)
    throw new OperatorFault(
      `Another command writes into ${folder} at present. Run this one when that has ended.`,
    );
  const connection = await instance.connect();
  resources.defer(() => connection.closeSync());
  // The file cache costs a fifth of the CPU time of a check, and would be wrong for a file that is replaced.
  // Without the settings of the progress bar, `connection.progress` reports nothing.
  await connection.run(`SET TimeZone = 'UTC'; SET disabled_optimizers = '${TRUSTING_BOUNDS}';
    SET enable_external_file_cache = false;
    SET enable_progress_bar = true; SET enable_progress_bar_print = false; SET progress_bar_time = 0`);
  const all = resources.move();
  return { connection, directory: directory.path, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/**
 * The optimizers that take a column's bounds and number of NULLs from the footers. With false footers, DuckDB leaves
 * out records, takes conditions as decided, and makes 1256 of 1000. Files of other writers are read without them.
 */
const TRUSTING_BOUNDS = 'statistics_propagation,filter_pushdown,join_filter_pushdown';

/** Runs SQL on files that this command has written itself. Their bounds are true, and sorting is faster with them. */
export async function runTrusting(connection: DuckDBConnection, sql: string) {
  await connection.run("SET disabled_optimizers = ''");
  const restore = () => connection.run(`SET disabled_optimizers = '${TRUSTING_BOUNDS}'`);
  return await connection.runAndReadAll(sql).finally(restore);
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

const [MOST_TRIES, AGAIN_AFTER_MS] = [10, 20];

/** It begins with a dot, because the engines and `check` ignore such names. */
const PREFIX = '.lake-work-';

/** An empty DuckDB database. Its lock ends with the process, even if the process is killed. */
const LOCK = 'lock.duckdb';

/** Every command locks its directory within this time after making it. */
const NEW_MS = 60_000;

/** The directories of this process. Their locks do not keep this process out, so it looks into this set as well. */
const own = new Set<string>();

/** Makes a directory for unfinished files in a folder, and makes the folder if needed. */
async function makeWorkDirectory(folder: string) {
  const refuse = ({ code = '' }: NodeJS.ErrnoException) => {
    const why = ['EEXIST', 'ENOTDIR'].includes(code) ? 'it is no folder' : code;
    throw new OperatorFault(
      `${folder} can't be written (${why}). Name a folder that you may write to, or a new one.`,
    );
  };
  const parent = resolve(folder);
  const firstMade = await mkdir(parent, { recursive: true }).catch(refuse);
  const path = await mkdtemp(join(parent, PREFIX)).catch(refuse);
  own.add(path);
  return {
    path,
    /**
     * Removes the directories that killed processes have left in the folder. Resolves to whether another command writes
     * into the folder. Call it after the lock is taken.
     */
    async hasOthers() {
      const names = (await readdir(parent)).filter((name) => name.startsWith(PREFIX));
      let isAnother = false;
      for (const other of names.map((name) => join(parent, name)).filter((one) => one !== path)) {
        const isInUse = own.has(other) || (await isLocked(other));
        const { mtimeMs } = await stat(other).catch(() => ({ mtimeMs: Number.NaN }));
        // A new directory may still be about to get its lock.
        if (isInUse === false && mtimeMs < Date.now() - NEW_MS) await removeWhole(other);
        isAnother ||= isInUse === true;
      }
      return isAnother;
    },
    async remove() {
      await removeWhole(path);
      own.delete(path);
      // The folders that this command has made, if nothing lies in them.
      for (let at = parent; firstMade && at.startsWith(firstMade); at = dirname(at))
        if (await rmdir(at).catch((error: Error) => error)) break;
    },
  };
}

/**
 * Whether the directory's lock can't be opened, because the process that made the directory still runs. Undefined if
 * there is no lock file.
 */
async function isLocked(path: string): Promise<boolean | undefined> {
  if (!existsSync(join(path, LOCK))) return undefined;
  try {
    (await DuckDBInstance.create(join(path, LOCK))).closeSync();
    return false;
  } catch {
    // The lock file may have been removed meanwhile.
    return existsSync(join(path, LOCK)) || undefined;
  }
}

/** Retries, because another command that tries the lock may put a file beside it during the removal. */
const removeWhole = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
