import { type FieldType, type Report, reports } from './catalogue.ts';

/** The partition of both tables: the record's UTC day as `YYYY-MM-DD`. */
export const PARTITION_COLUMN = 'day';
/** The column with the record's instant: UTC, to the millisecond. */
export const TIME_COLUMN = 'event_time';

export type ColumnType = 'timestamp' | 'bigint' | 'varchar' | 'decimal(18,6)';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly meaning: string;
}

/** One table of the data contract, as in its Parquet files. `columns` does not include the partition column. */
export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
}

const COLUMN_TYPE: Record<Exclude<FieldType, 'datetime'>, ColumnType> = {
  integer: 'bigint',
  string: 'varchar',
  float: 'decimal(18,6)',
};

export const tableOf = ({ table, fields, levels }: Report): Table => ({
  name: table,
  columns: [
    { name: TIME_COLUMN, type: 'timestamp', meaning: 'instant of the record, UTC' },
    ...fields.flatMap((field): Column[] => {
      if (field.type === 'datetime') return [];
      const type = COLUMN_TYPE[field.type];
      const column = { name: field.column, type, meaning: field.meaning };
      if (levels?.metric !== field) return [column];
      return [
        { name: levels.finerColumn, type, meaning: `${field.meaning}, counted by ${levels.finer.name}` },
        { ...column, meaning: `${field.meaning}, counted by ${levels.coarser.name}` },
      ];
    }),
  ],
});

/** Reports, hourly lakes and the page add metrics up: a ratio such as `clicks / served_ads` would be wrong in each. */
export const NOT_A_COLUMN =
  'A column is a name such as served_ads, no SQL: a metric is the sum of one. Leave ratios (CTR) to clients and the page, or add a column.';

/**
 * Names that have a special meaning for an engine: DuckDB's name for a record's file, and Athena's "Reserved keywords in
 * SQL SELECT statements". DuckDB takes many of them for columns, so it would not show the fault: `current_user`.
 */
const ENGINE_WORDS = new Set(
  (
    'filename ' +
    'alter and as between by case cast constraint create cross cube current_catalog current_date current_path ' +
    'current_role current_schema current_time current_timestamp current_user deallocate delete describe distinct drop ' +
    'else end escape except execute exists extract false first for from full group grouping having in inner insert ' +
    'intersect into is join json_array json_exists json_object json_query json_table json_value last left like ' +
    'listagg localtime localtimestamp natural normalize not null on or order outer overflow prepare recursive right ' +
    'rollup select skip table then trim true uescape union unnest using values when where with'
  ).split(' '),
);

/** The first fault in the column names of one table; undefined if every name is valid and unique. */
export function columnFault(table: string, columns: readonly string[]): string | undefined {
  for (const [index, column] of columns.entries()) {
    const where = `lib/report/catalogue.ts, ${table}, column "${column}": `;
    if (!/^[a-z][a-z0-9_]*$/.test(column)) return where + NOT_A_COLUMN;
    if (ENGINE_WORDS.has(column))
      return `${where}Athena or DuckDB read this name as something else. Choose another one.`;
    if (columns.indexOf(column) !== index)
      return `${where}it is there twice. Each field has a column of its own; one for the same number is there already.`;
  }
  return undefined;
}

/** The tables of these reports. Throws if a column name is invalid or occurs twice, because reports would be wrong. */
export function tablesOf(reports: readonly Report[]): readonly Table[] {
  const tables = reports.map(tableOf);
  for (const { name, columns } of tables) {
    const fault = columnFault(name, [PARTITION_COLUMN, ...columns.map((column) => column.name)]);
    if (fault !== undefined) throw new TypeError(fault);
  }
  return tables;
}

export const tables: readonly Table[] = tablesOf(reports);
