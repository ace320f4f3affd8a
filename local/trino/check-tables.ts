import { quoteName } from '../../lib/report/quote-sql.ts';
import {
  type Column,
  type ColumnType,
  PARTITION_COLUMN,
  type Table,
  tables,
} from '../../lib/report/tables.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import { QueryFailure } from '../athena/query-failure.ts';
import type { TrinoCluster } from './trino-cluster.ts';
import { pagesOf } from './trino-statement.ts';

/** The column types with which reports are exact to the last digit, by their names in Trino's protocol. */
const FITTING: Readonly<Record<ColumnType, RegExp>> = {
  timestamp: /^timestamp(\(\d+\))?$/,
  bigint: /^bigint$/,
  varchar: /^varchar(\(\d+\))?$/,
  'decimal(18,6)': /^decimal\(\d+, ?6\)$/,
};

/**
 * Checks that the cluster holds the tables of the data contract. Rejects with an OperatorFault that names what is
 * missing or wrong.
 */
export async function checkTables(cluster: TrinoCluster): Promise<void> {
  for (const table of tables) {
    const columns: Pick<Column, 'name' | 'type'>[] = [
      ...table.columns,
      { name: PARTITION_COLUMN, type: 'varchar' },
    ];
    const found = await typesOf(cluster, table, columns);
    for (const [index, { name, type }] of columns.entries())
      if (!FITTING[type].test(found[index] ?? ''))
        throw new OperatorFault(
          `${table.name} holds ${name} as ${found[index]}; the data contract has ${type}.`,
        );
  }
}

async function typesOf(
  cluster: TrinoCluster,
  { name }: Table,
  columns: readonly Pick<Column, 'name'>[],
): Promise<string[]> {
  const names = columns.map((column) => quoteName(column.name)).join(', ');
  let types: string[] = [];
  try {
    for await (const page of pagesOf(cluster, `SELECT ${names} FROM ${name} LIMIT 0`))
      types = page.columns?.map(({ type }) => type) ?? types;
  } catch (error) {
    if (error instanceof QueryFailure)
      throw new OperatorFault(
        `${error.message}. Set TRINO_CATALOG and TRINO_SCHEMA to where the tables are.`,
      );
    const { message, cause } = error as Error;
    throw new OperatorFault(
      `${cluster.url} can't be asked: ${cause instanceof Error ? cause.message : message}`,
    );
  }
  return types;
}
