import { ok } from 'node:assert';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { parse } from 'csv-parse';
import { stringify } from 'csv-stringify';
import papaparse from 'papaparse';
import { type Field, publisherReport } from '../lib/report/catalogue.ts';
import { type CsvColumn, retypeCsv } from '../lib/report/retype-csv.ts';
import { openDuckDb } from '../local/athena/duckdb-engine.ts';
import { sqlOf } from './questions.ts';
import { sampleEvents } from './report-stack.ts';
import type { Section } from './section.ts';
import { figure, inTurn, median, medianRatio, times } from './statistics.ts';

const FILE_BYTES = 64_000_000;
const ROUNDS = 5;
/** What a socket hands on at a time, at the most. */
const CHUNK_BYTES = 65_536;
const MEMORY_SIZES = [10_000_000, 100_000_000, 1_000_000_000];

const question = {
  report: publisherReport,
  fields: ['DateTime', 'PlacementId', 'DeviceOrProxy', 'ServedAds', 'Opens', 'Clicks', 'Revenue'],
  firstDay: '2026-01-01',
  days: 28,
};
const columns: CsvColumn[] = question.fields.map((name) => ({
  name,
  type: (publisherReport.fields[name] as Field).type,
}));
const isQuoted = columns.map(({ type }) => type === 'string' || type === 'datetime');

/** The engine's file for a report of the sample events, its rows repeated until it is large enough. */
async function engineFile(bytes: number): Promise<Buffer> {
  const scratchDirectory = await mkdtemp(join(tmpdir(), 'bench-'));
  const engine = await openDuckDb({
    eventsDirectory: await sampleEvents(1_000_000),
    database: 'events',
    scratchDirectory,
  });
  const { csvPath } = await engine.run({
    id: 'report',
    sql: sqlOf(question),
    parameters: [],
    signal: new AbortController().signal,
  });
  const file = await readFile(csvPath);
  engine.close();
  await rm(scratchDirectory, { recursive: true });
  const rows = file.subarray(file.indexOf('\n') + 1);
  const repeats = Math.ceil(bytes / rows.length);
  return Buffer.concat([file.subarray(0, -rows.length), ...Array.from({ length: repeats }, () => rows)]);
}

/** The file as it comes from a socket that fills one buffer again and again: ours overwrites its chunks. */
async function* chunksOf(file: Buffer) {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let at = 0; at < file.length; at += CHUNK_BYTES)
    yield chunk.subarray(0, file.copy(chunk, 0, at, at + CHUNK_BYTES));
}

/** The same for those who keep their chunks for a while. */
function* slicesOf(file: Buffer) {
  for (let at = 0; at < file.length; at += CHUNK_BYTES) yield file.subarray(at, at + CHUNK_BYTES);
}

type Take = (chunk: Uint8Array) => void;

async function ours(file: Buffer, take: Take) {
  for await (const chunk of retypeCsv(columns, chunksOf(file))) take(chunk);
}

/** What a stream does that does not work in place, before it has looked at a byte. */
async function newMemory(file: Buffer, take: Take) {
  for await (const chunk of chunksOf(file)) take(Uint8Array.from(chunk));
}

/** What the kernel's memory costs, which is apart from all other: each chunk into it, and nearly all of it back. */
async function kernelCopies(file: Buffer) {
  const kernelMemory = Buffer.alloc(2 * CHUNK_BYTES);
  for await (const chunk of chunksOf(file)) {
    kernelMemory.set(chunk, CHUNK_BYTES);
    chunk.set(kernelMemory.subarray(0, chunk.length));
  }
}

/** A number's text, which the writer must not take for a text. Telling it so value by value would slow it by half. */
class Digits {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

async function csvLibrary(file: Buffer, take: Take) {
  const on_record = (record: string[]): unknown => {
    const typed: unknown[] = record;
    for (const [index, value] of record.entries())
      if (value === '') typed[index] = null;
      else if (!isQuoted[index]) typed[index] = new Digits(value);
    return typed;
  };
  await pipeline(
    Readable.from(slicesOf(file), { objectMode: false }),
    parse({ from_line: 2, on_record: on_record as (record: string[]) => string[] }),
    stringify({ quoted_string: true, cast: { object: (value) => (value as unknown as Digits).text } }),
    async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) take(chunk);
    },
  );
}

function papaParse(file: Buffer, take: Take) {
  const { data } = papaparse.parse<string[]>(file.toString(), { skipEmptyLines: true });
  const quotes = (value: unknown, column: number) => value !== '' && isQuoted[column] === true;
  take(Buffer.from(`${papaparse.unparse(data.slice(1), { quotes, newline: '\n' })}\n`));
}

