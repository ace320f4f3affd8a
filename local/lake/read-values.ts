import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName, quoteText } from '../../lib/report/quote-sql.ts';
import { type Column, TIME_COLUMN } from '../../lib/report/tables.ts';
import { fits } from './column-types.ts';
import type { Footer, TableFacts, ValueFacts } from './lake-facts.ts';
import { type LocalFile, pathList } from './read-footers.ts';
import { companyColumn, countColumns, levelColumns } from './report-columns.ts';

/** A file whose records are to be read, and the day that its folder names. */
export interface DayFile extends LocalFile {
  readonly day: string;
  readonly footer: Footer;
}

export interface ValuesRead {
  readonly values: ReadonlyMap<string, ValueFacts>;
  /** Why a file's records can't be read. */
  readonly unreadable: ReadonlyMap<string, string>;
  readonly companies: ReadonlySet<string>;
}

/** The column in which DuckDB names a record's file. No writer gives a column this name. */
const FILE_COLUMN = ':file';

/** Reads every record of files of one table and counts what is not as it should be, file by file. */
export async function readValues(
  connection: DuckDBConnection,
  table: TableFacts,
  files: readonly DayFile[],
): Promise<ValuesRead> {
  const values = new Map<string, ValueFacts>();
  const unreadable = new Map<string, string>();
  const companies = new Set<string>();
  // DuckDB gives the columns of several files one type; so only files of equal columns go together.
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
    const column = table.columns.find((candidate: Column) => candidate.name === name);
    const found = types.get(name);
    return column !== undefined && found !== undefined && fits(column.type, found);
  };
  const counts = countColumns(report).filter(isUsable);
  const file = quoteName(FILE_COLUMN);
  const expressions = [
    file,
    ...timeChecks(isUsable(TIME_COLUMN)),
    ...levelChecks(levelColumns(report), isUsable),
    ...companyChecks(companyColumn(report), isUsable),
    ...counts.flatMap((name) => [`count_if(${quoteName(name)} < 0)`, `sum(${quoteName(name)})::HUGEINT`]),
  ];
  const byPath = new Map(files.map((file) => [file.path, file]));
  const days = files.map(({ path, day }) => ({ path, day }));
  const reader = await connection.runAndReadAll(
    `WITH days AS (SELECT unnest(from_json($1, '[{"path":"VARCHAR","day":"VARCHAR"}]'), recursive := true))
     SELECT ${expressions.join(', ')}
     FROM read_parquet(${pathList(files)}, filename = ${quoteText(FILE_COLUMN)}, hive_partitioning = false)
     JOIN days ON days.path = ${file} GROUP BY ${file}`,
    [JSON.stringify(days)],
  );
  for (const row of reader.getRowsJS()) {
    const [path, outside, without, rounded, others, finer, coarser, nobody, distinct, ...rest] = row as [
      string,
      ...(bigint | null)[],
    ] as [string, bigint, bigint, bigint, bigint, bigint, bigint, bigint, string[] | null, ...bigint[]];
    const file = byPath.get(path);
    if (!file) continue;
    for (const company of distinct ?? []) companies.add(company);
    values.set(file.id, {
      outsideDay: Number(outside),
      withoutTime: Number(without),
      roundedIntoNextHour: Number(rounded),
      coarserWithOthers: Number(others),
      coarserWithFiner: Number(finer),
      finerWithCoarser: Number(coarser),
      withoutCompany: Number(nobody),
      negative: new Map(counts.map((name, index) => [name, Number(rest[2 * index])])),
      totals: new Map(counts.map((name, index) => [name, BigInt(rest[2 * index + 1] ?? 0)])),
    });
  }
}

function timeChecks(isUsable: boolean): string[] {
  if (!isUsable) return ['0', '0', '0'];
  const time = `CAST(${quoteName(TIME_COLUMN)} AS TIMESTAMP)`;
  return [
    `count_if(strftime(${time}, '%Y-%m-%d') <> days.day)`,
    `count_if(${time} IS NULL)`,
    // Athena rounds to the millisecond.
    `count_if(epoch_us(${time}) % 3600000000 >= 3599999500)`,
  ];
}

function levelChecks(levels: ReturnType<typeof levelColumns>, isUsable: (name: string) => boolean): string[] {
  if (!levels || !isUsable(levels.finer)) return ['0', '0', '0'];
  const finer = quoteName(levels.finer);
  const countIf = (condition: string, columns: readonly string[]) => {
    const counted = columns.filter(isUsable).map((name) => `coalesce(${quoteName(name)}, 0) <> 0`);
    return counted.length > 0 ? `count_if(${condition} AND (${counted.join(' OR ')}))` : '0';
  };
  return [
    countIf(`${finer} IS NULL`, levels.others),
    countIf(`${finer} IS NULL`, [levels.finerCount]),
    countIf(`${finer} IS NOT NULL`, [levels.coarserCount]),
  ];
}

function companyChecks(company: string, isUsable: (name: string) => boolean): string[] {
  if (!isUsable(company)) return ['0', 'NULL'];
  const name = quoteName(company);
  return [
    `count_if(${name} IS NULL)`,
    `list(DISTINCT CAST(${name} AS VARCHAR)) FILTER (${name} IS NOT NULL)`,
  ];
}
