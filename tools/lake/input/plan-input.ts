import { cureOf } from '../../../lake-check/column-types.ts';
import { countColumns, levelColumns } from '../../../lake-check/report-columns.ts';
import { type Report, reports } from '../../../lib/report/catalogue.ts';
import { quoteName } from '../../../lib/report/quote-sql.ts';
import { type Table, TIME_COLUMN, tables } from '../../../lib/report/tables.ts';
import { convertValue, type ValueOptions } from '../values/convert-value.ts';
import type { Reason, Step, Tally } from '../values/exact-value.ts';
import { bare, type SourceColumn } from './column-names.ts';
import type { InputFile } from './input-files.ts';

/** A condition under which a record can't be converted. */
export interface Check {
  readonly column: string;
  readonly isLost: string;
  /** SQL for the value to show. */
  readonly shown: string;
  /** The possible reasons. The first one that applies counts. A reason may be a reported change instead of a loss. */
  readonly reasons: readonly Reason[];
}

interface ColumnValue {
  readonly name: string;
  readonly value: string;
}

/** The name of an extra column beside the file's own: a struct of the contract's columns. The checks read it. */
export const RECORD = '"the record"';

interface ColumnTally extends Tally {
  readonly column: string;
}

/** How a file becomes records of a table. */
export interface InputPlan {
  readonly file: InputFile;
  readonly table: Table;
  /** The file's columns that are read, under names of the plan's own: a file's names could be those of the layers. */
  readonly sources: readonly ColumnValue[];
  /** SQL for each of the contract's columns. It reads the sources and the layers. */
  readonly values: readonly ColumnValue[];
  /** SQL that is computed before `values`, layer by layer: a step may use the steps of earlier layers. */
  readonly layers: readonly (readonly Step[])[];
  readonly checks: readonly Check[];
  /** Aggregates over a whole column that show its losses and changes. */
  readonly tallies: readonly ColumnTally[];
  /** Columns that the file doesn't have: they become NULL. */
  readonly missing: readonly string[];
  /** Columns of the file that are not read. */
  readonly unread: readonly string[];
}

/** Plans how to convert a file. If that is impossible, returns the faults. */
export function planInput(
  file: InputFile,
  { table: asked, ...options }: ValueOptions & { readonly table?: string },
): InputPlan | readonly string[] {
  const index = tables.findIndex(({ name }) => name === (asked ?? tableOf(file)));
  const table = tables[index];
  const report = reports[index];
  if (!tables.some((one) => columnsFound(one, file) > 0))
    return [
      `${file.name}: it has none of the contract's columns, but ${someNames(file)}. Give its columns the contract's names; a CSV file needs them in its first line`,
    ];
  if (!table || !report)
    return [
      `${file.name}: its columns tell no table. Say --table ${tables.map(({ name }) => name).join(' or ')}`,
    ];

  const faults: string[] = [];
  const missing: string[] = [];
  const checks: Check[] = [];
  const layers: Step[][] = [];
  const tallies: ColumnTally[] = [];
  const sources: (ColumnValue & { readonly of: SourceColumn })[] = [];
  const values = table.columns.map((column) => {
    const [of, ...others] = file.columns.filter(({ name }) => bare(name) === bare(column.name));
    const source = of?.name;
    if (others.length > 0)
      faults.push(
        `${file.name}: ${[source, ...others.map(({ name }) => name)].join(' and ')} both could be ${column.name}. Leave one out`,
      );
    if (of === undefined || source === undefined) {
      if (column.name === TIME_COLUMN)
        faults.push(`${file.name}: there is no ${TIME_COLUMN}. Give that name to the column with the time`);
      missing.push(column.name);
      return { name: column.name, value: `CAST(NULL AS ${column.type})` };
    }
    const found = of.type;
    const cure = cureOf(column.type, found, source);
    if (cure !== undefined) {
      faults.push(`${file.name}: ${source} is ${found}, of which no ${column.type} can be made. ${cure}`);
      return { name: column.name, value: 'NULL' };
    }
    const name = `from ${column.name}`;
    sources.push({ name, value: of.sql, of });
    const exact = convertValue(column, quoteName(name), found, options);
    const isNull = `${RECORD}.${quoteName(column.name)} IS NULL`;
    checks.push({ ...exact, column: source, isLost: `(${isNull} AND ${exact.isThere})` });
    for (const [depth, step] of exact.steps.entries()) {
      layers[depth] ??= [];
      layers[depth].push(step);
    }
    tallies.push(...exact.tallies.map((tally) => ({ ...tally, column: source })));
    return { name: column.name, value: exact.value };
  });
  if (faults.length > 0) return faults;
  return {
    file,
    table,
    missing,
    unread: file.columns.filter((one) => !sources.some(({ of }) => of === one)).map(({ name }) => name),
    sources,
    values,
    layers,
    tallies,
    checks: [...checks, ...recordChecks(report, new Set(missing))],
  };
}

