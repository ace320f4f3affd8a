/**
 * `npm run bench -- bytes-scanned` compares the bytes that a report reads with the fewest that any engine must read.
 * This file is long because it also makes the layouts that it compares.
 */
import { strictEqual } from 'node:assert';
import { mkdir, mkdtemp, open, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { dayFolder } from '../lake-check/layout.ts';
import { advertiserReport, publisherReport } from '../lib/report/catalogue.ts';
import { type Table, tables } from '../lib/report/tables.ts';
import { dayCopy, daySelect } from '../tools/lake/day-file.ts';
import { type BaselineDuckDb, openBaselineDuckDb } from './baseline-duckdb.ts';
import { daysOf, pathOf, type Question } from './questions.ts';
import { openReportStack, sampleEvents } from './report-stack.ts';
import type { Section } from './section.ts';
import { figure, times } from './statistics.ts';

const RECORDS = 50_000_000;

interface Case extends Omit<Question, 'report'> {
  readonly what: string;
  /** The columns that any engine must read for this question, in the days of the window. */
  readonly columns: readonly string[];
}

const WEEK = { firstDay: '2026-02-02', days: 7 };
const ONE_METRIC = { ...WEEK, fields: ['Day', 'Clicks'], columns: ['publisher_company_id', 'clicks'] };
const FOUR_METRICS = {
  ...WEEK,
  fields: ['PlacementId', 'DeviceOrProxy', 'ServedAds', 'Opens', 'Clicks', 'Revenue'],
  columns: [
    ...['publisher_company_id', 'placement_id', 'device_or_proxy'],
    ...['served_ads', 'placement_opens', 'clicks', 'revenue'],
  ],
};

/** One of the largest companies of the sample events. */
const LARGEST = { PublisherCompanyId: '1000' };
/** A company of median size. */
const MEDIAN = { PublisherCompanyId: '1016' };

/** Reports that a partner with one company of median size requests. */
const OF_MEDIAN: readonly Case[] = [
  { ...ONE_METRIC, what: 'a week of a median company, one metric', filters: MEDIAN },
  {
    ...FOUR_METRICS,
    what: 'a week of a median company by placement and device, four metrics',
    filters: MEDIAN,
  },
];
const TENANTS: readonly Case[] = [
  { ...ONE_METRIC, what: 'a week of the largest company, one metric', filters: LARGEST },
  ...OF_MEDIAN,
];

/** The goal: a report of one company reads at most a tenth as much from a sorted lake as from an unsorted one. */
const TENANT_PART = 10;

const CASES: readonly Case[] = [
  {
    what: 'a day, one metric',
    fields: ['Clicks'],
    firstDay: '2026-01-15',
    days: 1,
    columns: ['clicks'],
  },
  {
    what: 'a month by day and device, four metrics',
    fields: ['Day', 'DeviceOrProxy', 'ServedAds', 'Opens', 'Clicks', 'Revenue'],
    firstDay: '2026-01-01',
    days: 31,
    columns: ['device_or_proxy', 'served_ads', 'container_opens', 'clicks', 'revenue'],
  },
  {
    what: '32 days by placement, two metrics',
    fields: ['PlacementId', 'ServedAds', 'Revenue'],
    firstDay: '2026-01-10',
    days: 32,
    columns: ['placement_id', 'served_ads', 'revenue'],
  },
  ...TENANTS,
];

/** A Parquet file ends with the length of its footer, in four bytes, and the four letters `PAR1`. */
const TAIL_BYTES = 8;

/**
 * The smallest number of bytes from which a report can be made: the chunks of these columns in the days' files. A
 * report of one company needs only the row groups that can hold the company. The files' footers say which row groups
 * these are, so such a report has to read the footers too.
 */
async function leastBytes(
  baseline: BaselineDuckDb,
  eventsDirectory: string,
  window: Case,
  columns: readonly string[],
): Promise<number> {
  const paths = daysOf(window).map((day) => join(eventsDirectory, 'publisher_events', `day=${day}`));
  const files = (
    await Promise.all(paths.map(async (path) => (await readdir(path)).map((name) => join(path, name))))
  ).flat();
  const data = files.filter((file) => file.endsWith('.parquet'));
  const list = `[${data.map((file) => `'${file}'`).join(', ')}]`;
  const names = columns.map((name) => `'${name}'`);
  const company = window.filters?.['PublisherCompanyId'];
  const chunks = await baseline.numberOf(
    `WITH chunks AS (SELECT * FROM parquet_metadata(${list})),
          holding AS (SELECT file_name, row_group_id FROM chunks WHERE path_in_schema = 'publisher_company_id'
                      AND ${company ? `${company} BETWEEN stats_min::BIGINT AND stats_max::BIGINT` : 'true'})
     SELECT sum(total_compressed_size)::double FROM chunks SEMI JOIN holding USING (file_name, row_group_id)
     WHERE path_in_schema IN (${names.join(', ')})`,
  );
  return (
    chunks + (company ? (await Promise.all(data.map(footerBytes))).reduce((sum, bytes) => sum + bytes, 0) : 0)
  );
}

async function footerBytes(path: string): Promise<number> {
  await using file = await open(path);
  const { size } = await file.stat();
  const { buffer } = await file.read(Buffer.alloc(TAIL_BYTES), 0, TAIL_BYTES, size - TAIL_BYTES);
  return buffer.readUInt32LE() + TAIL_BYTES;
}

/** Makes a lake with the days of a window as `npm run lake -- convert` stores them. */
async function convertedLake(eventsDirectory: string, window: typeof WEEK, hourly: boolean): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-lake-'));
  // The other table is linked unchanged: no report of this benchmark reads it.
  const other = advertiserReport.table;
  await symlink(join(eventsDirectory, other), join(directory, other));
  const table = tables.find(({ name }) => name === publisherReport.table) as Table;
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  for (const day of daysOf(window)) {
    const source = `read_parquet('${join(eventsDirectory, dayFolder(table.name, day), '*.parquet')}')`;
    const target = join(directory, dayFolder(table.name, day));
    await mkdir(join(target, '..'), { recursive: true });
    const select = daySelect(table, publisherReport, source, hourly);
    const counted = await connection.runAndReadAll(`SELECT count(*) FROM (${select.split('\nORDER BY')[0]})`);
    await connection.run(dayCopy(select, Number(counted.getRowsJS()[0]?.[0]), target));
  }
  connection.closeSync();
  instance.closeSync();
  return directory;
}

