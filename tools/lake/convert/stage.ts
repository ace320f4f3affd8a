import { randomUUID } from 'node:crypto';
import { glob, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { escapeGlob } from '../../../lake-check/read-footers.ts';
import { measureColumns } from '../../../lake-check/report-columns.ts';
import { type Report, reports } from '../../../lib/report/catalogue.ts';
import { quoteName, quoteText } from '../../../lib/report/quote-sql.ts';
import { PARTITION_COLUMN, type Table, TIME_COLUMN, tables } from '../../../lib/report/tables.ts';
import { counted } from '../../../lib/terminal/counted.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import { csvFault } from '../input/csv-file.ts';
import type { InputFile } from '../input/input-files.ts';
import { type InputPlan, RECORD, recordsOf } from '../input/plan-input.ts';
import type { Workspace } from '../open-duckdb.ts';
import type { ConversionProgress } from './conversion-progress.ts';
import { noteColumns, readNotes, tellChanges } from './read-notes.ts';
import { isOfMachine } from './refusal.ts';

/** The most files that one query reads, because DuckDB keeps the footer of each file in memory. */
const MOST_FILES = 500;

/**
 * The files of a plan, as queries read them together. Each query writes its own files for each day, and many small files
 * cost memory when a day is read. So Parquet files are read together, but each CSV file by itself.
 */
export function batchesOf({ files }: Pick<InputPlan, 'files'>): InputFile[][] {
  const most = files[0]?.read.call === 'read_csv' ? 1 : MOST_FILES;
  return Array.from({ length: Math.ceil(files.length / most) }, (_, nth) =>
    files.slice(nth * most, (nth + 1) * most),
  );
}

/** Rows in a row group of a staged file. They are few, because each day has a writer with its own buffer. */
const STAGED_ROWS = 20_480;

/** One table's staged records, which are Parquet files by day in the workspace. */
export type Staged = Awaited<ReturnType<typeof sumUp>>;

const stagingOf = ({ directory }: Workspace, { name }: Table): string => join(directory, 'staged', name);

/** SQL that reads the staged records of a day, or of all days if `day` is `*`. */
export const stagedSource = (workspace: Workspace, table: Table, day: string): string =>
  `read_parquet(${quoteText(join(escapeGlob(stagingOf(workspace, table)), `${PARTITION_COLUMN}=${day}`, '*.parquet'))}, hive_partitioning = true, hive_types = {${quoteText(PARTITION_COLUMN)}: VARCHAR})`;

export const removeStaged = (workspace: Workspace, table: Table, day: string): Promise<void> =>
  rm(join(stagingOf(workspace, table), `${PARTITION_COLUMN}=${day}`), { recursive: true, force: true });

/** Writes the files' records into the workspace, by the day of their time. Resolves to why files can't be read whole. */
async function stageFiles(
  workspace: Workspace,
  plan: InputPlan,
  files: readonly InputFile[],
): Promise<string[]> {
  // A cast to text by way of the date, since strftime fails for years that have no nanoseconds.
  const day = `CAST(CAST(${RECORD}.${quoteName(TIME_COLUMN)} AS DATE) AS VARCHAR)`;
  const staging = stagingOf(workspace, plan.table);
  // The files of a query that fails are not whole.
  const query = `${randomUUID()}-`;
  try {
    await workspace.connection.run(
      `COPY (SELECT ${RECORD}.*, ${noteColumns(plan)}, ${day} AS ${PARTITION_COLUMN} FROM ${recordsOf(plan, files)})
       TO ${quoteText(staging)}
       (FORMAT parquet, PARTITION_BY (${PARTITION_COLUMN}), APPEND, FILENAME_PATTERN '${query}{uuid}', ROW_GROUP_SIZE ${STAGED_ROWS})`,
    );
    return [];
  } catch (error) {
    const { message } = error as Error;
    if (isOfMachine(message)) throw error;
    for await (const path of glob(`*/${query}*`, { cwd: staging })) await rm(join(staging, path));
    const [file, ...others] = files;
    if (file && others.length === 0) return [`${file.name}: it can't be read whole: ${csvFault(message)}`];
    const faults: string[] = [];
    for (const one of files) faults.push(...(await stageFiles(workspace, plan, [one])));
    return faults;
  }
}

/** Sums up the staged records of a table. The sums are the exact totals of the measures, by column. */
async function sumUp(workspace: Workspace, table: Table) {
  const report = reports[tables.indexOf(table)] as Report;
  const measures = measureColumns(report);
  const sums = measures.map((name) => `CAST(coalesce(sum(${quoteName(name)}), 0) AS VARCHAR)`);
  const reader = await workspace.connection.runAndReadAll(
    `SELECT ${PARTITION_COLUMN}, count(*), ${sums.join(', ')} FROM ${stagedSource(workspace, table, '*')}
     GROUP BY GROUPING SETS ((${PARTITION_COLUMN}), ()) ORDER BY grouping(${PARTITION_COLUMN}) DESC, 1`,
  );
  const [[, rows, ...totals] = [], ...days] = reader.getRowsJS() as unknown[][];
  return {
    ...{ table, report, rows: Number(rows) },
    days: days.map(([day, count]) => ({ day: String(day), rows: Number(count) })),
    sums: measures.map((name, index) => [name, String(totals[index])] as const),
  };
}

/** Throws an OperatorFault if DuckDB has read other numbers of records than the files hold. */
export function refuseOtherCounts(
  staged: readonly Pick<Staged, 'table' | 'rows'>[],
  plans: readonly Pick<InputPlan, 'table' | 'files'>[],
): void {
  for (const [table, alike] of Map.groupBy(plans, (plan) => plan.table)) {
    const held = alike.flatMap(({ files }) => files).reduce((sum, { rows }) => sum + rows, 0);
    const rows = staged.find((one) => one.table === table)?.rows ?? 0;
    if (rows !== held)
      throw new OperatorFault(
        `Nothing was written: the files of ${table.name} hold ${counted(held, 'record')}, and DuckDB reads ${rows}. If a file has changed meanwhile, run the same command again. Else write the files as Parquet.`,
      );
  }
}

/**
 * Reads the files into the workspace, by day, in one pass. Lists why values or whole files can't be converted, and the
 * values that the conversion changes.
 */
export async function stageAll(
  workspace: Workspace,
  plans: readonly InputPlan[],
  progress: Pick<ConversionProgress, 'readFrom'>,
) {
  const sizeOf = (files: readonly InputFile[]) => files.reduce((sum, { bytes }) => sum + bytes, 0);
  const all = sizeOf(plans.flatMap(({ files }) => files)) || 1;
  let before = 0;
  const losses: string[] = [];
  for (const plan of plans) {
    await mkdir(stagingOf(workspace, plan.table), { recursive: true });
    for (const files of batchesOf(plan)) {
      progress.readFrom(before / all, sizeOf(files) / all);
      losses.push(...(await stageFiles(workspace, plan, files)));
      before += sizeOf(files);
    }
  }
  const staged: Staged[] = [];
  const changes = [];
  for (const table of tables) {
    const days = await readdir(stagingOf(workspace, table)).catch((): string[] => []);
    if (days.length === 0) continue;
    const own = plans.filter((plan) => plan.table === table);
    const told = await readNotes(workspace.connection, stagedSource(workspace, table, '*'), own);
    losses.push(...told.losses);
    changes.push(...told.changes);
    if (losses.length === 0) staged.push(await sumUp(workspace, table));
  }
  return { staged, losses, changes: tellChanges(changes) };
}
