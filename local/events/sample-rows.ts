import { metricsOf, type Report } from '../../lib/report/catalogue.ts';
import { quoteName } from '../../lib/report/quote-sql.ts';
import { type Column, PARTITION_COLUMN, TIME_COLUMN, tableOf } from '../../lib/report/tables.ts';
import { below, chance, draw } from './draws.ts';
import {
  COARSER_COUNT,
  counted,
  countOf,
  HIERARCHY,
  identifierOf,
  moneyOf,
  recordFacts,
  textOf,
} from './sample-measures.ts';

/** The tables number their records from different starts, so that their records get different random values. */
const RECORDS_PER_TABLE = 1_000_000_000;

/** The column that says whether a record came late. Late records get a file of their own within their day. */
export const LATE_COLUMN = 'is_late';

/**
 * SQL for the records of some days of a table. Their order is always the same. The last two columns are the
 * partition's column and LATE_COLUMN.
 */
export function sampleRows(
  report: Report,
  index: number,
  days: readonly SampleDay[],
  hasAwkwardTexts = false,
): string {
  const offset = index * RECORDS_PER_TABLE;
  const numbered = days.map(
    ({ day, dayIndex, start, first, end, late }) =>
      `SELECT range AS n, ${dayIndex} AS day_index, ${start} AS midnight, '${day}' AS ${PARTITION_COLUMN},
       range >= ${offset + late} AS ${LATE_COLUMN} FROM range(${offset + first}, ${offset + end})`,
  );
  const drawn = [...HIERARCHY, ...measuresOf(report)].reduce((rows, layer) => {
    const added = Object.entries(layer).map(([name, sql]) => `${sql} AS ${quoteName(name)}`);
    return `SELECT *, ${added.join(', ')} FROM (${rows})`;
  }, numbered.join(' UNION ALL '));
  const columns = tableOf(report).columns.map(
    (column) =>
      `CAST(${valueIn(report, column, hasAwkwardTexts)} AS ${storedType(column)}) AS ${quoteName(column.name)}`,
  );
  return `SELECT ${columns.join(', ')}, ${PARTITION_COLUMN}, ${LATE_COLUMN} FROM (${drawn})`;
}

const countsOf = (report: Report): string[] =>
  metricsOf(report)
    .filter(({ type }) => type === 'integer')
    .map((metric) => (report.levels?.metric === metric ? report.levels.finerColumn : metric.column));

/** SQL for the facts on which the counts depend, and then for the counts, on which the amounts of money depend. */
function measuresOf(report: Report): Readonly<Record<string, string>>[] {
  const counts = countsOf(report);
  return [
    { ...recordFacts(counts), is_coarser: report.levels ? chance(150, 'coarser') : 'false' },
    Object.fromEntries(
      counts.map((name) => [counted(name), `CASE WHEN is_coarser THEN 0 ELSE ${countOf(name, counts)} END`]),
    ),
  ];
}

function valueIn(report: Report, { name, type }: Column, hasAwkwardTexts: boolean): string {
  if (name === TIME_COLUMN) return TIME;
  const { levels } = report;
  if (levels?.metric.column === name) return `CASE WHEN is_coarser THEN ${COARSER_COUNT} ELSE 0 END`;
  const counts = countsOf(report);
  if (counts.includes(name)) return quoteName(counted(name));
  if (type === 'decimal(18,6)') return `CASE WHEN is_coarser THEN 0 ELSE ${moneyOf(name, counts)} END`;
  const value = type === 'varchar' ? textOf(name, hasAwkwardTexts) : identifierOf(name);
  return levels?.finer.column === name ? `CASE WHEN is_coarser THEN NULL ELSE ${value} END` : value;
}

/**
 * SQL for a record's time. Most records are around noon (the sum of two uniform random numbers). Some are at any time.
 * A few are in the first or the last millisecond of the day, where windows begin and end.
 */
const TIME = `epoch_ms(midnight + CASE ${below(1000, draw('time of day'))} WHEN 0 THEN 0 WHEN 1 THEN 86399999 ELSE
     CASE WHEN ${chance(250, 'any time')} THEN ${below(86_400_000, draw('early time'))}
     ELSE ${below(43_200_000, draw('early time'))} + ${below(43_200_000, draw('late time'))} END END)`;

// Times are stored in milliseconds: Athena reads no finer timestamps from Parquet.
const storedType = ({ type }: Column): string => (type === 'timestamp' ? 'TIMESTAMP_MS' : type);

const FIRST_DAY = Date.UTC(2026, 0, 1);
const DAYS = 59;
const DAY_MS = 24 * 60 * 60 * 1000;

/** The traffic of each weekday, from Sunday to Saturday. More mail is read on working days. */
const WEEKDAY_WEIGHTS = [50, 101, 112, 110, 106, 94, 56];

/** The traffic grows by a third over the two months. */
const weightOf = (day: number): number =>
  (WEEKDAY_WEIGHTS[new Date(day).getUTCDay()] as number) * (3 * DAYS + (day - FIRST_DAY) / DAY_MS);

/** The last day is open: its records may still come. */
export const isOpenDay = (day: string): boolean => Date.parse(day) === FIRST_DAY + (DAYS - 1) * DAY_MS;

/** The restated day. Its late records are in a file of their own. */
const RESTATED_DAY = '2026-02-24';

/** One in twelve of the restated day's records came late. */
const ONE_LATE_IN = 12;

export type SampleDay = ReturnType<typeof sampleDays>[number];

/**
 * Distributes a number of records over the days 2026-01-01 to 2026-02-28, by weekday and growth. The records of a day
 * have the numbers from `first` to `end - 1`, and those from `late` on came late. `start` is the day's midnight, in
 * milliseconds since 1970.
 */
export function sampleDays(records: number) {
  const starts = Array.from({ length: DAYS }, (_, index) => FIRST_DAY + index * DAY_MS);
  const total = starts.map(weightOf).reduce((sum, weight) => sum + weight);
  let before = 0;
  return starts.map((start, dayIndex) => {
    const first = Math.floor((records * before) / total);
    before += weightOf(start);
    const end = Math.floor((records * before) / total);
    const day = new Date(start).toISOString().slice(0, 10);
    const late = day === RESTATED_DAY ? end - Math.floor((end - first) / ONE_LATE_IN) : end;
    return { day, dayIndex, start, first, end, late };
  });
}
