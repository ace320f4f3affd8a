import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName, quoteText } from '../../lib/report/quote-sql.ts';
import { tables } from '../../lib/report/tables.ts';
import { bare } from './column-name.ts';

const CONTRACT = new Set(tables.flatMap(({ columns }) => columns.map(({ name }) => bare(name))));

/** What Spark, Hive and DuckDB call the folder of records that have no value. */
const NO_VALUE = '__HIVE_DEFAULT_PARTITION__';

/** How a file is read, and DuckDB's types by the names of its columns. */
interface Columns {
  readonly reader: string;
  readonly types: ReadonlyMap<string, string>;
}

/**
 * Adds what a reader's own columns don't tell: columns of the contract that stand only in the folders' names
 * (`publisher_company_id=31/`), and that a time in Parquet's old form, INT96, is an instant: Spark writes it in UTC.
 *
 * @param instants names of the columns in that old form
 */
export function completeColumns(
  path: string,
  { reader, types }: Columns,
  instants: readonly string[],
): Columns {
  const ofFolders = folderColumns(path, types);
  const replaced = instants.filter((column) => types.get(column) === 'TIMESTAMP');
  if (ofFolders.size === 0 && replaced.length === 0) return { reader, types };
  // AT TIME ZONE costs eight times as much.
  const asInstants = replaced.map(
    (column) => `make_timestamptz(epoch_us(${quoteName(column)})) AS ${quoteName(column)}`,
  );
  const added = [...ofFolders].map(
    ([column, value]) =>
      `, CAST(${value === null ? 'NULL' : quoteText(value)} AS VARCHAR) AS ${quoteName(column)}`,
  );
  return {
    reader: `(SELECT *${asInstants.length > 0 ? ` REPLACE (${asInstants.join(', ')})` : ''}${added.join('')} FROM ${reader})`,
    types: new Map([
      ...types,
      ...replaced.map((column) => [column, 'TIMESTAMP WITH TIME ZONE'] as const),
      ...[...ofFolders.keys()].map((column) => [column, 'VARCHAR'] as const),
    ]),
  };
}

function folderColumns(path: string, types: ReadonlyMap<string, string>): ReadonlyMap<string, string | null> {
  const present = new Set([...types.keys()].map(bare));
  const found = new Map<string, string | null>();
  for (const folder of path.split('/').slice(0, -1)) {
    const [, column, value = ''] = /^([^=]+)=(.*)$/.exec(folder) ?? [];
    if (column && CONTRACT.has(bare(column)) && !present.has(bare(column)))
      found.set(column, value === NO_VALUE ? null : decoded(value));
  }
  return found;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** The columns of a Parquet file that hold times as INT96. */
export async function oldTimes(connection: DuckDBConnection, file: string): Promise<string[]> {
  const found = await connection.runAndReadAll(
    `SELECT name FROM parquet_schema(${file}) WHERE type = 'INT96'`,
  );
  return (found.getRowsJS() as [string][]).map(([name]) => name);
}
