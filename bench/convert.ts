import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { quoteText } from '../lib/report/quote-sql.ts';
import { type Alone, alone } from './alone.ts';
import { figure, goal, recordsAtMost, type Section, times } from './measuring.ts';

const ROWS = recordsAtMost(20_000_000);
const CSV_ROWS = ROWS / 10;
const DAYS = 7;
const MEMORY_BYTES = 1e9;

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

export async function measure(): Promise<Section> {
  const directory = await mkdtemp(join(tmpdir(), 'convert-'));
  const files = { parquet: join(directory, 'in.parquet'), csv: join(directory, 'in.csv') };
  const connection = await (await DuckDBInstance.create()).connect();
  await connection.run(`COPY (${records(ROWS)}) TO ${quoteText(files.parquet)}`);
  await connection.run(`COPY (${records(CSV_ROWS)}) TO ${quoteText(files.csv)}`);
  connection.closeSync();

  const copy = (reader: string) =>
    alone('sortedCopy', reader, join(directory, 'sorted.parquet'), String(MEMORY_BYTES));
  const convert = async (file: string, ...options: string[]) => {
    const to = join(directory, 'lake');
    const memory = ['--memory', `${MEMORY_BYTES / 1e6}MB`];
    const used = await alone('lake', 'convert', file, '--to', to, ...memory, ...options);
    await rm(to, { recursive: true });
    return used;
  };
  const byParquet = await copy(`read_parquet(${quoteText(files.parquet)})`);
  const parquet = await convert(files.parquet);
  const hourly = await convert(files.parquet, '--hourly');
  const byCsv = await copy(`read_csv(${quoteText(files.csv)})`);
  const csv = await convert(files.csv);
  await rm(directory, { recursive: true });

  const ratio = (used: Alone, beside: Alone) => used.whole.cpuMs / beside.whole.cpuMs;
  const row = (what: string, used: Alone, beside?: Alone) => [
    ...[what, figure(used.whole.ms / 1_000), figure(used.whole.cpuMs / 1_000)],
    beside ? times(ratio(used, beside)) : '',
    `${figure(used.peakMb)} MB`,
  ];
  const slowest = ratio(parquet, byParquet);
  const peakMb = Math.max(parquet.peakMb, hourly.peakMb, csv.peakMb);
  return {
    title: 'Converting',
    table: [
      ['', 'seconds', 'CPU-seconds', 'beside the COPY', 'peak memory (VmHWM)'],
      row('COPY of the Parquet file', byParquet),
      row('convert', parquet, byParquet),
      row('convert --hourly', hourly, byParquet),
      row('COPY of the CSV', byCsv),
      row('convert', csv, byCsv),
    ],
    goals: [
      goal('one Parquet file: at most 3 times the CPU of the COPY', times(slowest), slowest <= 3),
      goal('the process stays within --memory 1GB', `${figure(peakMb)} MB`, peakMb <= MEMORY_BYTES / 1e6),
    ],
  };
}
