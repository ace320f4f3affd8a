import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { dayFolder, SUCCESS_MARKER } from '../../lake-check/layout.ts';
import { quoteText } from '../../lib/report/quote-sql.ts';
import { PARTITION_COLUMN } from '../../lib/report/tables.ts';
import { DRAW_MACROS } from './draws.ts';
import { LATE_COLUMN } from './sample-rows.ts';

/**
 * Several days of a table. One statement makes their records. Each day gets a file, and a second file if it has late
 * records.
 */
export interface SampleFiles {
  readonly table: string;
  readonly days: readonly { readonly day: string; readonly isRestated: boolean }[];
  /** SQL for the records of these days, with the partition's column and LATE_COLUMN. */
  readonly rows: string;
}

/** The number of statements that run at once: DuckDB uses only one core to make such a small file. */
const AT_ONCE = 2;

/**
 * Writes the files below a directory. If that fails, it rejects only when no file is being written any more.
 *
 * @param onDay called after each day
 */
export async function writeSampleFiles(
  directory: string,
  files: readonly SampleFiles[],
  onDay: () => void,
): Promise<void> {
  const instance = await DuckDBInstance.create();
  const queue = [...files];
  try {
    await withConnection(instance, (connection) => connection.run(DRAW_MACROS));
    const writers = Array.from({ length: AT_ONCE }, () =>
      withConnection(instance, async (connection) => {
        for (let next = queue.shift(); next; next = queue.shift())
          await writeDays(connection, directory, next, onDay);
      }).catch((error) => {
        // The other writer must not begin more files.
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

/**
 * Makes several days in one statement: DuckDB takes longer to plan such a long statement than to make one day's
 * records.
 */
async function writeDays(
  connection: DuckDBConnection,
  directory: string,
  { table, days, rows }: SampleFiles,
  onDay: () => void,
) {
  await connection.run(`CREATE OR REPLACE TEMP TABLE drawn AS ${rows}`);
  for (const { day, isRestated } of days) {
    const path = join(directory, dayFolder(table, day));
    await mkdir(path, { recursive: true });
    const write = (file: string, condition: string) =>
      connection.run(
        `COPY (SELECT * EXCLUDE (${PARTITION_COLUMN}, ${LATE_COLUMN}) FROM drawn
               WHERE ${PARTITION_COLUMN} = '${day}' AND ${condition})
         TO ${quoteText(join(path, file))} (FORMAT parquet, COMPRESSION zstd)`,
      );
    await write('events.parquet', `NOT ${LATE_COLUMN}`);
    if (isRestated) await write('late-events.parquet', LATE_COLUMN);
    onDay();
  }
}

/**
 * Puts the marker of a complete day into all days of the sample events but the last, which is still open. Does nothing
 * if the markers exist.
 *
 * @param days the days of each table, in their order
 */
export async function markClosedDays(
  directory: string,
  tables: readonly string[],
  days: readonly string[],
): Promise<void> {
  const markers = tables.flatMap((table) =>
    days.slice(0, -1).map((day) => join(directory, dayFolder(table, day), SUCCESS_MARKER)),
  );
  // The last marker is written last: if it exists, all the others do.
  const last = markers.at(-1);
  if (!last || existsSync(last)) return;
  for (const marker of markers) await writeFile(marker, '');
}
