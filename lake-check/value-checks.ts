import type { Report } from '../lib/report/catalogue.ts';
import { quoteName } from '../lib/report/quote-sql.ts';
import { type Column, type ColumnType, TIME_COLUMN } from '../lib/report/tables.ts';
import { countColumns, levelColumns } from './report-columns.ts';

/** SQL expressions over a file's records, by the name that each has in the result. */
export type Expressions = Readonly<Record<string, string>>;

/** Whether the files have the column, with a type that the engines read. */
type IsUsable = (column: string) => boolean;

export const DAY_US = 86_400_000_000;

const time = quoteName(TIME_COLUMN);

/** The time as a number, without a cast: a cast from TIMESTAMP WITH TIME ZONE uses a calendar for each record. */
const microseconds = `epoch_us(${time})`;

/**
 * The checks of every file, with the bounds of the columns that the engines read. They must cost little compared with
 * reading the file. Bounds and levels only show whether a file may have faults: then {@link faultCounts} counts them.
 */
export const screeningChecks = (
  report: Report,
  columns: readonly Column[],
  isUsable: IsUsable,
  timeType?: string,
  isTold: (column: string) => boolean = () => false,
): Expressions => ({
  ...(isUsable(TIME_COLUMN) &&
    timeType !== 'TIMESTAMP_MS' && {
      // Athena rounds to the millisecond.
      roundedIntoNextHour: `count_if(${microseconds} % 3600000000 >= 3599999500)`,
    }),
  ...levelChecks(report, isUsable)?.screening,
  ...Object.fromEntries(columns.flatMap((column) => boundsOf(column, isTold(column.name)))),
});

/** SQL for the number of a column's values, and for the lowest and the highest unless dictionaries told them. */
function boundsOf({ name, type }: Column, isTold: boolean): (readonly [string, string])[] {
  const column = quoteName(name);
  const bound = (sql: string) => BOUND[type].replace('*', `${sql}(${column})`);
  const values = [`values ${name}`, `count(${column})`] as const;
  return isTold ? [values] : [[`lowest ${name}`, bound('min')], [`highest ${name}`, bound('max')], values];
}

/** SQL for a bound. Of a decimal, the digits without their point. */
const BOUND: Readonly<Record<ColumnType, string>> = {
  timestamp: 'epoch_us(*)',
  bigint: '*::BIGINT',
  varchar: '*',
  'decimal(18,6)': "replace(*::VARCHAR, '.', '')::BIGINT",
};

/** SQL for the numbers of faulty records. `start` is the column with the start of the file's day in microseconds. */
export const faultCounts = (report: Report, isUsable: IsUsable, start: string): Expressions => ({
  ...(isUsable(TIME_COLUMN) && {
    // An infinite time has no microseconds.
    outsideDay: `count_if(${time} IS NOT NULL AND NOT coalesce(${microseconds} BETWEEN ${start} AND ${start} + ${DAY_US - 1}, false))`,
  }),
  ...levelChecks(report, isUsable)?.counts,
  ...Object.fromEntries(
    countColumns(report)
      .filter(isUsable)
      .flatMap((name) => [
        [`negative ${name}`, `count_if(${quoteName(name)} < 0)`],
        [`total ${name}`, `sum(${quoteName(name)})::HUGEINT`],
      ]),
  ),
});

/** SQL for records with a value in a column that is not for their level. */
function levelChecks(report: Report, isUsable: IsUsable) {
  const levels = levelColumns(report);
  if (!levels || !isUsable(levels.finer)) return undefined;
  const [others, finerCount, coarserCount] = [levels.others, [levels.finerCount], [levels.coarserCount]].map(
    (columns) =>
      columns
        .filter(isUsable)
        .map((name) => `${quoteName(name)} <> 0`)
        .join(' OR ') || 'false',
  );
  const isCoarser = `${quoteName(levels.finer)} IS NULL`;
  return {
    // One condition for all: for each record, DuckDB then evaluates only the branch of the CASE that applies.
    screening: {
      hasWrongLevels: `bool_or(CASE WHEN ${isCoarser} THEN ${others} OR ${finerCount} ELSE ${coarserCount} END)`,
    },
    counts: {
      coarserWithOthers: `count_if(${isCoarser} AND (${others}))`,
      coarserWithFiner: `count_if(${isCoarser} AND ${finerCount})`,
      finerWithCoarser: `count_if(NOT (${isCoarser}) AND ${coarserCount})`,
    },
  };
}
