import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { dayCopy, daySelect, writeDay } from '../day-file.ts';
import type { LakeTarget } from '../store/lake-target.ts';
import type { Workspace } from '../workspace/open-duckdb.ts';
import type { ConversionProgress } from './conversion-progress.ts';
import { conversionFault } from './refusal.ts';
import { removeStaged, type Staged, stagedSource } from './stage.ts';

interface WriteOptions {
  readonly to: string;
  readonly hourly: boolean;
  /** Whether a day gets no `_SUCCESS` marker. */
  readonly isOpen: (day: string) => boolean;
}

/**
 * Writes the staged days into the lake, one after the other. Resolves to the number of written records of each table.
 * A fault says how many days were written before it.
 */
export async function writeDays(
  workspace: Workspace,
  staged: readonly Staged[],
  target: LakeTarget,
  { to, hourly, isOpen }: WriteOptions,
  progress: ConversionProgress,
): Promise<number[]> {
  const { connection } = workspace;
  const directory = join(workspace.directory, 'day');
  const allRows = staged.reduce((sum, { rows }) => sum + rows, 0);
  const allDays = staged.reduce((sum, { days }) => sum + days.length, 0);
  let [rowsDone, daysDone] = [0, 0];
  const written: number[] = [];
  for (const { table, report, days } of staged) {
    let rowsOfTable = 0;
    for (const { day, rows } of days) {
      progress.writeFrom(rowsDone / allRows, rows / allRows);
      try {
        const select = daySelect(table, report, stagedSource(workspace, table, day), hourly);
        const sql = dayCopy(select, rows, directory);
        const { files, records } = await writeDay(connection, sql, directory, `${table.name} of ${day}`);
        rowsOfTable += records;
        await target.replaceDay({ table: table.name, day, files, marker: isOpen(day) ? undefined : '' });
        await rm(directory, { recursive: true, force: true });
        await removeStaged(workspace, table, day);
      } catch (error) {
        throw conversionFault(error as Error, { to, daysWritten: daysDone, days: allDays });
      }
      rowsDone += rows;
      daysDone += 1;
    }
    written.push(rowsOfTable);
  }
  return written;
}
