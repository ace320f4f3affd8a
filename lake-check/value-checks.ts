import type { Report } from '../lib/report/catalogue.ts';
import { quoteName } from '../lib/report/quote-sql.ts';
import { type Column, type ColumnType, TIME_COLUMN } from '../lib/report/tables.ts';
import { countColumns, levelColumns } from './report-columns.ts';

/** SQL expressions over a file's records, by the name that each has in the result. */
export type Expressions = Readonly<Record<string, string>>;

/** Whether the files have the column, with a type that the engines read. */
export type IsUsable = (column: string) => boolean;

export const DAY_US = 86_400_000_000;

const time = quoteName(TIME_COLUMN);

/** The time as a number, without a cast: a cast from TIMESTAMP WITH TIME ZONE uses a calendar for each record. */
const microseconds = `epoch_us(${time})`;

/**
 * The checks of every file, beside the bounds of its columns ({@link boundsOf}). They must cost little compared with
 * reading the file. The levels only show whether a file may have faults: then {@link faultCounts} counts the faulty
 * records. The other check gives a final figure.
 */
export const screeningChecks = (report: Report, isUsable: IsUsable, timeType?: string): Expressions => ({
  ...(isUsable(TIME_COLUMN) &&
    timeType !== 'TIMESTAMP_MS' && {
      // Athena rounds to the millisecond.
      roundedIntoNextHour: `count_if(${microseconds} % 3600000000 >= 3599999500)`,
    }),
  ...levelChecks(report, isUsable)?.screening,
});

/** SQL for a column's lowest and highest value and the number of its values. INT96 has no order. */
export function boundsOf({ name, type }: Column): Expressions {
  const column = quoteName(name);
  const as: Readonly<Record<ColumnType, (bound: string) => string>> = {
    timestamp: (bound) => `epoch_us(${bound})`,
    bigint: (bound) => `${bound}::BIGINT`,
    varchar: (bound) => bound,
    // The digits without their point.
    'decimal(18,6)': (bound) => `replace(${bound}::VARCHAR, '.', '')::BIGINT`,
  };
  return {
    [`lowest ${name}`]: as[type](`min(${column})`),
    [`highest ${name}`]: as[type](`max(${column})`),
    [`values ${name}`]: `count(${column})`,
  };
}

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

/** SQL for the companies. The set holds numbers: for each record, making a text takes longer than reading the number. */
export const companiesOf = (company: string): string =>
  `CAST(list(DISTINCT ${quoteName(company)}) FILTER (${quoteName(company)} IS NOT NULL) AS VARCHAR[])`;
