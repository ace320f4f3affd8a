import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Report, reports } from '../../lib/report/catalogue.ts';
import { quoteName, quoteText } from '../../lib/report/quote-sql.ts';
import { PARTITION_COLUMN, type Table, TIME_COLUMN, tables } from '../../lib/report/tables.ts';
import { utcDay } from '../../lib/report/utc-time.ts';
import { measureColumns } from '../../local/lake/report-columns.ts';
import type { ValueOptions } from './convert-value.ts';
import { dayCopy, daySelect } from './day-sql.ts';
import { openInputs } from './input-files.ts';
import { LakeFault } from './lake-fault.ts';
import { openWorkspace, type Workspace } from './open-duckdb.ts';
import { lakeTarget } from './open-target.ts';
import { type InputPlan, planInput, selectOf } from './plan-input.ts';
import { showProgress } from './progress.ts';
import { readInput } from './read-input.ts';
import { type ColumnChange, tellChanges } from './tell-changes.ts';
import { writeDay } from './write-day.ts';

export interface ConvertOptions extends ValueOptions {
  readonly inputs: readonly string[];
  readonly to: string;
  readonly hourly: boolean;
  /** Whether days that hold files may be written again. */
  readonly replace: boolean;
  /** Whether days stay open. */
  readonly open: boolean;
  readonly table?: string;
}

/** One table's records on their way: Parquet by day, in the workspace. */
interface Staged {
  readonly table: Table;
  readonly report: Report;
  readonly days: readonly { readonly day: string; readonly rows: number }[];
}

/**
 * Makes days of a lake from files. Throws a LakeFault that lists everything which stands against it, before anything
 * is written. Says the SQL that it runs and what came of it.
 */
export async function convert(options: ConvertOptions, say: (text: string) => void): Promise<void> {
  await using workspace = await openWorkspace();
  const onProgress = showProgress();
  const { plans, changes } = await planAll(workspace, options, onProgress);
  for (const [columns, alike] of Map.groupBy(plans, ({ missing }) => missing.join(', ')))
    if (columns) say(`-- NULL, since ${alike.length} of the files have no such column: ${columns}\n`);
  const staged = await stage(workspace, plans, say, onProgress);
  const target = lakeTarget(options.to);
  await refuseWrittenDays(target, staged, options);

  const total = staged.reduce((sum, { days }) => sum + days.length, 0);
  let done = 0;
  for (const { table, report, days } of staged) {
    for (const [index, { day, rows }] of days.entries()) {
      const directory = join(workspace.directory, 'day');
      const select = daySelect(table, report, sourceOf(workspace, table, day), options.hourly);
      const sql = dayCopy(select, rows, directory);
      if (index === 0) say(`\n-- ${table.name}: each of ${days.length} days, as ${day}\n${sql};\n`);
      const files = await writeDay(workspace.connection, sql, directory, `${table.name} of ${day}`);
      await target.replaceDay({
        table: table.name,
        day,
        files,
        ...(!options.open && day < utcDay(Date.now()) && { marker: '' }),
      });
      await rm(directory, { recursive: true, force: true });
      onProgress('days', ++done, total);
    }
    say(await summaryOf(workspace, table, report, days, options));
  }
  if (changes.length > 0) say(`Changed on the way:\n  ${changes.join('\n  ')}\n`);
}

async function planAll(
  { connection, directory }: Workspace,
  options: ConvertOptions,
  onProgress: (what: string, done: number, total: number) => void,
): Promise<{ readonly plans: readonly InputPlan[]; readonly changes: readonly string[] }> {
  const { files, faults: unread } = await openInputs(connection, options.inputs, join(directory, 'copies'));
  const faults = [...unread];
  const plans: InputPlan[] = [];
  const changes: ColumnChange[] = [];
  for (const [index, file] of files.entries()) {
    const plan = planInput(file, options);
    if ('file' in plan) {
      plans.push(plan);
      const read = await readInput(connection, plan).catch((error: Error) => ({
        losses: [`${file.name}: it can't be read whole: ${error.message.split('\n', 1)[0]}`],
        changes: [],
      }));
      faults.push(...read.losses);
      changes.push(...read.changes);
    } else faults.push(...plan);
    onProgress('files read', index + 1, files.length);
  }
  if (faults.length > 0)
    throw new LakeFault(
      `Nothing was written. ${faults.length === 1 ? 'One thing stands' : `${faults.length} things stand`} against it:\n  ${faults.join('\n  ')}`,
    );
  return { plans, changes: tellChanges(changes) };
}

