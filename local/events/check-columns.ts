import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName, quoteText } from '../../lib/report/quote-sql.ts';
import type { Column, ColumnType, Table } from '../../lib/report/tables.ts';
import { EventsFault } from './events-fault.ts';

/** DuckDB's name for each type of the data contract. */
const DUCKDB_TYPE: Record<ColumnType, string> = {
  timestamp: 'TIMESTAMP',
  bigint: 'BIGINT',
  varchar: 'VARCHAR',
  'decimal(18,6)': 'DECIMAL(18,6)',
};

/** What else a file may hold, because Athena reads it as the contract's type and loses nothing. */
const ALSO_READ: Record<ColumnType, RegExp> = {
  timestamp: /^TIMESTAMP(_NS| WITH TIME ZONE)$/,
  bigint: /^(TINYINT|SMALLINT|INTEGER|UTINYINT|USMALLINT|UINTEGER)$/,
  varchar: /^$/,
  'decimal(18,6)': /^DECIMAL\(([6-9]|1[0-7]),6\)$/,
};

/** The columns of one Parquet file, and their types. */
interface FileSchema {
  readonly file: string;
  readonly types: ReadonlyMap<string, string>;
}

/**
 * Checks that every file of a table holds every column in a type that fits, the same in all files. Returns the
 * SELECT list that reads them as the contract's types: plain names where the files hold those already, since a
 * cast keeps DuckDB from skipping row groups. Throws an EventsFault at the first column that doesn't fit.
 *
 * @param files a glob of the table's Parquet files
 */
export async function checkColumns(
  connection: DuckDBConnection,
  table: Table,
  files: string,
): Promise<string> {
  const schemas = await readSchemas(connection, files);
  return table.columns
    .map((column) => {
      const name = quoteName(column.name);
      const expected = DUCKDB_TYPE[column.type];
      // With the session in UTC, the cast from TIMESTAMP WITH TIME ZONE gives the UTC wall time.
      return commonType(column, schemas) === expected ? name : `CAST(${name} AS ${expected}) AS ${name}`;
    })
    .join(', ');
}

function commonType({ name, type }: Column, schemas: readonly FileSchema[]): string | undefined {
  let first: { file: string; found: string } | undefined;
  for (const { file, types } of schemas) {
    const found = types.get(name);
    if (!found) throw new EventsFault(`${file} has no column ${name}; the table needs it, as ${type}`);
    if (found !== DUCKDB_TYPE[type] && !ALSO_READ[type].test(found))
      throw new EventsFault(`${file} holds ${name} as ${found}; the table needs it as ${type}`);
    first ??= { file, found };
    if (found !== first.found)
      throw new EventsFault(
        `${file} holds ${name} as ${found} and ${first.file} as ${first.found}; write it as ${type} in every file`,
      );
  }
  return first?.found;
}

async function readSchemas(connection: DuckDBConnection, files: string): Promise<FileSchema[]> {
  const reader = await connection.runAndReadAll(
    `SELECT file_name, list(lower(name)), list(duckdb_type) FROM parquet_schema(${quoteText(files)})
     WHERE type IS NOT NULL GROUP BY file_name ORDER BY file_name`,
  );
  return (reader.getRowsJS() as [string, string[], string[]][]).map(([file, names, types]) => ({
    file,
    types: new Map(names.map((name, index) => [name, types[index] as string])),
  }));
}
