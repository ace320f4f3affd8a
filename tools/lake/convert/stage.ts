import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { escapeGlob } from '../../../lake-check/read-footers.ts';
import { measureColumns } from '../../../lake-check/report-columns.ts';
import { type Report, reports } from '../../../lib/report/catalogue.ts';
import { quoteName, quoteText } from '../../../lib/report/quote-sql.ts';
import { PARTITION_COLUMN, type Table, TIME_COLUMN, tables } from '../../../lib/report/tables.ts';
import { counted } from '../../../lib/terminal/counted.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import { parquetReader } from '../input/input-files.ts';
import { type InputPlan, RECORD, recordsOf } from '../input/plan-input.ts';
import { readAll } from '../input/read-input.ts';
import { tellChanges } from '../values/exact-value.ts';
import type { Workspace } from '../workspace/open-duckdb.ts';
import type { ConversionProgress } from './conversion-progress.ts';
import { refusal } from './refusal.ts';

/**
 * Files that one query reads together. Each query writes its own files for each day, so fewer queries make fewer files.
 * Many small files would cost memory when a day is read.
 */
export interface Batch {
  /** The plan by which one query reads all these files. */
  readonly plan: InputPlan;
  readonly plans: readonly InputPlan[];
  readonly bytes: number;
}

/** The most files that one query reads, because DuckDB keeps the footer of each file in memory. */
const MOST_FILES = 500;

/** Puts Parquet files with equal columns together. Every other file is a batch of its own. */
export function batchesOf(plans: readonly InputPlan[]): Batch[] {
  const alike = Map.groupBy(plans, ({ table, file }) =>
    file.parquet === undefined ? file : JSON.stringify([table.name, file.columns]),
  );
  return [...alike.values()].flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / MOST_FILES) }, (_, nth) =>
      batchOf(group.slice(nth * MOST_FILES, (nth + 1) * MOST_FILES)),
    ),
  );
}

function batchOf(plans: readonly InputPlan[]): Batch {
  const [first] = plans as readonly [InputPlan];
  const paths = plans.flatMap(({ file }) => file.parquet ?? []);
  const file = paths.length > 1 ? { ...first.file, reader: parquetReader(paths) } : first.file;
  const bytes = plans.reduce((sum, plan) => sum + plan.file.bytes, 0);
  return { plan: { ...first, file }, plans, bytes };
}

/**
 * An extra column of the staged files. It is true if a check of the record has failed, for example because a value was
 * lost or is not allowed.
 */
const LOST = 'is lost';

/** Rows in a row group of a staged file. They are few, because each day has a writer with its own buffer. */
const STAGED_ROWS = 20_480;

interface StagedDay {
  readonly day: string;
  readonly rows: number;
}

/** One table's staged records: Parquet files by day, in the workspace. */
export interface Staged {
  readonly table: Table;
  readonly report: Report;
  readonly days: readonly StagedDay[];
  readonly rows: number;
  /** Exact totals of the measures, by column. */
  readonly sums: readonly (readonly [column: string, total: string])[];
}

/** SQL for a file's records with their day and the LOST column. It reads and checks the records in one pass. */
function stagingSelect(plan: InputPlan): string {
  const conditions = plan.checks
    .filter(({ reasons }) => reasons.length > 0)
    .map(({ isLost }) => `(${isLost})`);
  return `SELECT ${RECORD}.*, coalesce(${conditions.join(' OR ') || 'false'}, false) AS ${quoteName(LOST)},
      strftime(${RECORD}.${quoteName(TIME_COLUMN)}, '%Y-%m-%d') AS ${PARTITION_COLUMN}
    FROM ${recordsOf(plan)}`;
}

const stagingOf = ({ directory }: Workspace, { name }: Table): string => join(directory, 'staged', name);

const dayStaging = (workspace: Workspace, table: Table, day: string): string =>
  join(stagingOf(workspace, table), `${PARTITION_COLUMN}=${day}`);

/** SQL that reads the staged records of a day. */
export const stagedSource = (workspace: Workspace, table: Table, day: string): string =>
  `read_parquet(${quoteText(join(escapeGlob(dayStaging(workspace, table, day)), '*.parquet'))}, hive_partitioning = false)`;

export const removeStaged = (workspace: Workspace, table: Table, day: string): Promise<void> =>
  rm(dayStaging(workspace, table, day), { recursive: true, force: true });

/** Writes the files' records into the workspace, by the day of their time. */
async function stageFiles(
  workspace: Workspace,
  batches: readonly Batch[],
  progress: ConversionProgress,
): Promise<void> {
  const all = batches.reduce((sum, { bytes }) => sum + bytes, 0) || 1;
  let before = 0;
  for (const [index, { plan, bytes }] of batches.entries()) {
    const directory = stagingOf(workspace, plan.table);
    await mkdir(directory, { recursive: true });
    progress.readFrom(before / all, bytes / all);
    await workspace.connection.run(
      `COPY (${stagingSelect(plan)}) TO ${quoteText(directory)}
       (FORMAT parquet, PARTITION_BY (${PARTITION_COLUMN}), APPEND, FILENAME_PATTERN 'of-${index}-{uuid}', ROW_GROUP_SIZE ${STAGED_ROWS})`,
    );
    before += bytes;
  }
}

