import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { quoteText } from '../lib/report/quote-sql.ts';
import type { Section } from './section.ts';
import { recordsAtMost } from './size.ts';
import { figure, times } from './statistics.ts';

const ROWS = recordsAtMost(20_000_000);
const CSV_ROWS = ROWS / 10;
const DAYS = 7;
const MEMORY_BYTES = 1e9;

interface Used {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMb: number;
}

/**
 * Unordered records of a week, as a warehouse exports them. There are 5,000 placements. A tenth of the records is
 * container-level.
 */
const records = (rows: number) => `SELECT
  TIMESTAMP '2026-01-01' + to_milliseconds((hash(range, 1) % ${DAYS * 86_400_000})::BIGINT) AS event_time,
  CASE WHEN hash(range, 2) % 10 > 0 THEN (hash(range, 3) % 5000)::BIGINT END AS placement_id,
  (hash(range, 3) % 5000 // 10)::BIGINT AS container_id,
  (hash(range, 3) % 5000 // 25)::BIGINT AS publisher_account_id,
  (hash(range, 3) % 5000 // 50)::BIGINT AS publisher_company_id,
  ['phone', 'desktop', 'proxy', 'tv'][1 + (hash(range, 4) % 4)::INTEGER] AS device_or_proxy,
  (hash(range, 5) % 2)::BIGINT AS served_ads,
  CASE WHEN hash(range, 2) % 10 > 0 THEN (hash(range, 6) % 2)::BIGINT ELSE 0 END AS placement_opens,
  (hash(range, 2) % 10 = 0)::BIGINT AS container_opens,
  (hash(range, 7) % 20 = 0)::BIGINT AS clicks,
  ((hash(range, 8) % 100000) / 1000000.0)::DECIMAL(18,6) AS revenue
FROM range(${rows})`;

/** Runs a program of this repository to its end. */
async function run(directory: string, args: readonly string[]): Promise<Used> {
  const told = join(directory, 'used.json');
  const child = spawn(
    process.execPath,
    ['--import', join(import.meta.dirname, 'tell-used.ts'), ...args],
    // The program's output is dropped: the program would block on a pipe that nobody reads.
    { env: { ...process.env, TELL_USED: told }, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
  return JSON.parse(await readFile(told, 'utf8'));
}

const gb = (bytes: number): string => `${figure(bytes / 1e9)} GB`;

export async function measure(): Promise<Section> {
  const directory = await mkdtemp(join(tmpdir(), 'convert-'));
  const files = { parquet: join(directory, 'in.parquet'), csv: join(directory, 'in.csv') };
  const connection = await (await DuckDBInstance.create()).connect();
  await connection.run(`COPY (${records(ROWS)}) TO ${quoteText(files.parquet)}`);
  await connection.run(`COPY (${records(CSV_ROWS)}) TO ${quoteText(files.csv)}`);
  connection.closeSync();

  const copy = (reader: string) =>
    run(directory, [
      join(import.meta.dirname, 'sorted-copy.ts'),
      reader,
      join(directory, 'sorted.parquet'),
      String(MEMORY_BYTES),
    ]);
  const convert = async (file: string, ...options: string[]) => {
    const to = join(directory, 'lake');
    const memory = ['--memory', `${MEMORY_BYTES / 1e6}MB`];
    const program = join(import.meta.dirname, '../tools/lake.ts');
    const used = await run(directory, [program, 'convert', file, '--to', to, ...memory, ...options]);
    await rm(to, { recursive: true });
    return used;
  };
  const byParquet = await copy(`read_parquet(${quoteText(files.parquet)})`);
  const parquet = await convert(files.parquet);
  const hourly = await convert(files.parquet, '--hourly');
  const byCsv = await copy(`read_csv(${quoteText(files.csv)})`);
  const csv = await convert(files.csv);
  const sizes = await Promise.all(Object.values(files).map(async (file) => (await stat(file)).size));
  await rm(directory, { recursive: true });

  const row = (what: string, used: Used, beside?: Used) => [
    ...[what, figure(used.seconds), figure(used.cpuSeconds)],
    beside ? times(used.cpuSeconds / beside.cpuSeconds) : '',
    `${figure(used.peakMb)} MB`,
  ];
  const slowest = parquet.cpuSeconds / byParquet.cpuSeconds;
  const peakMb = Math.max(parquet.peakMb, hourly.peakMb, csv.peakMb);
  return {
    title: 'Converting',
    method:
      `${ROWS.toLocaleString('en-US')} records of ${DAYS} days in no order, in one Parquet file (${gb(sizes[0] ?? 0)}), and ` +
      `${CSV_ROWS.toLocaleString('en-US')} in one CSV (${gb(sizes[1] ?? 0)}), by \`npm run lake -- convert --memory 1GB\` into a folder; ` +
      "beside it DuckDB's own `COPY` of the file, sorted as the days are, into one file of Parquet with zstd, with the same memory for DuckDB. " +
      'Each in a process of its own, start-up included. The ratios are of CPU.',
    table: [
      ['', 'seconds', 'CPU-seconds', 'beside the COPY', 'peak memory (VmHWM)'],
      row('COPY of the Parquet file', byParquet),
      row('convert', parquet, byParquet),
      row('convert --hourly', hourly, byParquet),
      row('COPY of the CSV', byCsv),
      row('convert', csv, byCsv),
    ],
    goals: [
      {
        goal: 'one Parquet file: at most 3 times the CPU of the COPY',
        measured: times(slowest),
        isMet: slowest <= 3,
      },
      {
        goal: 'the process stays within --memory 1GB',
        measured: `${figure(peakMb)} MB`,
        isMet: peakMb <= MEMORY_BYTES / 1e6,
      },
    ],
  };
}
