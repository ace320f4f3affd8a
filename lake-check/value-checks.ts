import type { Report } from '../lib/report/catalogue.ts';
import { quoteName } from '../lib/report/quote-sql.ts';
import { TIME_COLUMN } from '../lib/report/tables.ts';
import { companyColumn, countColumns, levelColumns } from './report-columns.ts';

/** SQL expressions over a file's records, by the name that each has in the result. */
export type Expressions = Readonly<Record<string, string>>;

/** Whether the files have the column, with a type that the engines read. */
export type IsUsable = (column: string) => boolean;

const DAY_US = 86_400_000_000;

const time = quoteName(TIME_COLUMN);

/**
 * The time as a number. This needs no cast: a cast from TIMESTAMP WITH TIME ZONE uses a calendar for each record.
 */
const microseconds = `epoch_us(${time})`;

const dayOf = (instant: string) => `strftime(CAST(${instant} AS TIMESTAMP), '%Y-%m-%d')`;

/**
 * The checks of every file. They must cost little compared with reading the file. Three of them only show whether a
 * file may have faults: the days of the first and the last time, the lowest value of each count, and whether any record
 * counts on a wrong level. If one shows a fault, {@link faultCounts} counts the faulty records. The other checks give
 * final figures.
 */
export const screeningChecks = (report: Report, isUsable: IsUsable): Expressions => ({
  ...(isUsable(TIME_COLUMN) && {
    firstDay: dayOf(`min(${time})`),
    lastDay: dayOf(`max(${time})`),
    withoutTime: `count_if(${time} IS NULL)`,
    // Athena rounds to the millisecond.
    roundedIntoNextHour: `count_if(${microseconds} % 3600000000 >= 3599999500)`,
  }),
  ...hasWrongLevels(report, isUsable),
  ...companyChecks(companyColumn(report), isUsable),
  ...eachCount(report, isUsable, (name) => ({
    [`lowest ${name}`]: `min(${quoteName(name)})::BIGINT`,
    [`total ${name}`]: `sum(${quoteName(name)})::HUGEINT`,
  })),
});

/** SQL for the numbers of faulty records. `start` is the column with the start of the file's day in microseconds. */
export const faultCounts = (report: Report, isUsable: IsUsable, start: string): Expressions => ({
  ...(isUsable(TIME_COLUMN) && {
    // An infinite time has no microseconds.
    outsideDay: `count_if(${time} IS NOT NULL AND NOT coalesce(${microseconds} BETWEEN ${start} AND ${start} + ${DAY_US - 1}, false))`,
  }),
  ...countWrongLevels(report, isUsable),
  ...eachCount(report, isUsable, (name) => ({ [`negative ${name}`]: `count_if(${quoteName(name)} < 0)` })),
});

const eachCount = (report: Report, isUsable: IsUsable, look: (name: string) => Expressions): Expressions =>
  Object.assign({}, ...countColumns(report).filter(isUsable).map(look));

/** SQL conditions on a record: whether it is of the coarser level, and whether a column of each group is not 0. */
function wrongLevels(report: Report, isUsable: IsUsable) {
  const levels = levelColumns(report);
  if (!levels || !isUsable(levels.finer)) return undefined;
  const isCounted = (columns: readonly string[]): string =>
    columns
      .filter(isUsable)
      .map((name) => `${quoteName(name)} <> 0`)
      .join(' OR ') || 'false';
  return {
    isCoarser: `${quoteName(levels.finer)} IS NULL`,
    others: isCounted(levels.others),
    finerCount: isCounted([levels.finerCount]),
    coarserCount: isCounted([levels.coarserCount]),
  };
}

/**
 * One condition for all wrong levels: for each record, DuckDB then evaluates only the branch of the CASE that
 * applies.
 */
function hasWrongLevels(report: Report, isUsable: IsUsable): Expressions {
  const wrong = wrongLevels(report, isUsable);
  if (!wrong) return {};
  const { isCoarser, others, finerCount, coarserCount } = wrong;
  return {
    hasWrongLevels: `bool_or(CASE WHEN ${isCoarser} THEN ${others} OR ${finerCount} ELSE ${coarserCount} END)`,
  };
}

function countWrongLevels(report: Report, isUsable: IsUsable): Expressions {
  const wrong = wrongLevels(report, isUsable);
  if (!wrong) return {};
  const { isCoarser, others, finerCount, coarserCount } = wrong;
  return {
    coarserWithOthers: `count_if(${isCoarser} AND (${others}))`,
    coarserWithFiner: `count_if(${isCoarser} AND ${finerCount})`,
    finerWithCoarser: `count_if(NOT (${isCoarser}) AND ${coarserCount})`,
  };
}

function companyChecks(company: string, isUsable: IsUsable): Expressions {
  if (!isUsable(company)) return {};
  const name = quoteName(company);
  return {
    withoutCompany: `count_if(${name} IS NULL)`,
    // The set holds numbers, not texts: for each record, making a text takes longer than reading the number.
    companies: `CAST(list(DISTINCT ${name}) FILTER (${name} IS NOT NULL) AS VARCHAR[])`,
  };
}
