import { strictEqual } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publisherReport } from '../lib/report/catalogue.ts';
import { openBaselineDuckDb } from './baseline-duckdb.ts';
import { convertedLake, DENSE, type EventsShape, makeRawLake, WINDOW } from './lakes.ts';
import { figure, goal, median, recordsAtMost, roundsAtMost, type Section, times } from './measuring.ts';
import { ordersOf } from './questions.ts';
import { openReportStack, type QueryFigures } from './report-stack.ts';

interface Setting extends EventsShape {
  readonly what: string;
  readonly sizes: readonly number[];
}

/** Dense: every hour has events of every combination of dimensions. Sparse: most hours lack most combinations. */
const SETTINGS: readonly Setting[] = [
  { what: 'dense', ...DENSE, sizes: [1_000_000, 10_000_000, 50_000_000, 200_000_000] },
  {
    ...{ what: 'sparse', placements: 2_000, devices: 7, placementsPerContainer: 5 },
    sizes: [1_000_000, 10_000_000],
  },
];
const ROUNDS = roundsAtMost(9);
const METRICS = ['ServedAds', 'Opens', 'Clicks', 'Revenue'];

interface Measured {
  readonly ms: number;
  readonly bytesScanned: number;
}

interface Growth {
  readonly setting: Setting;
  readonly events: number;
  readonly hours: number;
  readonly raw: Measured;
  readonly hourly: Measured;
}

/**
 * Measures one report over a lake. Each round requests the columns in another order. The first round warms up: its CSV
 * is returned, and its times do not count.
 */
async function measureOn(eventsDirectory: string): Promise<Measured & { readonly csv: string }> {
  await using service = await openReportStack(eventsDirectory);
  const rounds: (QueryFigures & { readonly ms: number })[] = [];
  let csv = '';
  for (const [round, metrics] of ordersOf(METRICS)
    .slice(0, ROUNDS + 1)
    .entries()) {
    const fields = ['Day', 'DeviceOrProxy', ...metrics];
    const { ms, url } = await service.ask({ report: publisherReport, fields, ...WINDOW });
    if (round === 0) csv = await (await fetch(url)).text();
    else rounds.push({ ms, ...(await service.latestQuery()) });
  }
  const all = (name: keyof (typeof rounds)[number]) => rounds.map((round) => round[name]);
  return {
    csv,
    ms: median(all('ms')),
    bytesScanned: median(all('bytesScanned')),
  };
}

async function measureSize(setting: Setting, events: number): Promise<Growth> {
  const directory = await mkdtemp(join(tmpdir(), 'growth-'));
  try {
    const rawLake = await makeRawLake(directory, events, setting);
    const hourlyLake = await convertedLake(
      [join(rawLake, publisherReport.table)],
      join(directory, 'hours'),
      true,
    );
    const raw = await measureOn(rawLake);
    const hourly = await measureOn(hourlyLake);
    strictEqual(hourly.csv, raw.csv, 'a lake of hours must give the same bytes');
    await using baseline = await openBaselineDuckDb(hourlyLake);
    const hours = await baseline.numberOf(`SELECT count(*) FROM ${publisherReport.table}`);
    return { setting, events, hours, raw, hourly };
  } finally {
    await rm(directory, { recursive: true });
  }
}

export async function measure(): Promise<Section> {
  const found: Growth[] = [];
  for (const setting of SETTINGS)
    for (const events of new Set(setting.sizes.map(recordsAtMost))) {
      found.push(await measureSize(setting, events));
      process.stderr.write(`${setting.what} ${figure(events / 1e6)} million\n`);
    }
  const dense = found.filter(({ setting }) => setting === SETTINGS[0]);
  const [least] = dense;
  const most = dense.at(-1);
  const ratio = (of: (growth: Growth) => number) => (most && least ? of(most) / of(least) : Number.NaN);
  const time = ratio(({ hourly }) => hourly.ms);
  const bytes = ratio(({ hourly }) => hourly.bytesScanned);
  return {
    title: 'Growth',
    table: [
      [
        ...['events', 'raw, million', 'hours, million', 'events an hour and combination'],
        ...['raw, ms', 'hourly, ms', 'raw scanned, MB', 'hourly scanned, MB'],
      ],
      ...found.map(({ setting, events, hours, raw, hourly }) => [
        setting.what,
        ...[events / 1e6, hours / 1e6, events / hours, raw.ms, hourly.ms].map(figure),
        ...[raw.bytesScanned / 1e6, hourly.bytesScanned / 1e6].map(figure),
      ]),
    ],
    goals: [
      goal(
        'from 1 to 200 million dense raw events, at most twice the time over hours',
        times(time),
        time <= 2,
      ),
      goal('and at most twice the bytes scanned', times(bytes), bytes <= 2),
    ],
  };
}
