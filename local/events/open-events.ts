import { glob } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName, quoteText } from '../../lib/report/quote-sql.ts';
import { PARTITION_COLUMN, tables } from '../../lib/report/tables.ts';
import { checkColumns } from './check-columns.ts';
import { checkLayout } from './check-layout.ts';
import { EventsFault } from './events-fault.ts';

export interface Events {
  /** Holds `publisher_events/day=YYYY-MM-DD/*.parquet` and `advertiser_events/…`. */
  readonly directory: string;
  /** The schema that the tables appear in. */
  readonly database: string;
}

/**
 * Checks a directory of events and makes a view of each table, in a schema named after the database. Files and
 * days that are added later are seen by the next query. Throws an EventsFault that names the fault and the cure.
 */
export async function openEvents(connection: DuckDBConnection, events: Events): Promise<void> {
  const directory = resolve(events.directory);
  await checkLayout(directory);
  const schema = quoteName(events.database);
  await connection.run(`CREATE SCHEMA ${schema}`);
  for (const table of tables) {
    const files = join(directory, table.name, `${PARTITION_COLUMN}=*`, '*.parquet');
    await checkReadable(connection, files);
    const columns = await checkColumns(connection, table, files);
    await connection.run(
      `CREATE VIEW ${schema}.${quoteName(table.name)} AS SELECT ${columns}, ${quoteName(PARTITION_COLUMN)}
       FROM read_parquet(${quoteText(files)}, hive_partitioning = true,
                         hive_types = {${quoteText(PARTITION_COLUMN)}: VARCHAR})`,
    );
  }
}

/** Finds the file that can't be read as Parquet, if there is one. */
async function checkReadable(connection: DuckDBConnection, files: string): Promise<void> {
  const open = (path: string) => connection.run(`SELECT 1 FROM parquet_schema(${quoteText(path)}) LIMIT 1`);
  // DuckDB says in prose, differing from fault to fault, which of many files it is; so they are tried one by one.
  await open(files).catch(async () => {
    for await (const file of glob(files))
      await open(file).catch((error: Error) => {
        throw new EventsFault(
          `${file} is not a Parquet file (${firstLine(error.message)}); replace or remove it`,
        );
      });
  });
}

const firstLine = (text: string): string => text.split('\n', 1)[0] as string;
