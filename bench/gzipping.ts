import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { retypeCsv } from '../lib/csv/retype-csv.ts';
import { publisherReport } from '../lib/report/catalogue.ts';
import { GZIP_LEVEL, gzippedChunks } from '../lib/results/gzipped.ts';
import { columnsOf, engineFile, repeated, slicesOf } from './engine-file.ts';
import type { Section } from './section.ts';
import { roundsAtMost } from './size.ts';
import { figure, median, times } from './statistics.ts';

const LEVELS = [1, 3, 4, 5, 6, 7, 9];
const ROUNDS = roundsAtMost(3);
const REPORT_BYTES = 1e9;
const REGULAR_BYTES = 30_000_000;
const LINES_MBIT = [20, 200];

const question = {
  report: publisherReport,
  fields: [
    ...['DateTime', 'PlacementId', 'ContainerId', 'PublisherAccountId', 'PublisherCompanyId'],
    ...['DeviceOrProxy', 'ServedAds', 'Opens', 'Clicks', 'Revenue'],
  ],
  firstDay: '2026-01-01',
  days: 28,
};
const columns = columnsOf(question);

async function* asAsync(chunks: Iterable<Buffer>) {
  yield* chunks;
}

async function bytesIn(chunks: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0;
  for await (const chunk of chunks) bytes += chunk.length;
  return bytes;
}

async function bytesByGzip(file: Buffer): Promise<number> {
  const child = spawn('gzip', ['-6', '-c'], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(file);
  const [bytes] = await Promise.all([bytesIn(child.stdout), once(child, 'exit')]);
  return bytes;
}

/** Gzips the file. Resolves to the gzipped bytes and to the CPU seconds, which other processes hardly change. */
async function gzip(file: Buffer, level: number) {
  const before = process.cpuUsage();
  const bytes = await bytesIn(gzippedChunks(asAsync(slicesOf(file)), level));
  const { user, system } = process.cpuUsage(before);
  return { bytes, seconds: (user + system) / 1e6 };
}

async function measureLevel(level: number, report: Buffer, regular: Buffer) {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await gzip(report, level));
  return {
    level,
    bytes: rounds[0]?.bytes ?? Number.NaN,
    bytesASecond: report.length / median(rounds.map(({ seconds }) => seconds)),
    regularBytes: (await gzip(regular, level)).bytes,
  };
}

type Level = Awaited<ReturnType<typeof measureLevel>>;

export async function measure(): Promise<Section> {
  const file = await engineFile(question, 1_000_000);
  const chunks: Buffer[] = [];
  for await (const chunk of retypeCsv(columns, asAsync(slicesOf(file)))) chunks.push(Buffer.from(chunk));
  const report = Buffer.concat(chunks);
  const regular = repeated(report.subarray(0, report.indexOf('\n', 30_000) + 1), REGULAR_BYTES);
  const [reportByGzip, regularByGzip] = [await bytesByGzip(report), await bytesByGzip(regular)];

  const levels: Level[] = [];
  for (const level of LEVELS) levels.push(await measureLevel(level, report, regular));
  const transfer = (bytes: number, mbit: number) => `${figure((bytes * 8) / (mbit * 1e6))} s`;
  const lastByte = ({ bytes, bytesASecond }: Level, mbit: number) =>
    `${figure(REPORT_BYTES / bytesASecond + (REPORT_BYTES * (bytes / report.length) * 8) / (mbit * 1e6))} s`;
  const chosen = levels.find(({ level }) => level === GZIP_LEVEL) as Level;
  const worst = Math.max(chosen.bytes / reportByGzip, chosen.regularBytes / regularByGzip);
  return {
    title: 'Gzipping',
    method:
      `A report (${columns.length} columns, ${figure(report.length / 1e6)} MB) through the service's gzip, one core, ` +
      `${ROUNDS} rounds; the regular report is 30 kB of its rows again and again. The time to the last byte of 1 GB is that ` +
      'of the first caller that admits gzip: gzipping, then the transfer.',
    table: [
      [
        ...['level', 'bytes', 'MB/s of CPU', ...LINES_MBIT.map((mbit) => `1 GB at ${mbit} Mbit/s`)],
        ...['beside `gzip -6`', 'a regular report beside it'],
      ],
      ['plain', '1', '', ...LINES_MBIT.map((mbit) => transfer(REPORT_BYTES, mbit)), '', ''],
      ...levels.map((one) => [
        ...[String(one.level), `1/${figure(report.length / one.bytes)}`, figure(one.bytesASecond / 1e6)],
        ...LINES_MBIT.map((mbit) => lastByte(one, mbit)),
        ...[times(one.bytes / reportByGzip), times(one.regularBytes / regularByGzip)],
      ]),
    ],
    reading:
      'The first who wants a report in gzip waits least with level 4 or 5; everyone later waits for the transfer alone. ' +
      'Why 6: [the decision](decisions/0029-gzip-beside-the-plain-file.md).',
    goals: [{ goal: 'at most 1.05x the bytes of `gzip -6`', measured: times(worst), isMet: worst <= 1.05 }],
  };
}
