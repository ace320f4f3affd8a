import type { DuckDBConnection } from '@duckdb/node-api';
import { type Finding, sortFindings } from './finding.ts';
import { type FileFacts, filesOf, type LakeFacts, type ListedFile, type TableFacts } from './lake-facts.ts';
import type { LakeSource } from './lake-source.ts';
import { layoutOf } from './layout.ts';
import { readFooters } from './read-footers.ts';
import { readValues } from './read-values.ts';
import { columnRules } from './rules/column-rules.ts';
import { layoutRules } from './rules/layout-rules.ts';
import { protocolRules } from './rules/protocol-rules.ts';
import { valueRules } from './rules/value-rules.ts';

const RULES = [...layoutRules, ...columnRules, ...valueRules, ...protocolRules];

/** All findings about the lake, the worst first. */
export const judge = (lake: LakeFacts): Finding[] => sortFindings(RULES.flatMap((rule) => rule(lake)));

export interface LakeReading {
  /** `footers` is quick and finds most faults. `records` reads everything. */
  readonly depth: 'footers' | 'records';
  /** The present UTC day. */
  readonly today: string;
  /** Called with what is being read, and with how much of it is done. */
  readonly onProgress?: (what: string, done: number, total: number) => void;
}

/** Reads a lake as the engines would. The connection's session has to be in UTC. */
export async function readLake(
  connection: DuckDBConnection,
  source: LakeSource,
  { depth, today, onProgress = () => {} }: LakeReading,
): Promise<LakeFacts> {
  const layout = layoutOf(source.location, await source.list(), today);
  const tables: TableFacts[] = [];
  for (const listed of layout.tables) {
    const note = (part: string) => (done: number, total: number) =>
      onProgress(`Reading the ${part} of ${listed.table.name}`, done, total);
    const table = await addFooters(source, await addDigests(source, listed), note('footers'));
    tables.push(depth === 'footers' ? table : await addValues(connection, source, table, note('records')));
  }
  return { ...layout, tables };
}

type OnProgress = (done: number, total: number) => void;

const added = (table: TableFacts, facts: ReadonlyMap<string, Partial<FileFacts>>): TableFacts => ({
  ...table,
  days: table.days.map((day) => ({
    ...day,
    files: day.files.map((file) => ({ ...file, ...facts.get(file.path) })),
  })),
});

/** Adds the digests of files that may be copies of each other: files of one day with equal size. */
async function addDigests(source: LakeSource, table: TableFacts): Promise<TableFacts> {
  const facts = new Map<string, Partial<FileFacts>>();
  for (const { files } of table.days)
    for (const alike of Map.groupBy(files, ({ size }) => size).values())
      for (const file of alike.length > 1 ? alike : [])
        facts.set(file.path, { digest: await source.digestOf(file) });
  return added(table, facts);
}

/** How many files of a bucket have their footers on this machine at once. */
const FOOTERS_AT_ONCE = 1_000;

async function addFooters(source: LakeSource, table: TableFacts, onProgress: OnProgress) {
  const listed = filesOf(table).filter(({ size }) => size > 0);
  const facts = new Map<string, Partial<FileFacts>>();
  for (const batch of batchesOf(listed, () => 1, FOOTERS_AT_ONCE, onProgress)) {
    await using local = await source.footersOf(batch);
    for (const [id, footer] of await readFooters(local.files))
      facts.set(id, 'found' in footer ? { fault: footer } : { footer });
  }
  return added(table, facts);
}

/** Files are fetched and read in batches of about this many bytes. */
const BATCH_BYTES = 256_000_000;

async function addValues(
  connection: DuckDBConnection,
  source: LakeSource,
  table: TableFacts,
  onProgress: OnProgress,
): Promise<TableFacts> {
  const readable = table.days.flatMap(({ day, files }) =>
    files.flatMap(({ footer, ...file }) => (footer ? [{ ...file, day, footer }] : [])),
  );
  const byPath = new Map(readable.map((file) => [file.path, file]));
  const facts = new Map<string, Partial<FileFacts>>();
  for (const batch of batchesOf(readable, ({ size }) => size, BATCH_BYTES, onProgress)) {
    await using local = await source.filesOf(batch);
    const files = local.files.map((file) => ({ ...(byPath.get(file.id) as (typeof batch)[0]), ...file }));
    await readValues(connection, table, files, facts);
  }
  return added(table, facts);
}

/** Batches of consecutive files. A batch weighs up to `most`, or is a single file. */
function* batchesOf<File extends ListedFile>(
  files: readonly File[],
  weight: (file: File) => number,
  most: number,
  onProgress: OnProgress,
): Generator<File[]> {
  const total = files.reduce((sum, file) => sum + weight(file), 0);
  let done = 0;
  for (let from = 0, end = 0; from < files.length; from = end) {
    onProgress(done, total);
    let inBatch = 0;
    for (let file = files[end]; file && (end === from || inBatch + weight(file) <= most); file = files[++end])
      inBatch += weight(file);
    yield files.slice(from, end);
    done += inBatch;
  }
  onProgress(done, total);
}
