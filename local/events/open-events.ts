import { resolve } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { type Finding, isHarmless, lineOf } from '../../lake-check/finding.ts';
import type { TableFacts } from '../../lake-check/lake-facts.ts';
import { folderSource } from '../../lake-check/lake-source.ts';
import { judge, readLake } from '../../lake-check/read-lake.ts';
import { quoteName } from '../../lib/report/quote-sql.ts';
import { type Table, tables } from '../../lib/report/tables.ts';
import { utcDay } from '../../lib/report/utc-time.ts';
import { counted } from '../../lib/terminal/counted.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import type { OnProgress } from '../../lib/terminal/progress.ts';
import { type CheckedFiles, checkFiles, emptySelect, tableSelect, unreadFiles } from './table-files.ts';

export interface Events {
  /** Holds `publisher_events/day=YYYY-MM-DD/<Parquet files>` and `advertiser_events/…`. */
  readonly directory: string;
  /** The schema of the tables. */
  readonly database: string;
  /** A directory for unfinished results, and for files that stand for what can't be read. */
  readonly scratchDirectory: string;
  /** Called with each warning about events that are served nevertheless. */
  readonly onWarning?: (line: string) => void;
  /** Called with the progress of reading the footers. */
  readonly onProgress?: OnProgress;
}

export type OpenedEvents = Awaited<ReturnType<typeof openEvents>>;

/**
 * Checks a directory of events by the footers of its files, and makes a view of each table. The views are in a schema
 * named after the database. If files or days are added later, the next query sees them. Throws an OperatorFault that
 * names every fault and its cure. The sessions have to be in UTC.
 */
export async function openEvents(connection: DuckDBConnection, events: Events) {
  const directory = resolve(events.directory);
  const schema = quoteName(events.database);
  const checked = new Map<Table, CheckedFiles>();
  const show = async (on: DuckDBConnection, table: Table, files: CheckedFiles) => {
    const select =
      files.size > 0 ? tableSelect(directory, events.scratchDirectory, table, files) : emptySelect(table);
    await on.run(`CREATE OR REPLACE VIEW ${schema}.${quoteName(table.name)} AS ${select}`);
  };
  const lookAgain = async (on: DuckDBConnection, sql: string) => {
    const text = sql.toLowerCase();
    for (const [table, before] of checked) {
      if (!text.includes(table.name)) continue;
      const files = await checkFiles(directory, table, before);
      const isNew = before.size === 0 && files.size > 0;
      if (isNew) await assertUsable(on, directory, events, (facts) => facts.table.name === table.name);
      if (isNew || viewFacts(files) !== viewFacts(before)) await show(on, table, files);
      checked.set(table, files);
    }
  };

  // The stamps are taken before the files are read. A file that changes meanwhile is then read again before the first
  // query.
  for (const table of tables) checked.set(table, await unreadFiles(directory, table));
  await assertUsable(connection, directory, events);
  await connection.run(`CREATE SCHEMA ${schema}`);
  for (const [table, files] of checked) await show(connection, table, files);
  // Updates run one after another: otherwise two queries that see the same change would both replace the view.
  let looked: Promise<void> = Promise.resolve();
  return {
    /**
     * Call it before a query. For each table in the query's text, it updates the view if the table got its first file,
     * lost its last one, or has files with other types than before.
     */
    follow(on: DuckDBConnection, sql: string): Promise<void> {
      const look = looked.then(() => lookAgain(on, sql));
      looked = look.catch(() => {});
      return look;
    },
  };
}

/** What a table's view depends on. */
const viewFacts = (files: CheckedFiles): string =>
  JSON.stringify([...files].map(([path, entry]) => [path, { ...entry, stamp: undefined }]));

/** Throws if reports of the chosen tables would fail or be wrong. */
async function assertUsable(
  connection: DuckDBConnection,
  directory: string,
  { onWarning = () => {}, onProgress }: Events,
  isLookedAt: (facts: TableFacts) => boolean = () => true,
): Promise<void> {
  const lake = await readLake(connection, folderSource(directory, true), {
    depth: 'footers',
    today: utcDay(Date.now()),
    ...(onProgress && { onProgress }),
  });
  const findings = judge({ ...lake, tables: lake.tables.filter(isLookedAt) });
  const faults = findings.filter((finding) => !isHarmless(finding));
  if (faults.length > 0) throw new OperatorFault(messageOf(directory, faults));
  for (const finding of findings) if (finding.severity === 'warning') onWarning(lineOf(finding));
}

/** One fault gets one line. Several faults get a heading, and a line each. */
function messageOf(directory: string, faults: readonly Finding[]): string {
  const [first] = faults;
  if (first && faults.length === 1) return `${directory}: ${lineOf(first)}`;
  const lines = faults.map((fault, index) => `  ${index + 1}. ${lineOf(fault)}`);
  return [`${directory} can't be served; ${counted(faults.length, 'fault')}:`, ...lines].join('\n');
}
