import type { DuckDBConnection } from '@duckdb/node-api';
import type { Report } from '../lib/report/catalogue.ts';
import { quoteName, quoteText } from '../lib/report/quote-sql.ts';
import { type Column, type ColumnType, TIME_COLUMN } from '../lib/report/tables.ts';
import { falseBound, type GroupRow, nullsIn } from './bounds.ts';
import { fails, fits } from './column-types.ts';
import type { FileFacts, Footer, TableFacts, ValueFacts } from './lake-facts.ts';
import { type LocalFile, pathList } from './read-footers.ts';
import { companyColumn, countColumns, levelColumns } from './report-columns.ts';
import { pageFault } from './verify-pages.ts';

/** A file whose records are to be read, and the day that its folder names. */
export interface DayFile extends LocalFile {
  readonly day: string;
  readonly footer: Footer;
  /** What the dictionaries of a large file tell of each row group. */
  readonly ranges?: readonly GroupRow[];
}

/** The column in which DuckDB names a record's file. No writer gives a column this name. */
const FILE_COLUMN = ':file';
const FILE = quoteName(FILE_COLUMN);

/** Counts the faults in the records of files. Adds what it finds to `facts`, by the files' ids. */
export async function readValues(
  connection: DuckDBConnection,
  table: TableFacts,
  files: readonly DayFile[],
  facts: Map<string, Partial<FileFacts>>,
): Promise<void> {
  const whole: DayFile[] = [];
  for (const file of files) {
    const { rows, rowGroupRows } = file.footer;
    const ranges = rows > MANY_ROWS ? rowGroupRows.map((_, rowGroup) => ({ rowGroup })) : [];
    const fault = await pageFault(file.path, file.footer, ranges);
    if (fault) facts.set(file.id, { fault });
    else whole.push({ ...file, ranges });
  }
  // DuckDB gives a column the same type in all files of a query, so only files with equal columns are read together.
  const alike = Map.groupBy(whole, ({ path, footer }) =>
    JSON.stringify([...footer.types, rowGroupSql(footer), footer.rows > MANY_ROWS ? path : '']),
  );
  for (const group of alike.values()) {
    const read = (some: [DayFile, ...DayFile[]]) => readAlike(connection, table, some, facts);
    await read(group as [DayFile]).catch(async () => {
      for (const file of group)
        await read([file]).catch((error: Error) => {
          const [reason = ''] = error.message.split('\n', 1);
          // DuckDB's message contains the path from which it read the file.
          const fault = fails(`it can't be read (${reason.replaceAll(/"?\/\S+"?/g, '…')})`);
          facts.set(file.id, { fault });
        });
    });
  }
}

/** A file with more records is read alone. */
const MANY_ROWS = 1_000_000;

/** SQL for the row group of a record, by the record's number in its file. */
function rowGroupSql({ rows, rowGroupRows }: Footer): string {
  const [most = 0] = rowGroupRows;
  if (rowGroupRows.length < 2) return '0';
  // Numbers of 32 bits are divided and compared faster.
  const row = rows < 2 ** 32 ? 'file_row_number::UINTEGER' : 'file_row_number';
  if (rowGroupRows.slice(0, -1).every((count) => count === most) && (rowGroupRows.at(-1) ?? 0) <= most)
    return `${row} // ${most}`;
  const starts = rowGroupRows.map((_, at) =>
    rowGroupRows.slice(0, at).reduce((sum, count) => sum + count, 0),
  );
  // A binary search: a record passes few comparisons.
  const search = (from: number, to: number): string => {
    const middle = Math.floor((from + to) / 2);
    return to - from === 1
      ? `${from}`
      : `CASE WHEN ${row} < ${starts[middle]} THEN ${search(from, middle)} ELSE ${search(middle, to)} END`;
  };
  return search(0, starts.length);
}

