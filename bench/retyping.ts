import { ok } from 'node:assert';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { retypeCsv } from '../lib/csv/retype-csv.ts';
import { publisherReport } from '../lib/report/catalogue.ts';
import { chunksOf, columnsOf, engineFile, repeated } from './engine-file.ts';
import { csvLibrary, openRecopy, papaParse, type Take } from './retyping-baselines.ts';
import type { Section } from './section.ts';
import { roundsAtMost } from './size.ts';
import { figure, inTurn, median, medianRatio, times } from './statistics.ts';

const FILE_BYTES = 64_000_000;
const ROUNDS = roundsAtMost(5);
const MEMORY_SIZES = [10_000_000, 100_000_000, 1_000_000_000];

const question = {
  report: publisherReport,
  fields: ['DateTime', 'PlacementId', 'DeviceOrProxy', 'ServedAds', 'Opens', 'Clicks', 'Revenue'],
  firstDay: '2026-01-01',
  days: 28,
};
const columns = columnsOf(question);
const isQuoted = columns.map(({ type }) => type === 'string' || type === 'datetime');

async function ours(file: Buffer, take: Take) {
  for await (const chunk of retypeCsv(columns, chunksOf(file))) take(chunk);
}

/** Makes empty texts and NULL the same: the CSV libraries can't tell them apart. */
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

async function memoryOf(bytes: number): Promise<number> {
  const alone = join(import.meta.dirname, 'retyping-alone.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [alone, String(bytes)]);
  return Number(stdout);
}

const valuesIn = (file: Buffer): number => columns.length * (file.toString('latin1').split('\n').length - 1);

const megabytes = (bytes: number) => `${figure(bytes / 1e6)} MB`;

export async function measure(): Promise<Section> {
  const file = repeated(await engineFile(question, 1_000_000), FILE_BYTES);
  const engine = { file, isQuoted };
  const recopy = await openRecopy(engine);
  await checkSameReport(file, {
    'csv-parse | csv-stringify': (take) => csvLibrary(engine, take),
    papaparse: (take) => papaParse(engine, take),
    DuckDB: async (take) => {
      await recopy.copy();
      take(await recopy.read());
    },
  });

  const discard: Take = () => {};
  const elsewhere = Buffer.alloc(file.length);
  const ms = await inTurn(
    {
      ours: () => ours(file, discard),
      'csv-parse \\| csv-stringify': () => csvLibrary(engine, discard),
      papaparse: () => papaParse(engine, discard),
      'DuckDB, `COPY` of `read_csv`, one thread': recopy.copy,
      'memory copy': () => file.copy(elsewhere),
    },
    ROUNDS,
  );
  await recopy.close();
  const faster = (name: keyof typeof ms) => medianRatio(ms[name], ms.ours);
  const library = Math.min(faster('csv-parse \\| csv-stringify'), faster('papaparse'));
  const duckDb = faster('DuckDB, `COPY` of `read_csv`, one thread');

  const memory: number[] = [];
  for (const size of MEMORY_SIZES) memory.push(await memoryOf(size));
  const growth = (memory.at(-1) ?? Number.NaN) - (memory[0] ?? Number.NaN);
  return {
    title: 'Re-typing the CSV',
    method:
      `Athena's file of a report (${columns.length} columns, ${megabytes(file.length)}) into the report's, in chunks ` +
      `of 64 KiB, one core, ${ROUNDS} rounds in turn. All make the same bytes, which is checked; but the CSV libraries ` +
      "can't tell NULL from an empty text. DuckDB reads a file and writes one, both in the page cache. The memory copy takes " +
      'the whole file at once.',
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
    reading: `This report has a value to every ${figure(file.length / valuesIn(file))} bytes.`,
    goals: [
      { goal: 'at least 20x the CSV libraries', measured: times(library), isMet: library >= 20 },
      { goal: 'at least 2x DuckDB', measured: times(duckDb), isMet: duckDb >= 2 },
      {
        goal: 'memory flat from 10 MB to 1 GB, within 10 MB',
        measured: `${growth < 0 ? '−' : '+'}${megabytes(Math.abs(growth))}`,
        isMet: growth < 10e6,
      },
    ],
  };
}
