import { join, resolve } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName } from '../../lib/report/quote-sql.ts';
import { tables } from '../../lib/report/tables.ts';
import { utcDay } from '../../lib/report/utc-time.ts';
import { type Finding, isHarmless, lineOf } from '../lake/finding.ts';
import { folderSource } from '../lake/folder-source.ts';
import { filesOf, type LakeFacts, type TableFacts } from '../lake/lake-facts.ts';
import { layoutOf } from '../lake/layout.ts';
import { hasFiles } from '../lake/list-folder.ts';
import { readLake } from '../lake/read-lake.ts';
import { judge } from '../lake/rules.ts';
import { EventsFault } from './events-fault.ts';
import { tableSelect } from './table-select.ts';

export interface Events {
  /** Holds `publisher_events/day=YYYY-MM-DD/<Parquet files>` and `advertiser_events/…`. */
  readonly directory: string;
  /** The schema that the tables appear in. */
  readonly database: string;
  /** Called with each warning for the operator about events that can be served. */
  readonly onWarning?: (line: string) => void;
}

/** The tables of a directory as views, which follow the directory. */
export interface OpenedEvents {
  /** To be called before a query: updates the view of a table that got its first files or lost its last ones. */
  follow(connection: DuckDBConnection): Promise<void>;
}

/**
 * Checks a directory of events by what its files' footers tell, and makes a view of each table, in a schema named
 * after the database. Files and days that are added later are seen by the next query. Throws an EventsFault that
 * names every fault and its cure. The sessions have to be in UTC.
 */
export async function openEvents(connection: DuckDBConnection, events: Events): Promise<OpenedEvents> {
  const directory = resolve(events.directory);
  if (/[*?[]/.test(directory))
    throw new EventsFault(`${directory} would be read as a pattern; move it to a path without *, ? and [`);
  const schema = quoteName(events.database);
  /** The tables whose views read files. DuckDB refuses to read a pattern that finds none. */
  const withFiles = new Set<string>();
  const show = async (on: DuckDBConnection, facts: TableFacts) => {
    const { name } = facts.table;
    await on.run(`CREATE OR REPLACE VIEW ${schema}.${quoteName(name)} AS ${tableSelect(directory, facts)}`);
    if (filesOf(facts).length > 0) withFiles.add(name);
    else withFiles.delete(name);
  };
  const lookAgain = async (on: DuckDBConnection) => {
    const changed = new Map<string, boolean>();
    for (const { name } of tables) {
      const isRead = await hasFiles(join(directory, name));
      if (isRead !== withFiles.has(name)) changed.set(name, isRead);
    }
    if (changed.size === 0) return;
    const hasMore = [...changed.values()].includes(true);
    const isChanged = ({ table }: TableFacts) => changed.has(table.name);
    const { tables: found } = hasMore
      ? await soundLake(on, directory, events, isChanged)
      : layoutOf(directory, [], today());
    for (const facts of found.filter(isChanged)) await show(on, facts);
  };

  const lake = await soundLake(connection, directory, events);
  await connection.run(`CREATE SCHEMA ${schema}`);
  for (const facts of lake.tables) await show(connection, facts);
  // One after another: two that see the same change would both make the view.
  let looked: Promise<void> = Promise.resolve();
  return {
    follow(on) {
      const look = looked.then(() => lookAgain(on));
      looked = look.catch(() => {});
      return look;
    },
  };
}

const today = () => utcDay(Date.now());

/** What the directory holds; throws where reports of the tables that are looked at would fail or be wrong. */
async function soundLake(
  connection: DuckDBConnection,
  directory: string,
  { onWarning = () => {} }: Events,
  isLookedAt: (facts: TableFacts) => boolean = () => true,
): Promise<LakeFacts> {
  const lake = await readLake(connection, folderSource(directory), { depth: 'footers', today: today() });
  const findings = judge({ ...lake, tables: lake.tables.filter(isLookedAt) });
  const faults = findings.filter((finding) => !isHarmless(finding));
  if (faults.length > 0) throw new EventsFault(messageOf(directory, faults));
  for (const finding of findings) if (finding.severity === 'warning') onWarning(lineOf(finding));
  return lake;
}

/** One fault in one line; several under a heading, a line each. */
function messageOf(directory: string, faults: readonly Finding[]): string {
  const [first] = faults;
  if (first && faults.length === 1) return `${directory}: ${lineOf(first)}`;
  const lines = faults.map((fault, index) => `  ${index + 1}. ${lineOf(fault)}`);
  return [`${directory} can't be served; ${faults.length} faults:`, ...lines].join('\n');
}
