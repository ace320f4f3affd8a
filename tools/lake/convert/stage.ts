import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { measureColumns } from '../../../lake-check/report-columns.ts';
import { type Report, reports } from '../../../lib/report/catalogue.ts';
import { quoteName, quoteText } from '../../../lib/report/quote-sql.ts';
import { PARTITION_COLUMN, type Table, TIME_COLUMN, tables } from '../../../lib/report/tables.ts';
import { type InputPlan, preparedOf, RECORD } from '../input/plan-input.ts';
import type { Workspace } from '../workspace/open-duckdb.ts';
import type { Batch } from './batches.ts';
import type { ConversionProgress } from './conversion-progress.ts';

/**
 * An extra column of the staged files. It is true if a check of the record has failed, for example because a value was
 * lost or is not allowed.
 */
const LOST = 'is lost';

/** Rows in a row group of a staged file. They are few, because each day has a writer with its own buffer. */
const STAGED_ROWS = 20_480;

export interface StagedDay {
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
  const record = plan.values.map(({ name, value }) => `${quoteName(name)}: ${value}`);
  return `SELECT ${RECORD}.*, coalesce(${conditions.join(' OR ') || 'false'}, false) AS ${quoteName(LOST)},
      strftime(${RECORD}.${quoteName(TIME_COLUMN)}, '%Y-%m-%d') AS ${PARTITION_COLUMN}
    FROM (SELECT *, {${record.join(', ')}} AS ${RECORD} FROM ${preparedOf(plan)})`;
}

const stagingOf = ({ directory }: Workspace, { name }: Table): string => join(directory, 'staged', name);

const dayStaging = (workspace: Workspace, table: Table, day: string): string =>
  join(stagingOf(workspace, table), `${PARTITION_COLUMN}=${day}`);

/** SQL that reads the staged records of a day. */
export const stagedSource = (workspace: Workspace, table: Table, day: string): string =>
  `read_parquet(${quoteText(join(dayStaging(workspace, table, day), '*.parquet'))}, hive_partitioning = false)`;

export const removeStaged = (workspace: Workspace, table: Table, day: string): Promise<void> =>
  rm(dayStaging(workspace, table, day), { recursive: true, force: true });

/** Writes the files' records into the workspace, by the day of their time. */
export async function stageFiles(
  workspace: Workspace,
  batches: readonly Batch[],
  progress: ConversionProgress,
): Promise<void> {
  let before = 0;
  for (const [index, { plan, bytes }] of batches.entries()) {
    const directory = stagingOf(workspace, plan.table);
    await mkdir(directory, { recursive: true });
    progress.readFrom(before, bytes);
    await workspace.connection.run(
      `COPY (${stagingSelect(plan)}) TO ${quoteText(directory)}
       (FORMAT parquet, PARTITION_BY (${PARTITION_COLUMN}), APPEND, FILENAME_PATTERN 'of-${index}-{uuid}', ROW_GROUP_SIZE ${STAGED_ROWS})`,
    );
    before += bytes;
  }
}

/** All files of the batches in which a record has failed a check. */
export async function filesWithFailedChecks(
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
export async function sumUp(workspace: Workspace): Promise<Staged[]> {
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
  quoteText(join(stagingOf(workspace, table), '*', '*.parquet'));

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