const stagingOf = ({ directory }: Workspace, { name }: Table): string => join(directory, 'staged', name);

const sourceOf = (workspace: Workspace, table: Table, day: string): string =>
  `read_parquet(${quoteText(join(stagingOf(workspace, table), `${PARTITION_COLUMN}=${day}`, '*.parquet'))}, hive_partitioning = false)`;

/** Writes the records by the day of their time, file by file. */
async function stage(
  workspace: Workspace,
  plans: readonly InputPlan[],
  say: (text: string) => void,
  onProgress: (what: string, done: number, total: number) => void,
): Promise<Staged[]> {
  const said = new Set<string>();
  for (const [index, plan] of plans.entries()) {
    const directory = stagingOf(workspace, plan.table);
    await mkdir(directory, { recursive: true });
    const columns = plan.values.map(({ value }) => value).join();
    if (!said.has(columns)) say(`-- ${plan.file.name} into ${plan.table.name}\n${selectOf(plan)};\n`);
    said.add(columns);
    await workspace.connection.run(
      `COPY (SELECT *, strftime(${quoteName(TIME_COLUMN)}, '%Y-%m-%d') AS ${PARTITION_COLUMN} FROM (${selectOf(plan)}))
       TO ${quoteText(directory)} (FORMAT parquet, PARTITION_BY (${PARTITION_COLUMN}), APPEND)`,
    );
    onProgress('files by day', index + 1, plans.length);
  }
  const staged: Staged[] = [];
  for (const [index, table] of tables.entries()) {
    if (plans.every((plan) => plan.table !== table)) continue;
    const reader = await workspace.connection.runAndReadAll(
      `SELECT regexp_extract(file_name, '${PARTITION_COLUMN}=([0-9-]+)/[^/]*$', 1), sum(num_rows)::BIGINT
       FROM parquet_file_metadata(${quoteText(join(stagingOf(workspace, table), '*', '*.parquet'))}) GROUP BY 1 ORDER BY 1`,
    );
    const days = (reader.getRowsJS() as [string, bigint][]).map(([day, rows]) => ({
      day,
      rows: Number(rows),
    }));
    staged.push({ table, report: reports[index] as Report, days });
  }
  return staged;
}

async function refuseWrittenDays(
  target: ReturnType<typeof lakeTarget>,
  staged: readonly Staged[],
  { replace, to }: ConvertOptions,
): Promise<void> {
  const written: string[] = [];
  for (const { table, days } of staged) {
    const there = await target.writtenDays(table.name);
    written.push(...days.filter(({ day }) => there.has(day)).map(({ day }) => `${table.name} ${day}`));
  }
  if (written.length > 0 && !replace)
    throw new LakeFault(
      `Nothing was written: ${to} holds files of these days: ${written.slice(0, 5).join(', ')}${written.length > 5 ? ` and ${written.length - 5} more` : ''}. ` +
        'Say --replace if the converted files hold all that the days should hold.',
    );
}

/** Exact totals, to be held against the source's own. */
async function summaryOf(
  workspace: Workspace,
  table: Table,
  report: Report,
  days: Staged['days'],
  { to, hourly, open }: ConvertOptions,
): Promise<string> {
  const measures = measureColumns(report);
  const sums = measures.map((name) => `CAST(coalesce(sum(${quoteName(name)}), 0) AS VARCHAR)`);
  const reader = await workspace.connection.runAndReadAll(
    `SELECT count(*), ${sums.join(', ')} FROM ${sourceOf(workspace, table, '*')}`,
  );
  const [rows, ...totals] = (reader.getRowsJS()[0] ?? []) as [bigint, ...string[]];
  const first = days[0]?.day;
  const last = days.at(-1)?.day;
  const states = open ? 'all open' : 'final but for today';
  return [
    `\n${table.name}: ${Number(rows ?? 0).toLocaleString('en-US')} records${hourly ? ' summed by the hour' : ''}, ${first} to ${last}, ${days.length} days (${states}), in ${to}`,
    ...measures.map((name, index) => `  ${name.padEnd(20)} ${totals[index]}`),
    '',
  ].join('\n');
}
