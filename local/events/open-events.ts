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
 * The session has to be in UTC.
 */
export async function openEvents(connection: DuckDBConnection, events: Events): Promise<void> {
  const directory = resolve(events.directory);
  if (/[*?[]/.test(directory))
    throw new EventsFault(`${directory} would be read as a pattern; move it to a path without *, ? and [`);
  await checkLayout(directory);
  const schema = quoteName(events.database);
  await connection.run(`CREATE SCHEMA ${schema}`);
  for (const table of tables) {
    // As Athena does, this leaves out what a writer hides while it is under way.
    const files = join(directory, table.name, `${PARTITION_COLUMN}=*`, '[!._]*.parquet');
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
  const listed = await connection.runAndReadAll(`SELECT file FROM glob(${quoteText(files)}) ORDER BY file`);
  for (const [file] of listed.getRowsJS() as [string][]) {
    await open(file).catch((error: Error) => {
      const [reason] = error.message.split('\n', 1);
      throw new EventsFault(`${file} is not a Parquet file (${reason}); replace or remove it`);
    });
  }
}