async function readAlike(
  connection: DuckDBConnection,
  { table, report }: TableFacts,
  files: readonly [DayFile, ...DayFile[]],
  facts: Map<string, Partial<FileFacts>>,
): Promise<void> {
  const rowsOf = async (sql: string, parameters: string[] = []): Promise<GroupRow[]> =>
    (await connection.runAndReadAll(sql, parameters)).getRowObjectsJS();
  const [{ footer, path, ranges = [] }] = files;
  const columns = table.columns.filter(({ name, type }) => fits(type, footer.types.get(name) ?? ''));
  const isUsable = (name: string): boolean => columns.some((column) => column.name === name);
  const counts = countColumns(report).filter(isUsable);
  const company = companyColumn(report);
  // A dictionary may hold values that no record has. If it leaves the bounds, the records decide.
  const hasRange = (name: string) =>
    ranges.length > 0 && ranges.every((row) => `lowest ${name}` in row) && !falseBound(footer, ranges, name);
  const expressions = {
    // One key costs less than two.
    ...(files.length > 1 && { path: FILE }),
    rowGroup: rowGroupSql(footer),
    ...screeningChecks(report, columns, isUsable, footer.types.get(TIME_COLUMN), hasRange),
  };
  const rows = await rowsOf(`SELECT ${listOf(expressions)} FROM ${recordsOf(files)} GROUP BY ALL`);
  const groups = rows.map((row): GroupRow => ({ ...ranges[Number(row['rowGroup'])], ...row }));
  const first = Map.groupBy(groups, (group) => (group['path'] ?? path) as string);
  // The few files that have faulty records are read again, to count these.
  const faulty = files.filter((file) => isSuspect(file, first.get(file.path) ?? [], counts));
  const days = JSON.stringify(faulty.map(({ path, day }) => ({ path, start: Date.parse(day) * 1_000 })));
  const again = `WITH days AS (SELECT unnest(from_json($1, '[{"path":"VARCHAR","start":"BIGINT"}]'), recursive := true))
    SELECT ${listOf({ path: FILE, ...faultCounts(report, isUsable, 'days.start') })}
    FROM ${recordsOf(faulty)} JOIN days ON days.path = ${FILE} GROUP BY ${FILE}`;
  const counted = faulty.length > 0 ? await rowsOf(again, [days]) : [];
  const second = new Map(counted.map((row) => [row['path'], row]));
  for (const { id, path, footer } of files) {
    const groups = first.get(path);
    // A file without records has no row.
    if (!groups) continue;
    const found: GroupRow = second.get(path) ?? {};
    const countOf = (name: string) => Number(found[name] ?? 0);
    const sum = (of: (group: GroupRow) => number) => groups.reduce((total, group) => total + of(group), 0);
    const nulls = (name: string) => (isUsable(name) ? sum((group) => nullsIn(footer, group, name)) : 0);
    const values: ValueFacts = {
      outsideDay: countOf('outsideDay'),
      withoutTime: nulls(TIME_COLUMN),
      roundedIntoNextHour: sum((group) => Number(group['roundedIntoNextHour'] ?? 0)),
      coarserWithOthers: countOf('coarserWithOthers'),
      coarserWithFiner: countOf('coarserWithFiner'),
      finerWithCoarser: countOf('finerWithCoarser'),
      withoutCompany: nulls(company),
      negative: new Map(counts.map((name) => [name, countOf(`negative ${name}`)])),
      totals: new Map(counts.map((name) => [name, BigInt((found[`total ${name}`] ?? 0) as bigint)])),
      falseBounds: new Map(
        columns.flatMap(({ name }) => {
          const words = falseBound(footer, groups, name);
          return words === undefined ? [] : [[name, words]];
        }),
      ),
    };
    facts.set(id, { values });
  }
}

/** A million row groups of a day that add up to this fit into 64 bits. */
const MAY_NOT_FIT = 2 ** 63 / 1e6;

/** Whether a file may have a fault: a wrong level, a time outside of its day, or a count below 0 or too high. */
const isSuspect = ({ day }: DayFile, groups: readonly GroupRow[], counts: readonly string[]): boolean =>
  groups.some((group) => {
    const number = (name: string) => Number(group[name] ?? 0);
    const start = Date.parse(day) * 1_000;
    const [low, high] = [number(`lowest ${TIME_COLUMN}`), number(`highest ${TIME_COLUMN}`)];
    return (
      group['hasWrongLevels'] === true ||
      // An infinite time has no microseconds.
      (number(`values ${TIME_COLUMN}`) > 0 && !(low >= start && high < start + DAY_US)) ||
      counts.some(
        (name) =>
          number(`lowest ${name}`) < 0 || number(`highest ${name}`) * number(`values ${name}`) > MAY_NOT_FIT,
      )
    );
  });

const listOf = (expressions: Expressions): string =>
  Object.entries(expressions)
    .map(([name, sql]) => `${sql} AS ${quoteName(name)}`)
    .join(', ');

const recordsOf = (files: readonly DayFile[]): string =>
  `read_parquet(${pathList(files)}, filename = ${quoteText(FILE_COLUMN)}, file_row_number = true, hive_partitioning = false)`;

/** SQL expressions over a file's records, by the name that each has in the result. */
type Expressions = Readonly<Record<string, string>>;

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
const screeningChecks = (
  report: Report,
  columns: readonly Column[],
  isUsable: IsUsable,
  timeType: string | undefined,
  hasRange: (column: string) => boolean,
): Expressions => ({
  ...(isUsable(TIME_COLUMN) &&
    timeType !== 'TIMESTAMP_MS' && {
      // Athena rounds to the millisecond.
      roundedIntoNextHour: `count_if(${microseconds} % 3600000000 >= 3599999500)`,
    }),
  ...levelChecks(report, isUsable)?.screening,
  ...Object.fromEntries(columns.flatMap((column) => boundsOf(column, hasRange(column.name)))),
});

/** SQL for the number of a column's values, and for the lowest and the highest unless dictionaries tell them. */
function boundsOf({ name, type }: Column, hasRange: boolean): (readonly [string, string])[] {
  const column = quoteName(name);
  const bound = (sql: string) => BOUND[type].replace('*', `${sql}(${column})`);
  const values = [`values ${name}`, `count(${column})`] as const;
  return hasRange ? [values] : [[`lowest ${name}`, bound('min')], [`highest ${name}`, bound('max')], values];
}

/** SQL for a bound. Of a decimal, the digits without their point. */
const BOUND: Readonly<Record<ColumnType, string>> = {
  timestamp: 'epoch_us(*)',
  bigint: '*::BIGINT',
  varchar: '*',
  'decimal(18,6)': "replace(*::VARCHAR, '.', '')::BIGINT",
};

/** SQL for the numbers of faulty records. `start` is the column with the start of the file's day in microseconds. */
const faultCounts = (report: Report, isUsable: IsUsable, start: string): Expressions => ({
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
