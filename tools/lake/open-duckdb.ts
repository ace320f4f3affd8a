import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

export interface Workspace extends AsyncDisposable {
  /** In UTC. */
  readonly connection: DuckDBConnection;
  /** For unfinished files; removed at the end. */
  readonly directory: string;
}

/** DuckDB, and a directory for what it spills from memory and for unfinished files. */
export async function openWorkspace(): Promise<Workspace> {
  const directory = await mkdtemp(join(tmpdir(), 'lake-'));
  const instance = await DuckDBInstance.create(':memory:', {
    temp_directory: join(directory, 'spilled'),
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
  const connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  return {
    connection,
    directory,
    async [Symbol.asyncDispose]() {
      connection.closeSync();
      instance.closeSync();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
