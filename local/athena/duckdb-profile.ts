import { readFile } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteText } from '../../lib/report/quote-sql.ts';

/** The settings that a connection changes to have its queries profiled. */
export const PROFILING_SETTINGS = [
  'enable_profiling',
  'profiling_output',
  'custom_profiling_settings',
] as const;

/** After this, every statement of the connection writes its profile to the file, in place of the previous profile. */
export async function profileInto(connection: DuckDBConnection, path: string): Promise<void> {
  // The order matters: DuckDB checks the file's extension against the format that is already set.
  await connection.run(
    `SET enable_profiling = 'json';
     SET profiling_output = ${quoteText(path)};
     SET custom_profiling_settings = '{"TOTAL_BYTES_READ": "true"}'`,
  );
}

/** The bytes that the profiled statement read from files. */
export async function bytesRead(path: string): Promise<number> {
  const profile = JSON.parse(await readFile(path, 'utf8')) as { total_bytes_read: number };
  return profile.total_bytes_read;
}
