import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { advertiserReport, publisherReport, type Report, reports } from '../../lib/report/catalogue.ts';
import { quoteText } from '../../lib/report/quote-sql.ts';
import { PARTITION_COLUMN, tables } from '../../lib/report/tables.ts';
import { DRAW_MACROS } from './draws.ts';
import { sampleDays } from './sample-days.ts';
import { sampleRows } from './sample-rows.ts';

export interface SampleEvents {
  /** Where sample events are kept, each set in a directory of its own. */
  readonly directory: string;
  readonly publisherRecords?: number;
  readonly advertiserRecords?: number;
  /** Told after each of the files how many are done. */
  readonly onProgress?: (done: number, total: number) => void;
}

const FILES_AT_ONCE = 2;

/** One file of one day of one table, and the SQL for its records. */
interface SampleFile {
  readonly partition: string;
  readonly rows: string;
}

/**
 * Makes events of January and February 2026, the same on every machine, unless they are there already.
 * Resolves to the directory that holds the tables. Its name is derived from the SQL that makes the records, so that
 * a changed generator makes new ones.
 */
export async function makeSampleEvents({
  directory,
  publisherRecords = 2_000_000,
  advertiserRecords = 2_000_000,
  onProgress = () => {},
}: SampleEvents): Promise<string> {
  const records = new Map([
    [publisherReport.table, publisherRecords],
    [advertiserReport.table, advertiserRecords],
  ]);
  const files = tables.flatMap((table, index) => {
    const report = reports[index] as Report;
    return sampleDays(records.get(table.name) ?? 0).map((day) => ({
      partition: join(table.name, `${PARTITION_COLUMN}=${day.day}`),
      rows: sampleRows(report, table, index, day),
    }));
  });
  const version = createHash('sha256').update(DRAW_MACROS).update(JSON.stringify(files)).digest('hex');
  const target = join(resolve(directory), `sample-${version.slice(0, 12)}`);
  if (existsSync(target)) return target;

  await mkdir(directory, { recursive: true });
  const partial = await mkdtemp(`${target}-partial-`);
  try {
    await writeFiles(partial, files, onProgress);
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    // Taken: another process has made the same events in the meantime.
    if (!['ENOTEMPTY', 'EEXIST'].includes(String((error as NodeJS.ErrnoException).code))) throw error;
  }
  return target;
}

async function writeFiles(
  directory: string,
  files: readonly SampleFile[],
  onProgress: (done: number, total: number) => void,
): Promise<void> {
  const instance = await DuckDBInstance.create();
  let done = 0;
  const writeFrom = async (queue: Iterator<SampleFile>) => {
    const connection = await instance.connect();
    try {
      for (let next = queue.next(); !next.done; next = queue.next()) {
        await writeFile(connection, directory, next.value);
        onProgress(++done, files.length);
      }
    } finally {
      connection.closeSync();
    }
  };
  try {
    const connection = await instance.connect();
    await connection.run(DRAW_MACROS);
    connection.closeSync();
    // One file is too small for DuckDB to use more than one core on it.
    const queue = files.values();
    await Promise.all(Array.from({ length: FILES_AT_ONCE }, () => writeFrom(queue)));
  } finally {
    instance.closeSync();
  }
}

async function writeFile(connection: DuckDBConnection, directory: string, { partition, rows }: SampleFile) {
  const path = join(directory, partition);
  await mkdir(path, { recursive: true });
  await connection.run(
    `COPY (${rows}) TO ${quoteText(join(path, 'events.parquet'))} (FORMAT parquet, COMPRESSION zstd)`,
  );
}