/** SQL for the file's records in the contract's columns and types. */
export const selectOf = (plan: InputPlan): string =>
  `SELECT ${plan.values.map(({ name, value }) => `${value} AS ${quoteName(name)}`).join(',\n       ')}\nFROM ${preparedOf(plan)}`;

/** SQL for the sources and the steps that `values` builds on. */
const preparedOf = ({ file, sources, layers }: InputPlan): string =>
  layers.reduce(
    (source, steps) =>
      `(SELECT *,\n  ${steps.map(({ name, sql }) => `${sql} AS ${quoteName(name)}`).join(',\n  ')}\nFROM ${source})`,
    `(SELECT ${sources.map(({ name, value }) => `${value} AS ${quoteName(name)}`).join(', ')} FROM ${file.reader})`,
  );

/** SQL for the sources and the steps, with the contract's columns in the struct RECORD beside them. */
export function recordsOf(plan: InputPlan): string {
  const record = plan.values.map(({ name, value }) => `${quoteName(name)}: ${value}`);
  return `(SELECT *, {${record.join(', ')}} AS ${RECORD} FROM ${preparedOf(plan)})`;
}

/** How many of a table's columns the file has. */
function columnsFound({ columns }: Table, file: InputFile): number {
  const names = new Set(file.columns.map(({ name }) => bare(name)));
  return columns.filter(({ name }) => names.has(bare(name))).length;
}

/** The table that most of the file's columns belong to. Undefined if two tables have the same number of them. */
function tableOf(file: InputFile): string | undefined {
  const [best, second] = tables
    .map((table) => ({ name: table.name, found: columnsFound(table, file) }))
    .sort((a, b) => b.found - a.found);
  return best && second && best.found > second.found ? best.name : undefined;
}

function someNames({ columns }: InputFile): string {
  const names = columns.map(({ name }) => name);
  return `${names
    .slice(0, 3)
    .map((name) => JSON.stringify(name))
    .join(', ')}${names.length > 3 ? ', …' : ''}`;
}

/** The checks for faults that no conversion can mend, because only the source knows what was meant. */
function recordChecks(report: Report, missing: ReadonlySet<string>): Check[] {
  const negative = countColumns(report)
    .filter((name) => !missing.has(name))
    .map((name) => ({
      column: name,
      isLost: `${RECORD}.${quoteName(name)} < 0`,
      shown: `${RECORD}.${quoteName(name)}`,
      reasons: [{ when: 'true', loss: 'is a count below 0. Restate the records instead of correcting them' }],
    }));
  const levels = levelColumns(report);
  if (!levels) return negative;
  const { finer, finerCount, coarserCount } = levels;
  const onWrongLevel = (column: string, isNull: string, loss: string): Check => ({
    column,
    isLost: `${RECORD}.${quoteName(finer)} ${isNull} AND coalesce(${RECORD}.${quoteName(column)}, 0) <> 0`,
    shown: `${RECORD}.${quoteName(column)}`,
    reasons: [{ when: 'true', loss }],
  });
  return [
    ...negative,
    onWrongLevel(
      coarserCount,
      'IS NOT NULL',
      `is counted on a record with a ${finer}. Write it as a record of its own, without ${finer}, or count it in ${finerCount}`,
    ),
    onWrongLevel(
      finerCount,
      'IS NULL',
      `is counted on a record without a ${finer}. Name it, or count in ${coarserCount}`,
    ),
  ];
}
