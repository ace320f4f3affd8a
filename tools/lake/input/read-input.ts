import type { DuckDBConnection } from '@duckdb/node-api';
import { measureColumns } from '../../../lake-check/report-columns.ts';
import { similarName } from '../../../lake-check/rules/column-rules.ts';
import { reports } from '../../../lib/report/catalogue.ts';
import { quoteName } from '../../../lib/report/quote-sql.ts';
import { tables } from '../../../lib/report/tables.ts';
import { counted } from '../../../lib/terminal/counted.ts';
import type { Aggregate, ColumnChange } from '../values/exact-value.ts';
import { csvFault } from './csv-file.ts';
import type { InputFile } from './input-files.ts';
import { type Check, type InputPlan, planInput, recordsOf } from './plan-input.ts';

/** What reading files shows. */
interface ReadInput {
  /** The reasons why values can't be converted without loss, one line for each column and reason. */
  readonly losses: readonly string[];
  readonly changes: readonly ColumnChange[];
}

/** Reads a file. If values can't be converted or were read as missing, it reads the file again to find out why. */
export async function readInput(connection: DuckDBConnection, plan: InputPlan): Promise<ReadInput> {
  const checks = plan.checks.filter(({ reasons }) => reasons.length > 0);
  const counted = await aggregate(connection, recordsOf(plan), [
    // DuckDB refuses a SELECT without expressions.
    'NULL',
    ...checks.map(({ isLost }) => `count_if(${isLost})`),
    ...plan.tallies.flatMap(({ aggregates }) => aggregates),
  ]);
  counted.shift();
  const counts = counted.splice(0, checks.length);
  const told = await tellReasons(
    connection,
    plan,
    checks.filter((_, index) => counts[index]),
  );
  const losses = [...told.losses];
  const changes = [...told.changes];
  for (const { column, aggregates, tell } of plan.tallies) {
    const verdict = tell(counted.splice(0, aggregates.length));
    losses.push(...(verdict.losses ?? []).map((loss) => `${plan.file.name}: ${column}: ${loss}`));
    changes.push(...(verdict.changes ?? []).map((change) => ({ ...change, column })));
  }
  return { losses, changes };
}

async function aggregate(
  connection: DuckDBConnection,
  source: string,
  aggregates: readonly string[],
): Promise<Aggregate[]> {
  const reader = await connection
    .runAndReadAll(`SELECT ${aggregates.join(', ')} FROM ${source}`)
    .catch((error: Error) => {
      throw new Error(csvFault(error.message), { cause: error });
    });
  return (reader.getRowsJS()[0] ?? []) as Aggregate[];
}

/** Counts the failed checks by their reason, with an example of each. */
async function tellReasons(
  connection: DuckDBConnection,
  plan: InputPlan,
  checks: readonly Check[],
): Promise<ReadInput> {
  const losses: string[] = [];
  const changes: ColumnChange[] = [];
  if (checks.length === 0) return { losses, changes };
  const kinds = checks.map(({ isLost, reasons }, index) => {
    const cases = reasons.map(({ when }, kind) => `WHEN ${when} THEN ${kind}`).join(' ');
    return `CASE WHEN ${isLost} THEN CASE ${cases} END END AS ${quoteName(`reason ${index}`)}`;
  });
  const all = checks.flatMap((check, index) =>
    check.reasons.map((reason, kind) => ({
      ...check,
      reason,
      isOfKind: `${quoteName(`reason ${index}`)} = ${kind}`,
    })),
  );
  const values = await aggregate(
    connection,
    `(SELECT *, ${kinds.join(', ')} FROM ${recordsOf(plan)})`,
    all.flatMap(({ shown, isOfKind }) => [
      `count_if(${isOfKind})`,
      `min(nullif(CAST(${shown} AS VARCHAR), '')) FILTER (${isOfKind})`,
    ]),
  );
  for (const { column, reason } of all) {
    const [count, shown] = values.splice(0, 2);
    if (!count) continue;
    if ('change' in reason) changes.push({ column, words: reason.change, count: Number(count) });
    else losses.push(`${plan.file.name}: ${column}: ${lossOf(Number(count), shown, reason.loss)}`);
  }
  return { losses, changes };
}

