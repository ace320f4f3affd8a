import { strictEqual } from 'node:assert';
import { join } from 'node:path';
import { publisherReport } from '../lib/report/catalogue.ts';
import { daysOf, pathOf, type Question } from './questions.ts';
import { openReportStack, sampleEvents } from './report-stack.ts';
import { openRival, type RivalDuckDb } from './rival-duckdb.ts';
import type { Section } from './section.ts';
import { figure, times } from './statistics.ts';

const RECORDS = 50_000_000;

interface Case extends Omit<Question, 'report'> {
  readonly what: string;
  /** All that any answer to this must read, in the days of the window. */
  readonly columns: readonly string[];
}

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
  {
    what: 'a week of one company, one metric',
    fields: ['Day', 'Clicks'],
    filters: { PublisherCompanyId: '1000' },
    firstDay: '2026-02-02',
    days: 7,
    columns: ['publisher_company_id', 'clicks'],
  },
];

/** The compressed size of columns in the days' files, as the files' own footers tell it. */
const storedBytes = (
  rival: RivalDuckDb,
  eventsDirectory: string,
  window: Case,
  columns: readonly string[],
): Promise<number> => {
  const files = daysOf(window).map(
    (day) => `'${join(eventsDirectory, 'publisher_events', `day=${day}`, '*.parquet')}'`,
  );
  const names = columns.map((name) => `'${name}'`);
  return rival.numberOf(
    `SELECT sum(total_compressed_size)::double FROM parquet_metadata([${files.join(', ')}])
     WHERE path_in_schema IN (${names.join(', ')})`,
  );
};

export async function measure(): Promise<Section> {
  const eventsDirectory = await sampleEvents(RECORDS);
  await using service = await openReportStack(eventsDirectory);
  await using rival = await openRival(eventsDirectory);
  const found = [];
  for (const entry of CASES) {
    const response = await service.get(pathOf({ report: publisherReport, ...entry }));
    strictEqual(response.status, 303);
    const { bytesScanned } = await service.latestQuery();
    const least = await storedBytes(rival, eventsDirectory, entry, entry.columns);
    const eventTime = await storedBytes(rival, eventsDirectory, entry, ['event_time']);
    found.push({ what: entry.what, bytesScanned, least, eventTime });
  }
  const most = Math.max(...found.map(({ bytesScanned, least }) => bytesScanned / least));
  const megabytes = (bytes: number) => figure(bytes / 1e6);
  return {
    title: 'Bytes scanned',
    method:
      `What a report's query reads, as Athena tells it, beside the least possible: the compressed size of just the ` +
      `needed columns in just the needed days, from the footers of the Parquet files (${figure(RECORDS / 1e6)} million ` +
      'records). The engine counts the footers too, which it reads to find the columns. All windows are whole days: ' +
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
      'schema. That is nothing beside a report of some size, and shows where a whole report needs less than 100 kB.',
    goals: [
      { goal: 'at most 1.05x the least possible', measured: times(most), isMet: most <= 1.05 },
      {
        goal: 'a whole-day window never reads event_time',
        measured: `beyond the least, at most ${times(
          Math.max(...found.map(({ bytesScanned, least, eventTime }) => (bytesScanned - least) / eventTime)),
        )} of event_time`,
        isMet: found.every(({ bytesScanned, least, eventTime }) => bytesScanned - least < eventTime),
      },
    ],
  };
}
