import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { dayFolder, SUCCESS_MARKER } from '../../lake-check/layout.ts';
import { reports } from '../../lib/report/catalogue.ts';
import { quoteText } from '../../lib/report/quote-sql.ts';
import { PARTITION_COLUMN } from '../../lib/report/tables.ts';
import { isAlive, thisPlace } from '../run-folder.ts';
import { DRAW_MACROS } from './draws.ts';
import { isOpenDay, LATE_COLUMN, sampleDays, sampleRows } from './sample-rows.ts';

export interface SampleEvents {
  /** The directory for sample events. Each set of events has a directory of its own in it. */
  readonly directory: string;
  /** How many records each table gets. */
  readonly records?: number;
  /** The number of records of a table, by its name, in place of `records`. */
  readonly recordsOf?: Readonly<Record<string, number>>;
  /** Whether some texts are hard for CSV writers, SQL builders and readers. */
  readonly hasAwkwardTexts?: boolean;
  /** Called at the start and after each day of a table, with the number of days that are done. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Makes the events of January and February 2026, unless they exist already. They are the same on every machine.
 * Resolves to the directory that holds the tables. Its name is derived from the SQL that makes the records, so a
 * changed generator makes a new directory.
 */
export async function makeSampleEvents({
  directory,
  records = 2_000_000,
  recordsOf = {},
  hasAwkwardTexts = false,
  onProgress = () => {},
}: SampleEvents): Promise<string> {
  const batches = batchesOf((table) => recordsOf[table] ?? records, hasAwkwardTexts);
  const version = createHash('sha256').update(DRAW_MACROS).update(JSON.stringify(batches)).digest('hex');
  const target = join(resolve(directory), `sample-${version.slice(0, 12)}`);
  await mkdir(directory, { recursive: true });
  await removeInterrupted(directory);
  if (existsSync(target)) return target;

  // The set has another name until it is complete, so a killed run leaves nothing that looks complete.
  const partial = await mkdtemp(`${target}-partial-${process.pid}-${thisPlace}-`);
  const total = batches.reduce((count, { days }) => count + days.length, 0);
  let done = 0;
  onProgress(done, total);
  try {
    await writeBatches(partial, batches, () => onProgress(++done, total));
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    // The name is taken if another process has made the same events in the meantime.
    if (!['ENOTEMPTY', 'EEXIST'].includes(String((error as NodeJS.ErrnoException).code))) throw error;
  }
  return target;
}

/** The name of an unfinished set contains the process that makes it, and the place of that process. */
const UNFINISHED = /^sample-\w+-partial-(?:(\d+)-([\da-f]{8})-)?/;

/** An unfinished set of another place may be under way for this time. */
const LONGEST_MAKING_MS = 3_600_000;

/** Removes unfinished sets whose process was killed. Each set has up to 100 MB. */
async function removeInterrupted(directory: string): Promise<void> {
  const interrupted = (await readdir(directory)).filter((name) => {
    const [match, pid, place] = UNFINISHED.exec(name) ?? [];
    if (match === undefined) return false;
    if (place === thisPlace) return !isAlive(Number(pid));
    const made = statSync(join(directory, name), { throwIfNoEntry: false });
    return made !== undefined && made.mtimeMs < Date.now() - LONGEST_MAKING_MS;
  });
  await Promise.all(interrupted.map((name) => rm(join(directory, name), { recursive: true, force: true })));
}

/** About how many records one statement makes. Until their files are written, they take some 170 bytes each. */
const RECORDS_A_STATEMENT = 250_000;

/**
 * Several days of a table, whose records one statement makes: DuckDB takes longer to plan such a long statement than to
 * make one day's records.
 */
interface Batch {
  readonly table: string;
  readonly days: readonly { readonly day: string; readonly isRestated: boolean }[];
  /** SQL for the records of these days, with the partition's column and LATE_COLUMN. */
  readonly rows: string;
}

const batchesOf = (recordsOf: (table: string) => number, hasAwkwardTexts: boolean): Batch[] =>
  reports.flatMap((report, index) => {
    const all = sampleDays(recordsOf(report.table));
    const statements = Math.max(1, Math.ceil(recordsOf(report.table) / RECORDS_A_STATEMENT));
    const daysEach = Math.ceil(all.length / statements);
    return Array.from({ length: Math.ceil(all.length / daysEach) }, (_, part) => {
      const days = all.slice(part * daysEach, (part + 1) * daysEach);
      return {
        table: report.table,
        days: days.map(({ day, late, end }) => ({ day, isRestated: late < end })),
        rows: sampleRows(report, index, days, hasAwkwardTexts),
      };
    });
  });

/** The number of batches that are written at once: DuckDB uses only one core to make such a small file. */
const AT_ONCE = 2;

/**
 * Writes the files of all batches below a directory. If that fails, it rejects only when no file is being written any
 * more.
 *
 * @param onDay called after each day
 */
async function writeBatches(directory: string, batches: readonly Batch[], onDay: () => void): Promise<void> {
  const instance = await DuckDBInstance.create();
  const queue = [...batches];
  const write = async () => {
    const connection = await instance.connect();
    try {
      for (let next = queue.shift(); next; next = queue.shift())
        await writeBatch(connection, directory, next, onDay);
    } finally {
      // If this writer has failed, the other one must not begin more files.
      queue.length = 0;
      connection.closeSync();
    }
  };
  try {
    const connection = await instance.connect();
    await connection.run(DRAW_MACROS);
    connection.closeSync();
    for (const writer of await Promise.allSettled(Array.from({ length: AT_ONCE }, write)))
      if (writer.status === 'rejected') throw writer.reason;
  } finally {
    instance.closeSync();
  }
}

/**
 * Writes the files of a batch. Each day gets a file, and a second one if it has late records. Each but the last day
 * gets the marker of a complete day.
 */
async function writeBatch(
  connection: DuckDBConnection,
  directory: string,
  { table, days, rows }: Batch,
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
    if (!isOpenDay(day)) await writeFile(join(path, SUCCESS_MARKER), '');
    onDay();
  }
}
