import { readFile } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteText } from '../../lib/report/quote-sql.ts';

/** The settings that a connection changes to have its queries profiled. */
export const PROFILING_SETTINGS = [
  'enable_profiling',
  'profiling_output',
  'custom_profiling_settings',
] as const;

/** From now on, every statement of the connection leaves its profile in the file, in place of the one before. */
export async function profileInto(connection: DuckDBConnection, path: string): Promise<void> {
  // In this order: DuckDB checks the file's extension against the format that is already set.
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
