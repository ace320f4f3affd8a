import { strictEqual } from 'node:assert';
import { publisherReport } from '../lib/report/catalogue.ts';
import { ordersOf, pathOf } from './questions.ts';
import { openReportStack, type QueryFigures, sampleEvents } from './report-stack.ts';
import { openRival } from './rival-duckdb.ts';
import type { Section } from './section.ts';
import { figure, median, medianRatio, times } from './statistics.ts';

const SIZES = [1_000_000, 10_000_000, 50_000_000];
const WINDOWS = [
  { what: 'a day', firstDay: '2026-01-15', days: 1 },
  { what: '32 days', firstDay: '2026-01-10', days: 32 },
];
const ROUNDS = 9;
const METRICS = ['ServedAds', 'Opens', 'Clicks', 'Revenue'];

interface Growth {
  readonly records: number;
  readonly what: string;
  readonly ms: number;
  readonly engineMs: number;
  readonly directMs: number;
  readonly ratio: number;
  readonly bytesScanned: number;
}

async function measureOn(records: number): Promise<Growth[]> {
  const eventsDirectory = await sampleEvents(records);
  await using service = await openReportStack(eventsDirectory);
  await using rival = await openRival(eventsDirectory);
  await service.warmUp();
  const found: Growth[] = [];
  for (const { what, ...window } of WINDOWS) {
    const rounds: (QueryFigures & { readonly ms: number; readonly directMs: number })[] = [];
    for (const [round, metrics] of ordersOf(METRICS)
      .slice(0, ROUNDS + 1)
      .entries()) {
      const question = { report: publisherReport, fields: ['Day', 'DeviceOrProxy', ...metrics], ...window };
      const { ms: directMs } = await rival.copy(question);
      const from = performance.now();
      const response = await service.get(pathOf(question));
      await response.arrayBuffer();
      const ms = performance.now() - from;
      strictEqual(response.status, 303);
      if (round > 0) rounds.push({ ms, directMs, ...(await service.latestQuery()) });
    }
    const all = (name: keyof (typeof rounds)[number]) => rounds.map((round) => round[name]);
    found.push({
      records,
      what,
      ms: median(all('ms')),
      engineMs: median(all('engineMs')),
      directMs: median(all('directMs')),
      ratio: medianRatio(all('ms'), all('directMs')),
      bytesScanned: median(all('bytesScanned')),
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
      'GET to 303 for a report by day and device with four metrics that has not been asked for before, as the events ' +
      `grow, beside DuckDB's own \`COPY … TO\`; ${ROUNDS} pairs. The events spread over 59 days, a file each.`,
    table: [
      [
        'records',
        'window',
        'GET to 303, ms',
        'of it the engine, ms',
        'DuckDB alone, ms',
        'ratio',
        'scanned, MB',
      ],
      ...found.map(({ records, what, ms, engineMs, directMs, ratio, bytesScanned }) => [
        `${figure(records / 1e6)} million`,
        what,
        figure(ms),
        figure(engineMs),
        figure(directMs),
        times(ratio),
        figure(bytesScanned / 1e6),
      ]),
    ],
    goals: [],
  };
}
