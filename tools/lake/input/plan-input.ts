import { cureOf } from '../../../lake-check/column-types.ts';
import { pathList } from '../../../lake-check/read-footers.ts';
import { countColumns, levelColumns, measureColumns } from '../../../lake-check/report-columns.ts';
import { bare, similarName } from '../../../lake-check/rules/column-rules.ts';
import { type Report, reports } from '../../../lib/report/catalogue.ts';
import { quoteName, quoteText } from '../../../lib/report/quote-sql.ts';
import { type Table, TIME_COLUMN, tables } from '../../../lib/report/tables.ts';
import { counted } from '../../../lib/terminal/counted.ts';
import { convertValue, type ValueOptions } from '../values/convert-value.ts';
import type { ExactInstant } from '../values/exact-instant.ts';
import type { Note, Step } from '../values/exact-value.ts';
import type { InputFile } from './input-files.ts';

/** What is looked for in each record. */
interface Check {
  /** The column, by its name in the file. */
  readonly column: string;
  /** SQL: whether there is something to say. */
  readonly isNoted: string;
  readonly shown: string;
  readonly notes: readonly Note[];
  readonly added?: string | undefined;
}

/** The name of an extra column beside the file's own: a struct of the contract's columns. The checks read it. */
export const RECORD = '"the record"';

/** The name of an extra column: the path of the record's file. */
export const FILE = 'the file';

/** How files with the same columns become records of a table. */
export interface InputPlan {
  readonly files: readonly InputFile[];
  readonly table: Table;
  /** The file's columns that are read, under names of the plan's own: a file's names could be those of the layers. */
  readonly sources: readonly Step[];
  /** SQL that is computed before `values`, layer by layer: a step may use the steps of earlier layers. */
  readonly layers: readonly (readonly Step[])[];
  /** SQL for each of the contract's columns. It reads the sources and the layers. */
  readonly values: readonly Step[];
  readonly checks: readonly Check[];
  /** How the times are read, and the name of their column in the file. */
  readonly times: Pick<ExactInstant, 'kind' | 'judge'> & { readonly column: string };
  /** Columns that the files don't have: they become NULL. */
  readonly missing: readonly string[];
  /** Columns of the files that are not read. */
  readonly unread: readonly string[];
}

export type PlanOptions = ValueOptions & { readonly table?: string | undefined };

/** Plans how the files become records, without reading them whole, and lists the faults that prevent it. */
export function planFiles(files: readonly InputFile[], options: PlanOptions) {
  // Files with equal columns share the SQL of one plan, because there may be thousands of them.
  const alike = Map.groupBy(files, ({ read, columns }) => JSON.stringify([read.call, columns]));
  const planned = [...alike.values()].map((group) => ({ group, plan: planInput(group, options) }));
  return {
    plans: planned.flatMap(({ plan }) => ('files' in plan ? plan : [])),
    faults: planned.flatMap(({ group, plan }) =>
      'files' in plan ? [] : group.flatMap(({ name }) => plan.map((fault) => `${name}: ${fault}`)),
    ),
  };
}

/** Plans how to convert files with the same columns. If that is impossible, returns the faults. */
function planInput(
  files: readonly InputFile[],
  { table: asked, ...options }: PlanOptions,
): InputPlan | readonly string[] {
  const columns = files[0]?.columns ?? [];
  const names = columns.map(({ name }) => name);
  const named = new Set(names.map(bare));
  const found = tables.map((table) => table.columns.filter(({ name }) => named.has(bare(name))).length);
  const most = Math.max(...found);
  if (most === 0)
    return [
      `it has none of the contract's columns, but ${someOf(names)}. Give its columns the names that docs/data-contract.md lists; a CSV file needs them in its first line`,
    ];
  const index = asked ? tables.findIndex(({ name }) => name === asked) : found.indexOf(most);
  const [table, report] = [tables[index], reports[index]];
  if (!table || !report || (!asked && found.lastIndexOf(most) !== index))
    return [`its columns tell no table. Say --table ${tables.map(({ name }) => name).join(' or ')}`];

  const faults: string[] = [];
  const missing: string[] = [];
  const checks: Check[] = [];
  const layers: Step[][] = [];
  const sources: Step[] = [];
  const read = new Set<string>();
  let times: InputPlan['times'] | undefined;
  const values = table.columns.map((column): Step => {
    const [of, ...others] = columns.filter(({ name }) => bare(name) === bare(column.name));
    if (others.length > 0)
      faults.push(
        `${[of, ...others].map((one) => one?.name).join(' and ')} both could be ${column.name}. Leave one out`,
      );
    if (of === undefined) {
      missing.push(column.name);
      return { name: column.name, sql: `CAST(NULL AS ${column.type})` };
    }
    const cure = cureOf(column.type, of.type, of.name);
    if (cure !== undefined) {
      faults.push(`${of.name} is ${of.type}, of which no ${column.type} can be made. ${cure}`);
      return { name: column.name, sql: 'NULL' };
    }
    read.add(of.name);
    const name = `from ${column.name}`;
    sources.push({ name, sql: of.sql });
    const value = convertValue(column, quoteName(name), of.type, options);
    const isLost = `(${RECORD}.${quoteName(column.name)} IS NULL AND ${value.isThere})`;
    const isNoted = value.isChanged ? `(${isLost} OR ${value.isChanged})` : isLost;
    if (value.notes.length > 0) checks.push({ ...value, column: of.name, isNoted });
    for (const [depth, step] of value.steps.entries()) {
      layers[depth] ??= [];
      layers[depth].push(step);
    }
    if ('kind' in value) times = { ...value, column: of.name };
    return { name: column.name, sql: value.value };
  });
  if (missing.includes(TIME_COLUMN))
    faults.push(`there is no ${TIME_COLUMN}. Give that name to the column with the time`);
  if (faults.length > 0 || !times) return faults;
  const unread = names.filter((name) => !read.has(name));
  checks.push(...recordChecks(report, missing));
  return { files, table, sources, layers, values, checks, times, missing, unread };
}

