import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName, quoteText } from '../../lib/report/quote-sql.ts';
import type { ColumnType, Table } from '../../lib/report/tables.ts';
import { EventsFault } from './events-fault.ts';

/** DuckDB's type for each type of the data contract. */
const VIEW_TYPE: Record<ColumnType, string> = {
  timestamp: 'TIMESTAMP',
  bigint: 'BIGINT',
  varchar: 'VARCHAR',
  'decimal(18,6)': 'DECIMAL(18,6)',
};

/** What else a file may hold, because Athena reads it as the contract's type without loss. */
const ALSO_READ: Record<ColumnType, RegExp> = {
  timestamp: /^TIMESTAMP(_NS| WITH TIME ZONE)$/,
  bigint: /^(TINYINT|SMALLINT|INTEGER|UTINYINT|USMALLINT|UINTEGER)$/,
  varchar: /^$/,
  'decimal(18,6)': /^DECIMAL\(([6-9]|1[0-7]),6\)$/,
};

/** A type in which some of the table's files hold a column: how many of them, and one of them. */
interface Held {
  readonly type: string;
  readonly files: number;
  readonly example: string;
}

/**
 * Checks that every file of a table holds every column, in a type that fits. Returns the SELECT list that reads
 * them as the contract's types: plain names where the files hold those already, since a cast keeps DuckDB from
 * skipping row groups. Throws an EventsFault at the first column that doesn't fit.
 *
 * @param files a glob of the table's Parquet files
 */
export async function checkColumns(
  connection: DuckDBConnection,
  table: Table,
  files: string,
): Promise<string> {
  const columns = await heldColumns(connection, files);
  const held = (name: string): readonly Held[] => columns.get(name) ?? [];
  const total = Math.max(...[...columns.values()].map((types) => types.reduce((sum, type) => sum + type.files, 0)));
  const selected = [];
  for (const { name, type } of table.columns) {
    const types = held(name);
    const [first, second] = types;
    if (!first || types.reduce((sum, { files }) => sum + files, 0) < total)
      throw new EventsFault(`${await fileWithout(connection, files, name)} has no column ${name} (${type})`);
    const wrong = types.find((found) => found.type !== VIEW_TYPE[type] && !ALSO_READ[type].test(found.type));
    if (wrong)
      throw new EventsFault(`column ${name} is ${wrong.type} in ${wrong.example}; write it as ${type}`);
    if (second)
      throw new EventsFault(
        `column ${name} is ${first.type} in ${first.example} and ${second.type} in ${second.example}; write it as ${type} everywhere`,
      );
    selected.push(first.type === VIEW_TYPE[type] ? quoteName(name) : castTo(VIEW_TYPE[type], name));
  }
  return selected.join(', ');
}

// With the session in UTC, a cast from TIMESTAMP WITH TIME ZONE gives the UTC wall time.
const castTo = (type: string, name: string): string =>
  `CAST(${quoteName(name)} AS ${type}) AS ${quoteName(name)}`;

async function heldColumns(connection: DuckDBConnection, files: string): Promise<Map<string, Held[]>> {
  const reader = await connection.runAndReadAll(
    `SELECT lower(name), duckdb_type, count(DISTINCT file_name), min(file_name)
     FROM parquet_schema(${quoteText(files)}) WHERE type IS NOT NULL GROUP BY ALL ORDER BY ALL`,
  );
  const columns = new Map<string, Held[]>();
  for (const [name, type, count, example] of reader.getRowsJS()) {
    const held = { type: String(type), files: Number(count), example: String(example) };
    columns.set(String(name), [...(columns.get(String(name)) ?? []), held]);
  }
  return columns;
}

async function fileWithout(connection: DuckDBConnection, files: string, column: string): Promise<string> {
  const reader = await connection.runAndReadAll(
    `SELECT file_name FROM parquet_schema(${quoteText(files)}) GROUP BY file_name
     HAVING NOT bool_or(lower(name) = ${quoteText(column)}) ORDER BY file_name LIMIT 1`,
  );
  return String(reader.getRowsJS()[0]?.[0]);
}
