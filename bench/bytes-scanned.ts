/** `npm run bench -- bytes-scanned` compares the bytes that a report reads with the fewest that any engine must read. */
import { mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dayFolder } from '../lake-check/layout.ts';
import { publisherReport } from '../lib/report/catalogue.ts';
import { type BaselineDuckDb, openBaselineDuckDb } from './baseline-duckdb.ts';
import { convertedLake } from './lakes.ts';
import { figure, goal, recordsAtMost, type Section, times } from './measuring.ts';
import { daysOf, type Question } from './questions.ts';
import { openReportStack, sampleEvents } from './report-stack.ts';

const RECORDS = recordsAtMost(50_000_000);

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
    ...{ what: 'a day, one metric', fields: ['Clicks'], columns: ['clicks'] },
    ...{ firstDay: '2026-01-15', days: 1 },
  },
  {
    what: 'a month by day and device, four metrics',
    fields: ['Day', 'DeviceOrProxy', 'ServedAds', 'Opens', 'Clicks', 'Revenue'],
    ...{ firstDay: '2026-01-01', days: 31 },
    columns: ['device_or_proxy', 'served_ads', 'container_opens', 'clicks', 'revenue'],
  },
  {
    what: '32 days by placement, two metrics',
    fields: ['PlacementId', 'ServedAds', 'Revenue'],
    ...{ firstDay: '2026-01-10', days: 32 },
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

/** Makes a lake with the days of the week as `npm run lake -- convert` stores them. */
async function lakeOfWeek(eventsDirectory: string, hourly: boolean): Promise<string> {
  const folders = daysOf(WEEK).map((day) => join(eventsDirectory, dayFolder(publisherReport.table, day)));
  return convertedLake(folders, await mkdtemp(join(tmpdir(), 'bench-lake-')), hourly);
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
    const { url } = await service.ask({ report: publisherReport, ...entry });
    await (await fetch(url)).arrayBuffer();
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
    const lake = await lakeOfWeek(eventsDirectory, hourly);
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
  const beyondOfTime = Math.max(
    ...whole.map(({ bytesScanned, least, eventTime }) => (bytesScanned - least) / eventTime),
  );
  const scannedFor = (report: string) =>
    found.find(({ what }) => what === report)?.bytesScanned ?? Number.NaN;
  const savings = OF_MEDIAN.map(({ what }) => ({
    what,
    saved: scannedFor(what) / scannedFor(`${what}, sorted`),
  }));
  const megabytes = (bytes: number) => figure(bytes / 1e6);
  return {
    title: 'Bytes scanned',
    table: [
      ['report', 'scanned, MB', 'least possible, MB', 'ratio', 'event_time of those days, MB'],
      ...found.map(({ what, bytesScanned, least, eventTime }) => [
        ...[what, megabytes(bytesScanned), megabytes(least)],
        ...[times(bytesScanned / least), megabytes(eventTime)],
      ]),
    ],
    goals: [
      goal(
        'at most 1.05x the least possible, where every company counts',
        times(most),
        most <= 1.05,
        'reports of more than 100 kB: the footers are what is beyond the columns',
      ),
      ...savings.map(({ what, saved }) =>
        goal(
          `${what}: at most 1/${TENANT_PART} where the lake is sorted by company`,
          `1/${figure(saved)}`,
          saved >= TENANT_PART,
          'fewer row groups a day, whose footers are most of it; that would double a report of all columns',
        ),
      ),
      goal(
        'a whole-day window never reads event_time',
        `beyond the least, at most ${times(beyondOfTime)} of event_time`,
        beyondOfTime < 1,
      ),
    ],
  };
}
