import { resolve } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName } from '../../lib/report/quote-sql.ts';
import { utcDay } from '../../lib/report/utc-time.ts';
import { type Finding, isHarmless, lineOf } from '../lake/finding.ts';
import { folderSource } from '../lake/folder-source.ts';
import { readLake } from '../lake/read-lake.ts';
import { judge } from '../lake/rules.ts';
import { EventsFault } from './events-fault.ts';
import { tableSelect } from './table-select.ts';

export interface Events {
  /** Holds `publisher_events/day=YYYY-MM-DD/<Parquet files>` and `advertiser_events/…`. */
  readonly directory: string;
  /** The schema that the tables appear in. */
  readonly database: string;
  /** Told what the operator should know of events that can be served. */
  readonly onWarning?: (line: string) => void;
}

/**
 * Checks a directory of events by what its files' footers tell, and makes a view of each table, in a schema named
 * after the database. Files and days that are added later are seen by the next query. Throws an EventsFault that
 * names every fault and its cure. The session has to be in UTC.
 */
export async function openEvents(connection: DuckDBConnection, events: Events): Promise<void> {
  const directory = resolve(events.directory);
  if (/[*?[]/.test(directory))
    throw new EventsFault(`${directory} would be read as a pattern; move it to a path without *, ? and [`);
  const lake = await readLake(connection, folderSource(directory), {
    depth: 'footers',
    today: utcDay(Date.now()),
  });
  const findings = judge(lake);
  const faults = findings.filter((finding) => !isHarmless(finding));
  if (faults.length > 0) throw new EventsFault(messageOf(directory, faults));
  for (const finding of findings) if (finding.severity === 'warning') events.onWarning?.(lineOf(finding));

  const schema = quoteName(events.database);
  await connection.run(`CREATE SCHEMA ${schema}`);
  for (const table of lake.tables)
    await connection.run(
      `CREATE VIEW ${schema}.${quoteName(table.table.name)} AS ${tableSelect(directory, table)}`,
    );
}

/** One fault in one line; several under a heading, a line each. */
function messageOf(directory: string, faults: readonly Finding[]): string {
  const [first] = faults;
  if (first && faults.length === 1) return `${directory}: ${lineOf(first)}`;
  const lines = faults.map((fault, index) => `  ${index + 1}. ${lineOf(fault)}`);
  return [`${directory} can't be served; ${faults.length} faults:`, ...lines].join('\n');
}
