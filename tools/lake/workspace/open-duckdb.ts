import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { duckDbMemory, usualMemory } from './memory-size.ts';
import { makeWorkDirectory } from './work-directory.ts';

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
    await connection.run("SET TimeZone = 'UTC'");
    // Without these settings, `connection.progress` reports nothing.
    await connection.run('SET enable_progress_bar = true');
    await connection.run('SET enable_progress_bar_print = false');
    await connection.run('SET progress_bar_time = 0');
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
