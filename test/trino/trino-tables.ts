import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { quoteName, quoteText } from '../../lib/report/quote-sql.ts';
import { type ColumnType, PARTITION_COLUMN, type Table, tables } from '../../lib/report/tables.ts';
import type { OpenEngine } from '../../local/athena/query-engine.ts';
import { pagesOf, type TrinoCluster, trinoOn } from '../../local/trino/trino-engine.ts';

export const CATALOG = 'hive';

const TRINO_TYPE: Readonly<Record<ColumnType, string>> = {
  timestamp: 'timestamp(3)',
  bigint: 'bigint',
  varchar: 'varchar',
  'decimal(18,6)': 'decimal(18,6)',
};

/** Trino as the engine over a directory of events. Declares the tables of the events in a new schema. */
export const trinoOver =
  (url: string, eventsDirectory: string): OpenEngine =>
  async (options) =>
    trinoOn(await declareTables(url, eventsDirectory))(options);

/**
 * Declares the tables of the data contract over a directory of events, in a new schema.
 *
 * @param firstDay the first of the projected days, as in the deployed tables; without it, Trino lists the days
 */
export async function declareTables(
  url: string,
  eventsDirectory: string,
  firstDay?: string,
): Promise<TrinoCluster> {
  const schema = `events_${randomUUID().replaceAll('-', '')}`;
  const cluster = { url, user: 'test', catalog: CATALOG, schema };
  await runStatement(cluster, `CREATE SCHEMA ${schema}`);
  for (const table of tables) {
    await runStatement(cluster, tableDefinition(table, join(eventsDirectory, table.name), firstDay));
    const listing = `CALL system.sync_partition_metadata('${schema}', '${table.name}', 'FULL')`;
    if (firstDay === undefined) await runStatement(cluster, listing);
  }
  return cluster;
}

function tableDefinition({ name, columns }: Table, directory: string, firstDay: string | undefined): string {
  const definitions = columns.map((column) => `${quoteName(column.name)} ${TRINO_TYPE[column.type]}`);
  const projection =
    firstDay === undefined
      ? ''
      : `WITH (partition_projection_type = 'DATE', partition_projection_format = 'yyyy-MM-dd',
               partition_projection_range = ARRAY[${quoteText(firstDay)}, 'NOW'],
               partition_projection_interval = 1, partition_projection_interval_unit = 'DAYS')`;
  return `CREATE TABLE ${name} (${definitions.join(', ')}, ${PARTITION_COLUMN} varchar ${projection})
    WITH (format = 'PARQUET', partitioned_by = ARRAY['${PARTITION_COLUMN}'],
          ${firstDay === undefined ? '' : 'partition_projection_enabled = true,'}
          external_location = ${quoteText(`local://${directory}`)})`;
}

/** Runs a statement to its end, without its rows. Throws what `pagesOf` throws. */
export async function runStatement(cluster: TrinoCluster, sql: string): Promise<void> {
  for await (const _ of pagesOf(cluster, sql));
}