/** DuckDB reads and writes files: this one lies in the page cache. */
async function openRecopy(file: Buffer) {
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  const [from, to] = [join(directory, 'engine.csv'), join(directory, 'report.csv')];
  await writeFile(from, file);
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  const quoted = question.fields.filter((_, index) => isQuoted[index]).map((name) => `"${name}"`);
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

/** What the CSV libraries can't tell apart, an empty text and NULL. */
const withoutEmptyTexts = (csv: Buffer): string => csv.toString().replaceAll(',"",', ',,');

/** Each must make the same report; ours has its header in front. */
async function checkSameReport(file: Buffer, rivals: Readonly<Record<string, (take: Take) => unknown>>) {
  const outputOf = async (run: (take: Take) => unknown) => {
    const chunks: Buffer[] = [];
    await run((chunk) => chunks.push(Buffer.from(chunk)));
    return Buffer.concat(chunks);
  };
  const report = await outputOf((take) => ours(file, take));
  const rows = withoutEmptyTexts(report.subarray(report.indexOf('\n') + 1));
  for (const [name, run] of Object.entries(rivals))
    ok(withoutEmptyTexts(await outputOf(run)) === rows, `${name} makes another report`);
}

async function memoryOf(bytes: number): Promise<number> {
  const alone = join(import.meta.dirname, 'retyping-alone.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [alone, String(bytes)]);
  return Number(stdout);
}

const valuesIn = (file: Buffer): number => columns.length * (file.toString('latin1').split('\n').length - 1);

const megabytes = (bytes: number) => `${figure(bytes / 1e6)} MB`;

export async function measure(): Promise<Section> {
  const file = await engineFile(FILE_BYTES);
  const recopy = await openRecopy(file);
  const small = file.subarray(0, file.indexOf('\n', 2_000_000) + 1);
  const smallRecopy = await openRecopy(small);
  await checkSameReport(small, {
    'csv-parse | csv-stringify': (take) => csvLibrary(small, take),
    papaparse: (take) => papaParse(small, take),
    DuckDB: async (take) => {
      await smallRecopy.copy();
      take(await smallRecopy.read());
    },
  });
  await smallRecopy.close();

  const discard: Take = () => {};
  const elsewhere = Buffer.alloc(file.length);
  const ms = await inTurn(
    {
      ours: () => ours(file, discard),
      'csv-parse \\| csv-stringify': () => csvLibrary(file, discard),
      papaparse: () => papaParse(file, discard),
      'DuckDB, `COPY` of `read_csv`, one thread': recopy.copy,
      'memory copy': () => file.copy(elsewhere),
      'memory copy, each chunk into new memory': () => newMemory(file, discard),
      "of ours: the chunks, into the kernel's memory and back": () => kernelCopies(file),
    },
    ROUNDS,
  );
  await recopy.close();
  const faster = (name: keyof typeof ms) => medianRatio(ms[name], ms.ours);
  const library = Math.min(faster('csv-parse \\| csv-stringify'), faster('papaparse'));
  const duckDb = faster('DuckDB, `COPY` of `read_csv`, one thread');
  const copy = faster('memory copy');
  const kernelMs = median(ms.ours) - median(ms["of ours: the chunks, into the kernel's memory and back"]);

  const memory: number[] = [];
  for (const size of MEMORY_SIZES) memory.push(await memoryOf(size));
  const growth = (memory.at(-1) ?? Number.NaN) - (memory[0] ?? Number.NaN);
  return {
    title: 'Re-typing the CSV',
    method:
      `Athena's file of a report (${columns.length} columns, ${megabytes(file.length)}) into the report's, in chunks ` +
      `of 64 KiB, one core, ${ROUNDS} rounds in turn. All make the same bytes, which is checked; but the CSV libraries ` +
      "can't tell NULL from an empty text. The memory copy takes the whole file at once.",
    table: [
      ['', 'MB/s', 'ours is faster by'],
      ...(Object.keys(ms) as (keyof typeof ms)[]).map((name) => [
        name,
        figure(file.length / 1e3 / median(ms[name])),
        name === 'ours' ? '' : times(faster(name)),
      ]),
      ...MEMORY_SIZES.map((size, index) => [
        `ours, the process re-typing ${megabytes(size)}`,
        `+${megabytes(memory[index] ?? Number.NaN)} of memory`,
        '',
      ]),
    ],
    reading:
      `A kernel in WebAssembly sees no memory but its own, so that every byte is copied in and out; without that it does ` +
      `${figure(file.length / 1e3 / kernelMs)} MB/s, ${times(median(ms['memory copy']) / kernelMs)} of the memory copy. ` +
      `This report has a value to every ${figure(file.length / valuesIn(file))} bytes.`,
    goals: [
      { goal: 'at least 20x the CSV libraries', measured: times(library), isMet: library >= 20 },
      { goal: 'at least 2x DuckDB', measured: times(duckDb), isMet: duckDb >= 2 },
      { goal: 'at least 0.25x a memory copy', measured: times(copy), isMet: copy >= 0.25 },
      {
        goal: 'memory flat from 10 MB to 1 GB',
        measured: `${growth < 0 ? '−' : '+'}${megabytes(Math.abs(growth))}`,
        isMet: growth < 16e6,
      },
    ],
  };
}
