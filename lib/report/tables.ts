import { type FieldType, type Report, reports } from './catalogue.ts';
import { columnFault } from './column-name.ts';

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

const columnsOf = ({ fields, levels }: Report): Column[] =>
  fields.flatMap((field) => {
    if (field.type === 'datetime') return [];
    const type = COLUMN_TYPE[field.type];
    const column = { name: field.column, type, meaning: field.meaning };
    if (levels?.metric !== field) return [column];
    return [
      { name: levels.finerColumn, type, meaning: `${field.meaning}, counted by ${levels.finer.name}` },
      { ...column, meaning: `${field.meaning}, counted by ${levels.coarser.name}` },
    ];
  });

export const tableOf = (report: Report): Table => ({
  name: report.table,
  columns: [
    { name: TIME_COLUMN, type: 'timestamp', meaning: 'instant of the record, UTC' },
    ...columnsOf(report),
  ],
});

/** The tables of these reports. Throws if a column name is invalid or occurs twice, because reports would be wrong. */
export function tablesOf(reports: readonly Report[]): readonly Table[] {
  const tables = reports.map(tableOf);
  for (const { name, columns } of tables) {
    const fault = columnFault(name, [PARTITION_COLUMN, ...columns.map((column) => column.name)]);
    if (fault !== undefined) throw new TypeError(fault);
  }
  return tables;
}

/** The tables that hold the records, derived from the field catalogue. */
export const tables: readonly Table[] = tablesOf(reports);
