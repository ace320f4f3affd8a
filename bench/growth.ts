import { strictEqual } from 'node:assert';
import { publisherReport } from '../lib/report/catalogue.ts';
import { ordersOf, pathOf } from './questions.ts';
import { openReportStack, type QueryFigures, sampleEvents } from './report-stack.ts';
import type { Section } from './section.ts';
import { figure, median } from './statistics.ts';

const SIZES = [1_000_000, 10_000_000, 50_000_000];
const WINDOWS = [
  { what: 'a day', firstDay: '2026-01-15', days: 1 },
  { what: '32 days', firstDay: '2026-01-10', days: 32 },
];
const ROUNDS = 9;
const METRICS = ['ServedAds', 'Opens', 'Clicks', 'Revenue'];

interface Growth extends QueryFigures {
  readonly records: number;
  readonly what: string;
  readonly ms: number;
}

async function measureOn(records: number): Promise<Growth[]> {
  await using service = await openReportStack(await sampleEvents(records));
  await service.warmUp();
  const found: Growth[] = [];
  for (const { what, ...window } of WINDOWS) {
    const rounds: (QueryFigures & { readonly ms: number })[] = [];
    for (const metrics of ordersOf(METRICS).slice(0, ROUNDS)) {
      const fields = ['Day', 'DeviceOrProxy', ...metrics];
      const from = performance.now();
      const response = await service.get(pathOf({ report: publisherReport, fields, ...window }));
      await response.arrayBuffer();
      const ms = performance.now() - from;
      strictEqual(response.status, 303);
      rounds.push({ ms, ...(await service.latestQuery()) });
    }
    const of = (name: keyof (typeof rounds)[number]) => median(rounds.map((round) => round[name]));
    found.push({
      records,
      what,
      ms: of('ms'),
      engineMs: of('engineMs'),
      totalMs: of('totalMs'),
      bytesScanned: of('bytesScanned'),
    });
  }
  return found;
}

export async function measure(): Promise<Section> {
  const found: Growth[] = [];
  for (const records of SIZES) found.push(...(await measureOn(records)));
  return {
    title: 'Growth',
    method:
      `GET to 303 for a report by day and device with four metrics that has not been asked for before, as the events ` +
      `grow; median of ${ROUNDS}. The events spread over 59 days, a file each.`,
    table: [
      ['records', 'window', 'GET to 303, ms', 'of it the engine, ms', 'scanned, MB'],
      ...found.map(({ records, what, ms, engineMs, bytesScanned }) => [
        `${figure(records / 1e6)} million`,
        what,
        figure(ms),
        figure(engineMs),
        figure(bytesScanned / 1e6),
      ]),
    ],
    goals: [],
  };
}
