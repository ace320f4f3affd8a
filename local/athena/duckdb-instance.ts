import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { quoteText } from '../../lib/report/quote-sql.ts';
import type { OnProgress } from '../../lib/terminal/progress.ts';
import { type OpenedEvents, openEvents } from '../events/open-events.ts';
import { PROFILING_SETTINGS } from './duckdb-profile.ts';

export interface DuckDbOptions {
  /** The directory of the Parquet files, in the layout of the data contract. */
  readonly eventsDirectory: string;
  /** The schema that holds the tables. */
  readonly database: string;
  /** Called with each warning about events that are served nevertheless. */
  readonly onWarning?: (line: string) => void;
  /** Called with the progress of reading the events' footers. */
  readonly onProgress?: OnProgress;
  /** The directory for unfinished results, and for data that DuckDB spills from memory. It is created if missing. */
  readonly scratchDirectory: string;
}

/**
 * Opens DuckDB on a directory of events. Sets DuckDB to behave like Trino where the two would silently differ. Locks
 * DuckDB, so that a query can reach only the events and the scratch directory. Rejects with an OperatorFault if the
 * events can't be served.
 */
export async function openInstance(
  options: DuckDbOptions,
): Promise<{ readonly instance: DuckDBInstance; readonly events: OpenedEvents }> {
  const scratchDirectory = resolve(options.scratchDirectory);
  await mkdir(scratchDirectory, { recursive: true });
  const instance = await DuckDBInstance.create(':memory:', {
    // In Trino, the quotient of two integers is an integer.
    integer_division: 'true',
    temp_directory: join(scratchDirectory, 'spilled'),
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    // DuckDB does not count bytes that come from this cache as scanned.
    enable_external_file_cache: 'false',
  });
  const connection = await instance.connect();
  try {
    await connection.run("SET GLOBAL TimeZone = 'UTC'");
    // DuckDB counts the bytes of Parquet data only if it reads them ahead. By default, it does not read local files
    // ahead.
    await connection.run('SET GLOBAL prefetch_all_parquet_files = true');
    const { eventsDirectory: directory, database, onWarning, onProgress } = options;
    const events = await openEvents(connection, {
      directory,
      database,
      ...(onWarning && { onWarning }),
      ...(onProgress && { onProgress }),
    });
    const reachable = [resolve(options.eventsDirectory), scratchDirectory].map(quoteText);
    await connection.run(`SET GLOBAL allowed_directories = [${reachable.join(', ')}]`);
    await connection.run('SET GLOBAL enable_external_access = false');
    const changeable = [...PROFILING_SETTINGS, 'schema', 'threads'].map(quoteText);
    await connection.run(`SET GLOBAL allowed_configs = [${changeable.join(', ')}]`);
    await connection.run('SET GLOBAL lock_configuration = true');
    return { instance, events };
  } catch (error) {
    instance.closeSync();
    throw error;
  } finally {
    connection.closeSync();
  }
}