interface Scanned {
  readonly what: string;
  readonly bytesScanned: number;
  readonly least: number;
  readonly eventTime: number;
  readonly isTenants: boolean;
}

async function scan(eventsDirectory: string, cases: readonly Case[]): Promise<Scanned[]> {
  await using service = await openReportStack(eventsDirectory);
  await using baseline = await openBaselineDuckDb(eventsDirectory);
  const found: Scanned[] = [];
  for (const entry of cases) {
    const response = await service.get(pathOf({ report: publisherReport, ...entry }));
    strictEqual(response.status, 303);
    // On a busy machine, the report may come through the waiting room.
    const location = new URL(String(response.headers.get('location')), service.stack.apiUrl);
    await (await fetch(location)).arrayBuffer();
    const { bytesScanned } = await service.latestQuery();
    const least = await leastBytes(baseline, eventsDirectory, entry, entry.columns);
    const eventTime = await leastBytes(baseline, eventsDirectory, entry, ['event_time']);
    found.push({ what: entry.what, bytesScanned, least, eventTime, isTenants: entry.filters !== undefined });
  }
  return found;
}

export async function measure(): Promise<Section> {
  const eventsDirectory = await sampleEvents(RECORDS);
  const found = await scan(eventsDirectory, CASES);
  for (const [how, hourly] of [
    ['sorted', false],
    ['sorted hours', true],
  ] as const) {
    const lake = await convertedLake(eventsDirectory, WEEK, hourly);
    found.push(
      ...(await scan(
        lake,
        TENANTS.map((tenant) => ({ ...tenant, what: `${tenant.what}, ${how}` })),
      )),
    );
    await rm(lake, { recursive: true });
  }
  const whole = found.filter(({ isTenants }) => !isTenants);
  const most = Math.max(...whole.map(({ bytesScanned, least }) => bytesScanned / least));
  const scannedFor = (report: string) =>
    found.find(({ what }) => what === report)?.bytesScanned ?? Number.NaN;
  const savings = OF_MEDIAN.map(({ what }) => ({
    what,
    saved: scannedFor(what) / scannedFor(`${what}, sorted`),
  }));
  const megabytes = (bytes: number) => figure(bytes / 1e6);
  return {
    title: 'Bytes scanned',
    method:
      `What a report's query reads, as Athena tells it, beside the least possible: the compressed size of just the ` +
      `needed columns in just the needed days, from the footers of the Parquet files (${figure(RECORDS / 1e6)} million ` +
      'records); of one company, only the row groups that can hold it, and all footers. The engine counts the footers too, which it reads to find the columns. All windows are whole days: ' +
      '`event_time`, the widest column, would stand out.',
    table: [
      ['report', 'scanned, MB', 'least possible, MB', 'ratio', 'event_time of those days, MB'],
      ...found.map(({ what, bytesScanned, least, eventTime }) => [
        what,
        megabytes(bytesScanned),
        megabytes(least),
        times(bytesScanned / least),
        megabytes(eventTime),
      ]),
    ],
    reading:
      "Beyond the columns, the engine reads at least the last 16 KiB of each file to find them, and of the table's first for its " +
      'schema. That is nothing beside a report of some size, and shows where a whole report needs less than 100 kB. Of a ' +
      'narrow report of one company over a sorted lake, most is footers, which grow with the row groups: 16 of them a day instead of 39 ' +
      'would halve what it reads, and double it for a report of all columns. These reports read so little that what is read beyond the ' +
      'columns is more than `event_time` would be; the last goal is told by the others.',
    goals: [
      {
        goal: 'at most 1.05x the least possible, where every company counts',
        measured: times(most),
        isMet: most <= 1.05,
        wouldTake: 'reports of more than 100 kB: the footers are what is beyond the columns',
      },
      ...savings.map(({ what, saved }) => ({
        goal: `${what}: at most 1/${TENANT_PART} where the lake is sorted by company`,
        measured: `1/${figure(saved)}`,
        isMet: saved >= TENANT_PART,
        wouldTake:
          'fewer row groups a day, whose footers are most of it; that would double a report of all columns',
      })),
      {
        goal: 'a whole-day window never reads event_time',
        measured: `beyond the least, at most ${times(
          Math.max(...whole.map(({ bytesScanned, least, eventTime }) => (bytesScanned - least) / eventTime)),
        )} of event_time`,
        isMet: whole.every(({ bytesScanned, least, eventTime }) => bytesScanned - least < eventTime),
      },
    ],
  };
}
