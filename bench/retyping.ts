import { ok } from 'node:assert';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import papaparse from 'papaparse';
import { type CsvColumn, retypeCsv } from '../lib/csv/retype-csv.ts';
import { fieldOf, publisherReport } from '../lib/report/catalogue.ts';
import { duckDbOn } from '../local/athena/duckdb-engine.ts';
import { figure, goal, median, medianRatio, roundsAtMost, type Section, times } from './measuring.ts';
import { sqlOf } from './questions.ts';
import { sampleEvents } from './report-stack.ts';

/** The most bytes that a socket hands on at a time. */
const CHUNK_BYTES = 65_536;

const FILE_BYTES = 64_000_000;
const ROUNDS = roundsAtMost(5);

const question = {
  report: publisherReport,
  fields: ['DateTime', 'PlacementId', 'DeviceOrProxy', 'ServedAds', 'Opens', 'Clicks', 'Revenue'],
  firstDay: '2026-01-01',
  days: 28,
};
const columns: readonly CsvColumn[] = question.fields.map((name) => ({
  name,
  type: fieldOf(publisherReport, name)?.type ?? 'string',
}));
const isQuoted = columns.map(({ type }) => type === 'string' || type === 'datetime');

type Take = (chunk: Uint8Array) => void;

/** The report as Athena writes it, made by the stack's engine from the sample events. */
async function engineFile(): Promise<Buffer> {
  const scratchDirectory = await mkdtemp(join(tmpdir(), 'bench-'));
  const eventsDirectory = await sampleEvents(1_000_000);
  const engine = await duckDbOn(eventsDirectory)({ database: 'events', scratchDirectory });
  const { signal } = new AbortController();
  const { csvPath } = await engine.run({ id: 'report', sql: sqlOf(question), parameters: [], signal });
  const file = await readFile(csvPath);
  engine.close();
  await rm(scratchDirectory, { recursive: true });
  return file;
}

/** Gives the file in chunks, all in the same buffer, as a socket does: re-typing overwrites them. */
async function* chunksOf(file: Buffer) {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let at = 0; at < file.length; at += CHUNK_BYTES)
    yield chunk.subarray(0, file.copy(chunk, 0, at, at + CHUNK_BYTES));
}

/** A CSV file with its rows repeated until it has at least `bytes` bytes. */
function repeated(file: Buffer, bytes: number): Buffer {
  const rows = file.subarray(file.indexOf('\n') + 1);
  const repeats = Math.ceil(bytes / rows.length);
  return Buffer.concat([file.subarray(0, -rows.length), ...Array.from({ length: repeats }, () => rows)]);
}

async function ours(file: Buffer, take: Take) {
  for await (const chunk of retypeCsv(columns, chunksOf(file))) take(chunk);
}

/** Papa Parse takes texts, so it gets chunks of whole rows. The first column is a time: each row begins with `"2`. */
function papaParse(file: Buffer, take: Take) {
  const quotes = (value: unknown, column: number) => value !== '' && isQuoted[column] === true;
  for (let at = file.indexOf('\n"2') + 1, end = at; at < file.length; at = end) {
    end = at + CHUNK_BYTES < file.length ? file.lastIndexOf('\n"2', at + CHUNK_BYTES) + 1 : file.length;
    const { data } = papaparse.parse<string[]>(file.toString('utf8', at, end), { skipEmptyLines: true });
    take(Buffer.from(`${papaparse.unparse(data, { quotes, newline: '\n' })}\n`));
  }
}

/** DuckDB reads one file and writes another. Both are in the page cache. */
async function openRecopy(file: Buffer) {
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  const [from, to] = [join(directory, 'engine.csv'), join(directory, 'report.csv')];
  await writeFile(from, file);
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  const names = file.toString('utf8', 0, file.indexOf('\n')).split(',');
  const quoted = names.filter((_, index) => isQuoted[index]);
  return {
    copy: () =>
      connection.run(
        `COPY (SELECT * FROM read_csv('${from}', header = true, all_varchar = true, delim = ',', quote = '"'))
         TO '${to}' (FORMAT csv, HEADER false, FORCE_QUOTE (${quoted.join(', ')}))`,
      ),
    read: () => readFile(to),
    async close() {
      connection.closeSync();
      instance.closeSync();
      await rm(directory, { recursive: true });
    },
  };
}

/** Makes empty texts and NULL the same: Papa Parse can't tell them apart. */
const withoutEmptyTexts = (csv: Buffer): string => csv.toString().replaceAll(',"",', ',,');

/** Checks that every baseline makes the same rows as our code. Only the output of our code has a header. */
async function checkSameReport(file: Buffer, baselines: Readonly<Record<string, (take: Take) => unknown>>) {
  const outputOf = async (run: (take: Take) => unknown) => {
    const chunks: Buffer[] = [];
    await run((chunk) => chunks.push(Buffer.from(chunk)));
    return Buffer.concat(chunks);
  };
  const report = await outputOf((take) => ours(file, take));
  const rows = withoutEmptyTexts(report.subarray(report.indexOf('\n') + 1));
  for (const [name, run] of Object.entries(baselines))
    ok(withoutEmptyTexts(await outputOf(run)) === rows, `${name} makes another report`);
}

/** The least time of a measurement. It is long enough that errors of the clock and the scheduler don't matter. */
const LEAST_MS = 250;

/** The mean milliseconds of a run, over enough runs to fill `LEAST_MS`, after a garbage collection. */
async function meanMs(subject: () => unknown): Promise<number> {
  globalThis.gc?.();
  const from = performance.now();
  for (let runs = 1; ; runs++) {
    await subject();
    const ms = performance.now() - from;
    if (ms >= LEAST_MS) return ms / runs;
  }
}

/**
 * Measures every subject once per round, in turn, and gives the milliseconds of each. An additional first round warms
 * compilers and caches, and does not count.
 */
async function inTurn<Name extends string>(subjects: Readonly<Record<Name, () => unknown>>) {
  const names = Object.keys(subjects) as Name[];
  const ms = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (let round = 0; round <= ROUNDS; round++)
    for (const name of names) {
      const mean = await meanMs(subjects[name]);
      if (round > 0) ms[name].push(mean);
    }
  return ms;
}

export async function measure(): Promise<Section> {
  const file = repeated(await engineFile(), FILE_BYTES);
  const recopy = await openRecopy(file);
  await checkSameReport(file, {
    papaparse: (take) => papaParse(file, take),
    DuckDB: async (take) => {
      await recopy.copy();
      take(await recopy.read());
    },
  });

  const discard: Take = () => {};
  const elsewhere = Buffer.alloc(file.length);
  const ms = await inTurn({
    ours: () => ours(file, discard),
    papaparse: () => papaParse(file, discard),
    'DuckDB, `COPY` of `read_csv`, one thread': recopy.copy,
    'memory copy': () => file.copy(elsewhere),
  });
  await recopy.close();
  const faster = (name: keyof typeof ms) => medianRatio(ms[name], ms.ours);
  const duckDb = faster('DuckDB, `COPY` of `read_csv`, one thread');

  return {
    title: 'Re-typing the CSV',
    table: [
      ['', 'MB/s', 'ours is faster by'],
      ...(Object.keys(ms) as (keyof typeof ms)[]).map((name) => [
        name,
        figure(file.length / 1e3 / median(ms[name])),
        name === 'ours' ? '' : times(faster(name)),
      ]),
    ],
    goals: [
      goal('at least 20x Papa Parse', times(faster('papaparse')), faster('papaparse') >= 20, 'native code'),
      goal('at least 2x DuckDB', times(duckDb), duckDb >= 2),
    ],
  };
}
