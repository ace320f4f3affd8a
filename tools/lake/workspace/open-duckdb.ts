import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { duckDbMemory, usualMemory } from './memory-size.ts';
import { makeWorkDirectory } from './work-directory.ts';

export interface Workspace extends AsyncDisposable {
  /** In UTC. */
  readonly connection: DuckDBConnection;
  /** For unfinished files; removed at the end. */
  readonly directory: string;
}

/**
 * DuckDB, and a directory for what it spills from memory and for unfinished files.
 *
 * @param beside the folder that is written. The directory lies in it, so that finished files can be renamed into
 *   place; only one command can write into the folder at a time. Without it, the system's temporary directory is
 *   used
 * @param memory bytes that the process may use; half of the machine's otherwise
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
    // `connection.progress` tells nothing without these.
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

/** Another command may try the lock at this instant, to see whether this one runs. */
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
