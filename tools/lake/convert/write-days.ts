import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import { dayCopy, daySelect, writeDay } from '../day-file.ts';
import type { Workspace } from '../open-duckdb.ts';
import { daysIn, type LakeTarget } from '../store/lake-target.ts';
import type { ConversionProgress } from './conversion-progress.ts';
import type { WrittenTable } from './outcome.ts';
import { conversionFault } from './refusal.ts';
import { removeStaged, type Staged, stagedSource } from './stage.ts';

const SHOWN = 5;

/** Throws an OperatorFault if a day that is to be written holds files already, unless `replace` is set. */
export async function refuseWrittenDays(
  target: LakeTarget,
  staged: readonly Staged[],
  { replace, to }: { readonly replace: boolean; readonly to: string },
): Promise<void> {
  const written: string[] = [];
  for (const { table, days } of staged) {
    const there = daysIn(await target.list(table.name), table.name).filter(({ files }) => files.length > 0);
    const names = new Set(there.map(({ day }) => day));
    written.push(...days.filter(({ day }) => names.has(day)).map(({ day }) => `${table.name} ${day}`));
  }
  if (written.length === 0 || replace) return;
  const more = written.length > SHOWN ? ` and ${written.length - SHOWN} more` : '';
  throw new OperatorFault(
    `Nothing was written: ${to} holds files of these days: ${written.slice(0, SHOWN).join(', ')}${more}. ` +
      'Say --replace if the converted files hold all that the days should hold.',
  );
}

/**
 * Writes the staged days into the lake, one after the other. Resolves to what was written of each table. A fault says
 * how many days were written before it. An open day gets no `_SUCCESS` marker.
 */
export async function writeDays(
  workspace: Workspace,
  staged: readonly Staged[],
  target: LakeTarget,
  { to, hourly, isOpen }: { to: string; hourly: boolean; isOpen: (day: string) => boolean },
  progress: ConversionProgress,
): Promise<WrittenTable[]> {
  const { connection } = workspace;
  const directory = join(workspace.directory, 'day');
  const allRows = staged.reduce((sum, { rows }) => sum + rows, 0);
  const allDays = staged.reduce((sum, { days }) => sum + days.length, 0);
  let [rowsDone, daysDone] = [0, 0];
  const written: WrittenTable[] = [];
  for (const one of staged) {
    const { table, report, days } = one;
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
    written.push({ staged: one, rows: rowsOfTable, openDays: days.filter(({ day }) => isOpen(day)).length });
  }
  return written;
}
