import type { DuckDBConnection } from '@duckdb/node-api';
import type {
  DayFacts,
  FileFacts,
  FileFault,
  Footer,
  LakeFacts,
  ListedFile,
  TableFacts,
} from './lake-facts.ts';
import type { LakeSource } from './lake-source.ts';
import { layoutOf } from './layout.ts';
import { readFooters } from './read-footers.ts';
import { type DayFile, readValues } from './read-values.ts';
import { pageFault } from './verify-pages.ts';

export interface LakeReading {
  /** `footers` is quick and finds most faults. `records` reads everything. */
  readonly depth: 'footers' | 'records';
  /** The present UTC day. */
  readonly today: string;
  /** Called with what is being read, and with how much of it is done. */
  readonly onProgress?: (what: string, done: number, total: number) => void;
}

/** Files are fetched and read in batches of about this many bytes. */
const BATCH_BYTES = 256_000_000;

/** Reads a lake as the engines would. The connection's session has to be in UTC. */
export async function readLake(
  connection: DuckDBConnection,
  source: LakeSource,
  { depth, today, onProgress = () => {} }: LakeReading,
): Promise<LakeFacts> {
  const listed = await source.list();
  const layout = layoutOf(source.location, listed, today);
  const tables: TableFacts[] = [];
  for (const table of layout.tables) {
    const name = table.table.name;
    const digested = await withDigests(source, table);
    const withFooters = await addFooters(source, digested, (done, total) =>
      onProgress(`Reading the footers of ${name}`, done, total),
    );
    tables.push(
      depth === 'footers'
        ? withFooters
        : await addValues(connection, source, withFooters, (done, total) =>
            onProgress(`Reading the records of ${name}`, done, total),
          ),
    );
  }
  return { ...layout, tables };
}

const mapFiles = (table: TableFacts, change: (file: FileFacts, day: DayFacts) => FileFacts): TableFacts => ({
  ...table,
  days: table.days.map((day) => ({ ...day, files: day.files.map((file) => change(file, day)) })),
});

/** Adds the digests of files that may be copies of each other: files of one day with equal size. */
async function withDigests(source: LakeSource, table: TableFacts): Promise<TableFacts> {
  const digests = new Map<string, string>();
  for (const { files } of table.days)
    for (const alike of Map.groupBy(files, ({ size }) => size).values())
      for (const file of alike.length > 1 ? alike : []) digests.set(file.path, await source.digestOf(file));
  return mapFiles(table, (file) => {
    const digest = digests.get(file.path);
    return digest === undefined ? file : { ...file, digest };
  });
}

async function addFooters(
  source: LakeSource,
  table: TableFacts,
  onProgress: (done: number, total: number) => void,
): Promise<TableFacts> {
  const listed = table.days.flatMap(({ files }) => files).filter(({ size }) => size > 0);
  const footers = new Map<string, Footer | FileFault>();
  onProgress(0, listed.length);
  for (let start = 0; start < listed.length; start += FOOTERS_AT_ONCE) {
    const batch = listed.slice(start, start + FOOTERS_AT_ONCE);
    await using local = await source.footersOf(batch);
    for (const [id, footer] of await readFooters(local.files)) footers.set(id, footer);
    onProgress(start + batch.length, listed.length);
  }
  return mapFiles(table, (file) => {
    const footer = footers.get(file.path);
    if (footer === undefined) return file;
    return 'found' in footer ? { ...file, fault: footer } : { ...file, footer };
  });
}

/** How many files of a bucket have their footers on this machine at once. */
const FOOTERS_AT_ONCE = 1_000;

async function addValues(
  connection: DuckDBConnection,
  source: LakeSource,
  table: TableFacts,
  onProgress: (done: number, total: number) => void,
): Promise<TableFacts> {
  const readable = table.days.flatMap(({ day, files }) =>
    files.flatMap((file) => (file.footer ? [{ ...file, day, footer: file.footer }] : [])),
  );
  const total = readable.reduce((sum, { size }) => sum + size, 0);
  const values: FileFacts[] = [];
  const companies = new Set<string>();
  let done = 0;
  onProgress(done, total);
  for (const batch of batchesOf(readable)) {
    await using local = await source.filesOf(batch);
    const paths = new Map(local.files.map(({ id, path }) => [id, path]));
    const files: DayFile[] = batch.map(({ path, day, footer }) => ({
      id: path,
      path: paths.get(path) as string,
      day,
      footer,
    }));
    const damages = new Map<string, FileFault | undefined>();
    for (const { id, path, footer } of files) damages.set(id, await pageFault(path, footer));
    const read = await readValues(
      connection,
      table,
      files.filter(({ id }) => !damages.get(id)),
    );
    for (const company of read.companies) companies.add(company);
    for (const { day: _, ...file } of batch) {
      const found = read.values.get(file.path);
      const fault = damages.get(file.path) ?? read.unreadable.get(file.path);
      values.push({ ...file, ...(found && { values: found }), ...(fault && { fault }) });
    }
    done += batch.reduce((sum, { size }) => sum + size, 0);
    onProgress(done, total);
  }
  const byPath = new Map(values.map((file) => [file.path, file]));
  return { ...mapFiles(table, (file) => byPath.get(file.path) ?? file), companies: companies.size };
}

/** Batches of consecutive files. A batch has up to BATCH_BYTES, or is a single file. */
function* batchesOf<File extends ListedFile>(files: readonly File[]): Generator<File[]> {
  let batch: File[] = [];
  let bytes = 0;
  for (const file of files) {
    if (batch.length > 0 && bytes + file.size > BATCH_BYTES) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(file);
    bytes += file.size;
  }
  if (batch.length > 0) yield batch;
}
