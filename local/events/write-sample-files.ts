import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { quoteText } from '../../lib/report/quote-sql.ts';
import { DRAW_MACROS } from './draws.ts';

/** One file of one day of one table, and the SQL for its records. */
export interface SampleFile {
  /** The directory of the table's day. */
  readonly partition: string;
  readonly rows: string;
}

/** One file is too small for DuckDB to use more than one core on it. */
const FILES_AT_ONCE = 2;

/**
 * Writes the files below a directory. On an error, rejects only once no file is being written any more.
 *
 * @param onFile called after each file
 */
export async function writeSampleFiles(
  directory: string,
  files: readonly SampleFile[],
  onFile: () => void,
): Promise<void> {
  const instance = await DuckDBInstance.create();
  const queue = [...files];
  try {
    await withConnection(instance, (connection) => connection.run(DRAW_MACROS));
    const writers = Array.from({ length: FILES_AT_ONCE }, () =>
      withConnection(instance, async (connection) => {
        for (let file = queue.shift(); file; file = queue.shift()) {
          await writeFile(connection, directory, file);
          onFile();
        }
      }).catch((error) => {
        // Leaves the other writer nothing more to write.
        queue.length = 0;
        throw error;
      }),
    );
    for (const writer of await Promise.allSettled(writers))
      if (writer.status === 'rejected') throw writer.reason;
  } finally {
    instance.closeSync();
  }
}

async function withConnection(
  instance: DuckDBInstance,
  use: (connection: DuckDBConnection) => Promise<unknown>,
): Promise<void> {
  const connection = await instance.connect();
  try {
    await use(connection);
  } finally {
    connection.closeSync();
  }
}

async function writeFile(connection: DuckDBConnection, directory: string, { partition, rows }: SampleFile) {
  const path = join(directory, partition);
  await mkdir(path, { recursive: true });
  await connection.run(
    `COPY (${rows}) TO ${quoteText(join(path, 'events.parquet'))} (FORMAT parquet, COMPRESSION zstd)`,
  );
}
