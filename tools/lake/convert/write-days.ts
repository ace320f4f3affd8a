import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { escapeGlob } from '../../../lake-check/read-footers.ts';
import { quoteText } from '../../../lib/report/quote-sql.ts';
import { dayCopy, daySelect, writeDay } from '../day-file.ts';
import type { LakeTarget } from '../store/lake-target.ts';
import type { Workspace } from '../workspace/open-duckdb.ts';
import type { ConversionProgress } from './conversion-progress.ts';
import { conversionFault } from './refusal.ts';
import { removeStaged, type Staged, stagedSource } from './stage.ts';

interface WriteOptions {
  readonly to: string;
  readonly hourly: boolean;
  /** The text of a day's `_SUCCESS` marker. Undefined leaves the day open. */
  readonly markerOf: (day: string) => string | undefined;
}

/** SQL that writes a staged day into a directory. */
const dayCopyOf = (
  workspace: Workspace,
  { table, report }: Staged,
  { day, rows }: Staged['days'][number],
  hourly: boolean,
): string =>
  dayCopy(
    daySelect(table, report, stagedSource(workspace, table, day), hourly),
    rows,
    join(workspace.directory, 'day'),
  );

/**
 * Writes the staged days into the lake, one after the other. Resolves to the number of written records of each table.
 * A fault says how many days were written before it.
 */
export async function writeDays(
  workspace: Workspace,
  staged: readonly Staged[],
  target: LakeTarget,
  { to, hourly, markerOf }: WriteOptions,
  progress: ConversionProgress,
): Promise<number[]> {
  const directory = join(workspace.directory, 'day');
  const allRows = staged.reduce((sum, { rows }) => sum + rows, 0);
  const allDays = staged.reduce((sum, { days }) => sum + days.length, 0);
  let rowsDone = 0;
  let daysDone = 0;
  const written: number[] = [];
  for (const one of staged) {
    let rows = 0;
    for (const day of one.days) {
      progress.writeFrom(rowsDone / allRows, day.rows / allRows);
      const marker = markerOf(day.day);
      const name = one.table.name;
      try {
        const sql = dayCopyOf(workspace, one, day, hourly);
        const files = await writeDay(workspace.connection, sql, directory, `${name} of ${day.day}`);
        rows += hourly ? await rowsOf(workspace, directory) : day.rows;
        await target.replaceDay({
          ...{ table: name, day: day.day, files },
          ...(marker !== undefined && { marker }),
        });
        await rm(directory, { recursive: true, force: true });
        await removeStaged(workspace, one.table, day.day);
      } catch (error) {
        throw conversionFault(error as Error, { to, daysWritten: daysDone, days: allDays });
      }
      rowsDone += day.rows;
      daysDone += 1;
    }
    written.push(rows);
  }
  return written;
}

/** The records in the files of a directory, by their footers. */
async function rowsOf({ connection }: Workspace, directory: string): Promise<number> {
  const reader = await connection.runAndReadAll(
    `SELECT count(*) FROM read_parquet(${quoteText(join(escapeGlob(directory), '*.parquet'))})`,
  );
  return Number(reader.getRowsJS()[0]?.[0] ?? 0);
}
