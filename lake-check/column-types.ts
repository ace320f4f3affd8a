import type { ColumnType } from '../lib/report/tables.ts';

/** DuckDB's name for each type of the data contract. */
export const DUCKDB_TYPE: Readonly<Record<ColumnType, string>> = {
  timestamp: 'TIMESTAMP',
  bigint: 'BIGINT',
  varchar: 'VARCHAR',
  'decimal(18,6)': 'DECIMAL(18,6)',
};

/** The other types that a file may have: Athena reads them as the contract's type and loses nothing. */
const ALSO_READ: Readonly<Record<ColumnType, RegExp>> = {
  timestamp: /^TIMESTAMP(_NS| WITH TIME ZONE)$/,
  bigint: /^(TINYINT|SMALLINT|INTEGER|UTINYINT|USMALLINT|UINTEGER)$/,
  varchar: /^$/,
  'decimal(18,6)': /^DECIMAL\(([6-9]|1[0-7]),6\)$/,
};

/** Whether the engines read a column of the type `found` as the contract's type. */
export const fits = (type: ColumnType, found: string): boolean =>
  found === DUCKDB_TYPE[type] || ALSO_READ[type].test(found);
