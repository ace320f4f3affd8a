import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName, quoteText } from '../lib/report/quote-sql.ts';
import { fits } from './column-types.ts';
import type { Footer, TableFacts, ValueFacts } from './lake-facts.ts';
import { type LocalFile, pathList } from './read-footers.ts';
import { countColumns } from './report-columns.ts';
import { type Expressions, faultCounts, screeningChecks } from './value-checks.ts';

/** A file whose records are to be read, and the day that its folder names. */
export interface DayFile extends LocalFile {
  readonly day: string;
  readonly footer: Footer;
}

export interface ValuesRead {
  readonly values: ReadonlyMap<string, ValueFacts>;
  /** For each file whose records can't be read: the reason. */
  readonly unreadable: ReadonlyMap<string, string>;
  readonly companies: ReadonlySet<string>;
}

/** The column in which DuckDB names a record's file. No writer gives a column this name. */
const FILE_COLUMN = ':file';
const FILE = quoteName(FILE_COLUMN);

/** Reads every record of files of one table, and counts the faults in each file. */
export async function readValues(
  connection: DuckDBConnection,
  table: TableFacts,
  files: readonly DayFile[],
): Promise<ValuesRead> {
  const values = new Map<string, ValueFacts>();
  const unreadable = new Map<string, string>();
  const companies = new Set<string>();
  // DuckDB gives a column the same type in all files of a query, so only files with equal columns are read together.
  const alike = Map.groupBy(files, ({ footer }) => JSON.stringify([...footer.types]));
  for (const group of alike.values()) {
    const read = (some: readonly DayFile[]) => readAlike(connection, table, some, values, companies);
    await read(group).catch(async () => {
      for (const file of group)
        await read([file]).catch((error: Error) => {
          unreadable.set(file.id, error.message.split('\n', 1)[0] as string);
        });
    });
  }
  return { values, unreadable, companies };
}

async function readAlike(
  connection: DuckDBConnection,
  { table, report }: TableFacts,
  files: readonly DayFile[],
  values: Map<string, ValueFacts>,
  companies: Set<string>,
): Promise<void> {
  const types = files[0]?.footer.types ?? new Map<string, string>();
  const isUsable = (name: string): boolean => {
    const column = table.columns.find((candidate) => candidate.name === name);
    const found = types.get(name);
    return column !== undefined && found !== undefined && fits(column.type, found);
  };
  const counts = countColumns(report).filter(isUsable);
  const first = await rowsByPath(
    connection,
    `SELECT ${listOf({ path: FILE, ...screeningChecks(report, isUsable) })} FROM ${recordsOf(files)} GROUP BY ${FILE}`,
  );
  const second = await lookAgain(
    connection,
    files.filter((file) => isSuspect(file, first.get(file.path) ?? {}, counts)),
    faultCounts(report, isUsable, 'days.start'),
  );
  for (const { id, path } of files) {
    const row = first.get(path);
    // A file without records has no row.
    if (!row) continue;
    // Files without a fault in the first query are not in the second.
    const found: Row = { ...row, ...second.get(path) };
    const countOf = (name: string) => Number(found[name] ?? 0);
    for (const company of (row['companies'] ?? []) as string[]) companies.add(company);
    values.set(id, {
      outsideDay: countOf('outsideDay'),
      withoutTime: countOf('withoutTime'),
      roundedIntoNextHour: countOf('roundedIntoNextHour'),
      coarserWithOthers: countOf('coarserWithOthers'),
      coarserWithFiner: countOf('coarserWithFiner'),
      finerWithCoarser: countOf('finerWithCoarser'),
      withoutCompany: countOf('withoutCompany'),
      negative: new Map(counts.map((name) => [name, countOf(`negative ${name}`)])),
      totals: new Map(counts.map((name) => [name, BigInt((row[`total ${name}`] ?? 0) as bigint)])),
    });
  }
}

type Row = Readonly<Record<string, unknown>>;

const isSuspect = ({ day }: DayFile, row: Row, counts: readonly string[]): boolean =>
  row['hasWrongLevels'] === true ||
  [row['firstDay'], row['lastDay']].some((found) => typeof found === 'string' && found !== day) ||
  counts.some((name) => Number(row[`lowest ${name}`] ?? 0) < 0);

/** Counts the faulty records in the few files that have some. */
async function lookAgain(
  connection: DuckDBConnection,
  files: readonly DayFile[],
  expressions: Expressions,
): Promise<ReadonlyMap<string, Row>> {
  if (files.length === 0) return new Map();
  const days = files.map(({ path, day }) => ({ path, start: Date.parse(day) * 1000 }));
  return rowsByPath(
    connection,
    `WITH days AS (SELECT unnest(from_json($1, '[{"path":"VARCHAR","start":"BIGINT"}]'), recursive := true))
     SELECT ${listOf({ path: FILE, ...expressions })}
     FROM ${recordsOf(files)} JOIN days ON days.path = ${FILE} GROUP BY ${FILE}`,
    [JSON.stringify(days)],
  );
}

const listOf = (expressions: Expressions): string =>
  Object.entries(expressions)
    .map(([name, sql]) => `${sql} AS ${quoteName(name)}`)
    .join(', ');

const recordsOf = (files: readonly DayFile[]): string =>
  `read_parquet(${pathList(files)}, filename = ${quoteText(FILE_COLUMN)}, hive_partitioning = false)`;

async function rowsByPath(
  connection: DuckDBConnection,
  sql: string,
  parameters: string[] = [],
): Promise<ReadonlyMap<string, Row>> {
  const rows = (await connection.runAndReadAll(sql, parameters)).getRowObjectsJS();
  return new Map(rows.map((row) => [row['path'] as string, row]));
}
