import { strictEqual } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publisherReport } from '../lib/report/catalogue.ts';
import { DENSE, type GrowthParameters, makeGrowthLakes, WINDOW } from './growth-events.ts';
import { ordersOf, pathOf } from './questions.ts';
import { openReportStack, type QueryFigures } from './report-stack.ts';
import type { Section } from './section.ts';
import { recordsAtMost, roundsAtMost } from './size.ts';
import { figure, median, times } from './statistics.ts';

interface Setting extends GrowthParameters {
  readonly what: string;
  readonly sizes: readonly number[];
}

/** Dense: every hour has events of every combination of dimensions. Sparse: most hours lack most combinations. */
const SETTINGS: readonly Setting[] = [
  {
    what: 'dense',
    ...DENSE,
    sizes: [1_000_000, 10_000_000, 50_000_000, 200_000_000],
  },
  {
    what: 'sparse',
    placements: 2_000,
    devices: 7,
    placementsPerContainer: 5,
    sizes: [1_000_000, 10_000_000],
  },
];
const ROUNDS = roundsAtMost(9);
const METRICS = ['ServedAds', 'Opens', 'Clicks', 'Revenue'];

interface Measured {
  readonly ms: number;
  readonly engineMs: number;
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
    const from = performance.now();
    const response = await service.get(pathOf({ report: publisherReport, fields, ...WINDOW }));
    await response.arrayBuffer();
    const ms = performance.now() - from;
    strictEqual(response.status, 303);
    // On a busy machine, the report may come through the waiting room.
    const location = new URL(String(response.headers.get('location')), service.stack.apiUrl);
    if (round === 0) csv = await (await fetch(location)).text();
    else rounds.push({ ms, ...(await service.latestQuery()) });
  }
  const all = (name: keyof (typeof rounds)[number]) => rounds.map((round) => round[name]);
  return {
    csv,
    ms: median(all('ms')),
    engineMs: median(all('engineMs')),
    bytesScanned: median(all('bytesScanned')),
  };
}

async function measureSize(setting: Setting, events: number): Promise<Growth> {
  const directory = await mkdtemp(join(tmpdir(), 'growth-'));
  try {
    const lakes = await makeGrowthLakes(directory, events, setting);
    const raw = await measureOn(lakes.raw);
    const hourly = await measureOn(lakes.hourly);
    strictEqual(hourly.csv, raw.csv, 'a lake of hours must give the same bytes');
    return { setting, events, hours: lakes.hours, raw, hourly };
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
  const settings = SETTINGS.map(
    ({ what, placements, devices, placementsPerContainer }) =>
      `${what}: ${placements.toLocaleString('en-US')} placements, ${placementsPerContainer} a container, ${devices} devices`,
  ).join('; ');
  return {
    title: 'Growth',
    method:
      'GET to 303 for a report of 32 days by day and device with four metrics that has not been asked for before, over raw events and over ' +
      `the hours that \`npm run lake -- convert --hourly\` makes of them; medians of ${ROUNDS}, the two reports equal to the byte. ` +
      `The events are spread evenly over the hours; ${settings}. Half of the events are of about the root of the placements (and of ` +
      'the devices), the rest thins out with the square of their number; 15% are opens of containers.',
    table: [
      [
        'events',
        'raw, million',
        'hours, million',
        'events an hour and combination',
        'raw, ms',
        'hourly, ms',
        'raw scanned, MB',
        'hourly scanned, MB',
      ],
      ...found.map(({ setting, events, hours, raw, hourly }) => [
        setting.what,
        figure(events / 1e6),
        figure(hours / 1e6),
        figure(events / hours),
        figure(raw.ms),
        figure(hourly.ms),
        figure(raw.bytesScanned / 1e6),
        figure(hourly.bytesScanned / 1e6),
      ]),
    ],
    goals: [
      {
        goal: 'from 1 to 200 million dense raw events, at most twice the time over hours',
        measured: times(time),
        isMet: time <= 2,
      },
      {
        goal: 'and at most twice the bytes scanned',
        measured: times(bytes),
        isMet: bytes <= 2,
      },
    ],
    reading:
      'Over raw events, cost grows with the events. Over hours it grows with the combinations of dimensions that occur in an hour, ' +
      'and with the digits of the sums. Where an hour holds hardly more events than combinations, as in the sparse rows, hours save little.',
  };
}
