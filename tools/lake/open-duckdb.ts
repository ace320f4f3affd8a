import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
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
 * @param beside the folder that is to hold the directory, so that finished files can be renamed into place; the
 *   system's temporary directory otherwise
 * @param memory bytes that the process may use; half of the machine's otherwise
 */
export async function openWorkspace({
  beside = tmpdir(),
  memory,
}: {
  readonly beside?: string;
  readonly memory?: number;
} = {}): Promise<Workspace> {
  const directory = await makeWorkDirectory(beside);
  const instance = await DuckDBInstance.create(directory.lock, {
    temp_directory: join(directory.path, 'spilled'),
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    threads: String(availableParallelism()),
    ...(memory && { memory_limit: `${memory}B` }),
  });
  const connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  return {
    connection,
    directory: directory.path,
    async [Symbol.asyncDispose]() {
      connection.closeSync();
      instance.closeSync();
      await directory.remove();
    },
  };
}
