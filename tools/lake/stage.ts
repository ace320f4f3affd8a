import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Report, reports } from '../../lib/report/catalogue.ts';
import { quoteName, quoteText } from '../../lib/report/quote-sql.ts';
import { PARTITION_COLUMN, type Table, TIME_COLUMN, tables } from '../../lib/report/tables.ts';
import { measureColumns } from '../../local/lake/report-columns.ts';
import type { ConversionProgress } from './conversion-progress.ts';
import type { Workspace } from './open-duckdb.ts';
import { type InputPlan, RECORD } from './plan-input.ts';

/** Beside the table's columns: whether the record lost anything. */
const LOST = 'is lost';

/** Rows in a row group of a staged file: as many as a writer for each day at once leaves room for. */
const STAGED_ROWS = 20_480;

export interface StagedDay {
  readonly day: string;
  readonly rows: number;
}

/** One table's records on their way: Parquet by day, in the workspace. */
export interface Staged {
  readonly table: Table;
  readonly report: Report;
  readonly days: readonly StagedDay[];
  readonly rows: number;
  /** Exact totals of the measures, by column. */
  readonly sums: readonly (readonly [column: string, total: string])[];
}

/** SQL for a file's records, each with its day and with whether it lost anything: all in one reading. */
export function stagingSelect({ file, values, checks }: InputPlan): string {
  const anyOf = (conditions: readonly string[]) =>
    `coalesce(${conditions.map((condition) => `(${condition})`).join(' OR ') || 'false'}, false)`;
  const isOfRecord = (condition: string) => condition.includes(RECORD);
  const conditions = checks.map(({ isLost }) => isLost).filter((isLost) => isLost !== 'false');
  const inner = [
    ...values.map(({ name, value }) => `${value} AS ${quoteName(name)}`),
    // In the same SELECT as the values, so that DuckDB computes once what both need.
    `${anyOf(conditions.filter((condition) => !isOfRecord(condition)))} AS ${quoteName(LOST)}`,
  ];
  const lost = anyOf([quoteName(LOST), ...conditions.filter(isOfRecord)]);
  return `SELECT * REPLACE (${lost} AS ${quoteName(LOST)}), strftime(${quoteName(TIME_COLUMN)}, '%Y-%m-%d') AS ${PARTITION_COLUMN}
    FROM (SELECT ${inner.join(', ')} FROM ${file.reader}) AS ${RECORD}`;
}

const stagingOf = ({ directory }: Workspace, { name }: Table): string => join(directory, 'staged', name);

const dayStaging = (workspace: Workspace, table: Table, day: string): string =>
  join(stagingOf(workspace, table), `${PARTITION_COLUMN}=${day}`);

/** SQL that reads the staged records of a day. */
export const stagedSource = (workspace: Workspace, table: Table, day: string): string =>
  `read_parquet(${quoteText(join(dayStaging(workspace, table, day), '*.parquet'))}, hive_partitioning = false)`;

export const removeStaged = (workspace: Workspace, table: Table, day: string): Promise<void> =>
  rm(dayStaging(workspace, table, day), { recursive: true, force: true });

/**
 * Writes the files' records into the workspace, by the day of their time. Resolves to undefined where any record lost
 * something.
 */
export async function stage(
  workspace: Workspace,
  plans: readonly InputPlan[],
  progress: ConversionProgress,
): Promise<Staged[] | undefined> {
  let bytes = 0;
  for (const plan of plans) {
    const directory = stagingOf(workspace, plan.table);
    await mkdir(directory, { recursive: true });
    progress.readFrom(bytes, plan.file.bytes);
    await workspace.connection.run(
      `COPY (${stagingSelect(plan)})
       TO ${quoteText(directory)} (FORMAT parquet, PARTITION_BY (${PARTITION_COLUMN}), APPEND, ROW_GROUP_SIZE ${STAGED_ROWS})`,
    );
    bytes += plan.file.bytes;
  }
  const staged: Staged[] = [];
  for (const [index, table] of tables.entries()) {
    const folders = await readdir(stagingOf(workspace, table)).catch((): string[] => []);
    // None of the files has a record of it.
    if (folders.length === 0) continue;
    const found = await sumUp(workspace, table, reports[index] as Report);
    if (!found) return undefined;
    staged.push(found);
  }
  return staged;
}

/** What is staged of a table. */
async function sumUp(workspace: Workspace, table: Table, report: Report): Promise<Staged | undefined> {
  const measures = measureColumns(report);
  const sums = measures.map((name) => `CAST(coalesce(sum(${quoteName(name)}), 0) AS VARCHAR)`);
  const reader = await workspace.connection.runAndReadAll(
    `SELECT ${PARTITION_COLUMN}, coalesce(bool_or(${quoteName(LOST)}), false), count(*), ${sums.join(', ')}
     FROM read_parquet(${quoteText(join(stagingOf(workspace, table), '*', '*.parquet'))},
       hive_partitioning = true, hive_types = {${quoteText(PARTITION_COLUMN)}: VARCHAR})
     GROUP BY GROUPING SETS ((${PARTITION_COLUMN}), ()) ORDER BY grouping(${PARTITION_COLUMN}) DESC, 1`,
  );
  const [[, isLost, rows, ...totals] = [], ...days] = reader.getRowsJS() as unknown[][];
  if (isLost) return undefined;
  return {
    table,
    report,
    rows: Number(rows),
    days: days.map(([day, , count]) => ({ day: String(day), rows: Number(count) })),
    sums: measures.map((name, index) => [name, String(totals[index])] as const),
  };
}