function lossOf(
  count: number,
  shown: Aggregate | undefined,
  loss: string | ((example: string) => string),
): string {
  const example = String(shown ?? '').slice(0, 100);
  const records =
    count === 1
      ? `in 1 record, ${example ? JSON.stringify(example) : 'it'}`
      : `in ${count.toLocaleString('en-US')} records, ${example ? `${JSON.stringify(example)} for example` : 'it'}`;
  return `${records} ${typeof loss === 'string' ? loss : loss(example)}`;
}

/** Plans how each file becomes records, without reading it whole, and lists the faults that prevent it. */
export function planAll(
  files: readonly InputFile[],
  options: Parameters<typeof planInput>[1],
): { readonly plans: readonly InputPlan[]; readonly faults: readonly string[] } {
  // Files with equal columns share the SQL of one plan, because there may be thousands of them.
  const alike = new Map<string, InputPlan>();
  const planned = files.map((file) => {
    const columns = JSON.stringify(file.columns);
    const known = alike.get(columns);
    if (known) return { ...known, file: { ...file, columns: known.file.columns } };
    const plan = planInput(file, options);
    if ('file' in plan) alike.set(columns, plan);
    return plan;
  });
  return {
    plans: planned.filter((plan) => 'file' in plan),
    faults: planned.flatMap((plan) => ('file' in plan ? [] : plan)),
  };
}

/** Reads the files whole. Lists every value that can't be converted, and every change. */
export async function readAll(connection: DuckDBConnection, plans: readonly InputPlan[]): Promise<ReadInput> {
  const losses: string[] = [];
  const changes: ColumnChange[] = [];
  for (const plan of plans) {
    const read = await readInput(connection, plan).catch((error: Error) => ({
      losses: [`${plan.file.name}: it can't be read whole: ${error.message.split('\n', 1)[0]}`],
      changes: [],
    }));
    losses.push(...read.losses);
    changes.push(...read.changes);
  }
  return { losses, changes };
}

/**
 * The faults of metrics that no file has: reports would show 0. An operator who means that says `--without`.
 *
 * @param without the metrics' columns that the files may lack
 */
export const missingMetrics = (plans: readonly InputPlan[], without: readonly string[]): string[] =>
  [...Map.groupBy(plans, ({ table }) => table)].flatMap(([table, alike]) => {
    const report = reports[tables.indexOf(table)];
    const unread = [...new Set(alike.flatMap((plan) => plan.unread))];
    return (report ? measureColumns(report) : [])
      .filter((name) => !without.includes(name) && alike.every(({ missing }) => missing.includes(name)))
      .map((name) => {
        const similar = similarName(name, unread);
        const rename = similar === undefined ? '' : `There is ${similar}: if that is it, name it ${name}. `;
        return `${alike.length === 1 ? alike[0]?.file.name : table.name}: no column is ${name}, so that reports would show 0. ${rename}If it has none, say --without ${name}`;
      });
  });

/** Names the columns that were not read, which the contract does not have. */
export const unreadColumns = (plans: readonly InputPlan[]): string[] => {
  const names = [...new Set(plans.flatMap(({ unread }) => unread))].map((name) => JSON.stringify(name));
  return names.length === 0 ? [] : [`not read, since the contract has no such column: ${names.join(', ')}`];
};

/** Describes which columns become NULL because files lack them. */
export const missingColumns = (plans: readonly InputPlan[]): string[] =>
  [...Map.groupBy(plans, ({ missing }) => missing.join(', '))]
    .filter(([columns]) => columns !== '')
    .map(([columns, { length }]) => {
      const all = length === plans.length && length > 1 ? 'all ' : '';
      const files = plans.length === 1 ? 'the file' : all + counted(length, 'file');
      return `NULL, since ${files} ${length === 1 ? 'has' : 'have'} no such column: ${columns}`;
    });