/** SQL for the files' records: the sources and the steps, with the contract's columns in RECORD, and FILE. */
export function recordsOf({ sources, layers, values }: InputPlan, files: readonly InputFile[]): string {
  const listed = (steps: readonly Step[]) =>
    steps.map(({ name, sql }) => `${sql} AS ${quoteName(name)}`).join(', ');
  const prepared = layers.reduce(
    (source, steps) => `(SELECT *, ${listed(steps)}\nFROM ${source})`,
    `(SELECT ${quoteName(FILE)}, ${listed(sources)} FROM ${readerOf(files)})`,
  );
  const record = values.map(({ name, sql }) => `${quoteName(name)}: ${sql}`);
  return `(SELECT *, {${record.join(', ')}} AS ${RECORD} FROM ${prepared})`;
}

/** SQL that reads files of one format, with the path of each record's file in the column FILE. */
export const readerOf = (files: readonly Pick<InputFile, 'name' | 'path' | 'read'>[]): string => {
  const { call = '', options = '' } = files[0]?.read ?? {};
  const paths = pathList(files.map(({ name, path }) => ({ id: name, path })));
  return `${call}(${paths}, ${options}, hive_partitioning = false, filename = ${quoteText(FILE)})`;
};

const SHOWN = 3;

const someOf = (names: readonly string[]): string =>
  `${names
    .slice(0, SHOWN)
    .map((name) => JSON.stringify(name))
    .join(', ')}${names.length > SHOWN ? ', …' : ''}`;

/** The checks for faults that no conversion can mend, because only the source knows what was meant. */
function recordChecks(report: Report, missing: readonly string[]): Check[] {
  const of = (name: string) => `${RECORD}.${quoteName(name)}`;
  const check = (column: string, isNoted: string, loss: string): Check => ({
    ...{ column, isNoted, shown: of(column), notes: [['true', loss]] },
  });
  const checks = countColumns(report)
    .filter((name) => !missing.includes(name))
    .map((name) =>
      check(name, `${of(name)} < 0`, 'is a count below 0. Restate the records instead of correcting them'),
    );
  const levels = levelColumns(report);
  if (!levels) return checks;
  const { finer, finerCount, coarserCount } = levels;
  return [
    ...checks,
    check(
      coarserCount,
      `${of(finer)} IS NOT NULL AND coalesce(${of(coarserCount)}, 0) <> 0`,
      `is counted on a record with a ${finer}. Write it as a record of its own, without ${finer}, or count it in ${finerCount}`,
    ),
    check(
      finerCount,
      `${of(finer)} IS NULL AND coalesce(${of(finerCount)}, 0) <> 0`,
      `is counted on a record without a ${finer}. Name it, or count in ${coarserCount}`,
    ),
  ];
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
    const [file, ...others] = alike.flatMap(({ files }) => files);
    const named = file && others.length === 0 ? file.name : table.name;
    return (report ? measureColumns(report) : [])
      .filter((name) => !without.includes(name) && alike.every(({ missing }) => missing.includes(name)))
      .map((name) => {
        const similar = similarName(name, unread);
        const rename = similar === undefined ? '' : `There is ${similar}: if that is it, name it ${name}. `;
        return `${named}: no column is ${name}, so that reports would show 0. ${rename}If it has none, say --without ${name}`;
      });
  });

/** Says which columns of the files were not read, and which columns of the contract became NULL. */
export function columnChanges(plans: readonly InputPlan[]): string[] {
  const unread = [...new Set(plans.flatMap((plan) => plan.unread))].map((name) => JSON.stringify(name));
  const all = plans.reduce((sum, { files }) => sum + files.length, 0);
  const lacking = Map.groupBy(plans, ({ missing }) => missing.join(', '));
  lacking.delete('');
  return [
    ...(unread.length > 0 ? [`not read, since the contract has no such column: ${unread.join(', ')}`] : []),
    ...[...lacking].map(([columns, alike]) => {
      const count = alike.reduce((sum, { files }) => sum + files.length, 0);
      const files = all === 1 ? 'the file' : `${count === all ? 'all ' : ''}${counted(count, 'file')}`;
      return `NULL, since ${files} ${count === 1 ? 'has' : 'have'} no such column: ${columns}`;
    }),
  ];
}
