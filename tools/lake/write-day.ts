import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';

/** A file of a day: its path on this machine, and its name in the lake. */
export interface DayFile {
  readonly path: string;
  readonly name: string;
}

/** Whether DuckDB's error says that a value is too large for its column. */
export const isTooLarge = ({ message }: Error): boolean =>
  /out of range|overflow|could not be cast|can't be cast/i.test(message);

/**
 * Writes a day's files into a directory of this machine. A file's name in the lake comes from the hash of its content,
 * so the same records get the same name again. Throws an OperatorFault if an hour's sum is too large for its column.
 *
 * @param sql the SQL of `dayCopy`, which writes into the directory
 * @param what the day, as a fault names it
 */
export async function writeDay(
  connection: DuckDBConnection,
  sql: string,
  directory: string,
  what: string,
): Promise<DayFile[]> {
  await connection.run(sql).catch((error: Error) => {
    if (isTooLarge(error))
      throw new OperatorFault(
        `${what}: an hour of equal dimensions adds up to more than a column holds. Convert without --hourly. (${error.message.split('\n', 1)[0]})`,
      );
    throw error;
  });
  const names = (await readdir(directory)).sort();
  return Promise.all(
    names.map(async (name) => {
      const hash = createHash('sha256');
      await pipeline(createReadStream(join(directory, name)), hash);
      return { path: join(directory, name), name: `events-${hash.digest('hex').slice(0, 12)}.parquet` };
    }),
  );
}