/** All files of the batches in which a record has failed a check. */
async function filesWithFailedChecks(
  workspace: Workspace,
  batches: readonly Batch[],
): Promise<ReadonlySet<InputPlan>> {
  const found: InputPlan[] = [];
  for (const table of await stagedTables(workspace)) {
    const reader = await workspace.connection.runAndReadAll(
      `SELECT DISTINCT regexp_extract(filename, 'of-(\\d+)-[^/\\\\]*$', 1)
       FROM read_parquet(${filesOf(workspace, table)}, filename = true, hive_partitioning = false) WHERE ${quoteName(LOST)}`,
    );
    for (const [index] of reader.getRowsJS()) found.push(...(batches[Number(index)]?.plans ?? []));
  }
  return new Set(found);
}

/** Sums up the staged records of each table. */
async function sumUp(workspace: Workspace): Promise<Staged[]> {
  const staged: Staged[] = [];
  for (const table of await stagedTables(workspace))
    staged.push(await sumUpTable(workspace, table, reports[tables.indexOf(table)] as Report));
  return staged;
}

/** The tables that have staged records. */
async function stagedTables(workspace: Workspace): Promise<Table[]> {
  const folders = await Promise.all(
    tables.map((table) => readdir(stagingOf(workspace, table)).catch((): string[] => [])),
  );
  return tables.filter((_, index) => folders[index]?.length);
}

const filesOf = (workspace: Workspace, table: Table): string =>
  quoteText(join(escapeGlob(stagingOf(workspace, table)), '*', '*.parquet'));

async function sumUpTable(workspace: Workspace, table: Table, report: Report): Promise<Staged> {
  const measures = measureColumns(report);
  const sums = measures.map((name) => `CAST(coalesce(sum(${quoteName(name)}), 0) AS VARCHAR)`);
  const reader = await workspace.connection.runAndReadAll(
    `SELECT ${PARTITION_COLUMN}, count(*), ${sums.join(', ')}
     FROM read_parquet(${filesOf(workspace, table)}, hive_partitioning = true, hive_types = {${quoteText(PARTITION_COLUMN)}: VARCHAR})
     GROUP BY GROUPING SETS ((${PARTITION_COLUMN}), ()) ORDER BY grouping(${PARTITION_COLUMN}) DESC, 1`,
  );
  const [[, rows, ...totals] = [], ...days] = reader.getRowsJS() as unknown[][];
  return {
    table,
    report,
    rows: Number(rows),
    days: days.map(([day, count]) => ({ day: String(day), rows: Number(count) })),
    sums: measures.map((name, index) => [name, String(totals[index])] as const),
  };
}

/** Throws an OperatorFault if DuckDB has read other numbers of records than the files hold. */
export function refuseOtherCounts(
  staged: readonly Pick<Staged, 'table' | 'rows'>[],
  plans: readonly InputPlan[],
): void {
  for (const [table, alike] of Map.groupBy(plans, (plan) => plan.table)) {
    const held = alike.reduce((sum, { file }) => sum + file.rows, 0);
    const rows = staged.find((one) => one.table === table)?.rows ?? 0;
    if (rows !== held)
      throw new OperatorFault(
        `Nothing was written: the files of ${table.name} hold ${counted(held, 'record')}, and DuckDB reads ${rows}. If a file has changed meanwhile, run the same command again. Else write the files as Parquet.`,
      );
  }
}

/**
 * Reads the files into the workspace, by day, and finds the values that the conversion changes. The files of a batch
 * are read a second time if one of their records has failed a check. A file is also read a second time if one of its
 * columns needs a tally. If a file can't be converted, all files are read again, and an OperatorFault lists every
 * reason.
 */
export async function stageAll(
  workspace: Workspace,
  plans: readonly InputPlan[],
  progress: ConversionProgress,
): Promise<{ readonly staged: readonly Staged[]; readonly changes: readonly string[] }> {
  const { connection } = workspace;
  const batches = batchesOf(plans);
  const refuseLosses = async () => {
    const { losses } = await readAll(connection, plans);
    if (losses.length > 0) throw refusal(losses);
  };
  try {
    await stageFiles(workspace, batches, progress);
  } catch (error) {
    // If a file can't be read whole, the faults of all files are listed together.
    await refuseLosses();
    throw error;
  }
  const toRead = await filesWithFailedChecks(workspace, batches);
  const read = await readAll(
    connection,
    plans
      .filter((plan) => toRead.has(plan) || plan.tallies.length > 0)
      .map((plan) =>
        // Without a failed check, the file is read only for its tallies, which count over whole columns.
        toRead.has(plan) ? plan : { ...plan, checks: [] },
      ),
  );
  if (read.losses.length > 0) await refuseLosses();
  const staged = await sumUp(workspace);
  refuseOtherCounts(staged, plans);
  return { staged, changes: tellChanges(read.changes) };
}
