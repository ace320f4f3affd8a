import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ownerOf, type Report, reports } from '../../lib/report/catalogue.ts';
import type { QueryEngine } from '../../local/athena/query-engine.ts';
import { type EventRow as WrittenRow, writeEvents } from '../../local/events/write-events.ts';
import { type EventRow, expectedReport } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { askEngine } from '../trino/ask-engine.ts';
import { type Case, corpusOf } from '../trino/corpus.ts';
import { runLake } from './run-lake.ts';

/** The number of requests for each report. */
const REQUESTS = 150;
const AT_ONCE = 4;
const HOUR_MS = 3_600_000;

type Events = Readonly<Record<string, readonly EventRow[]>>;

/** Makes records of which several have the same hour and the same dimensions. */
function eventsOf(seed: number, count: number): Events {
  const minutes = ['00:00.000', '17:23.456', '59:59.999'];
  return Object.fromEntries(
    Object.entries(knownEvents(seed, count)).map(([table, rows]) => [
      table,
      rows.flatMap((row: EventRow) =>
        minutes.map((minute) => ({
          ...Object.fromEntries(Object.entries(row).map(([name, value]) => [name, ofSize(value)])),
          event_time: `${String(row['event_time']).slice(0, 14)}${minute}Z`,
        })),
      ),
    ]),
  );
}

/** The value, made smaller if it is a huge amount, so that an hour's sum fits the column. */
const ofSize = (value: string | bigint | null): string | bigint | null =>
  typeof value === 'string' ? value.replace(/^(-?)999999999999\./, '$112345678.') : value;

const onTheHour = (time: string): string =>
  new Date(Math.floor(Date.parse(time) / HOUR_MS) * HOUR_MS).toISOString().replace('.000Z', 'Z');

/** Requests with windows of whole hours, which a lake summed by the hour must answer like the other lakes. */
const wholeHourCases = (report: Report, rows: readonly EventRow[]): Case[] =>
  corpusOf(report, rows, REQUESTS).map((asked) => ({
    ...asked,
    question: {
      ...asked.question,
      start: onTheHour(asked.question.start),
      end: onTheHour(asked.question.end),
    },
  }));

export interface ThreeLakes {
  readonly events: Events;
  /** The lakes' folders, by the form of their records. */
  readonly folders: Readonly<Record<'raw' | 'sorted' | 'hourly', string>>;
}

/** Makes three lakes from the same records: raw, sorted by company, and summed by the hour. */
export async function makeThreeLakes(directory: string): Promise<ThreeLakes> {
  const events = eventsOf(1515, 700);
  const folders = {
    raw: join(directory, 'raw'),
    sorted: join(directory, 'sorted'),
    hourly: join(directory, 'hourly'),
  };
  await mkdir(folders.raw, { recursive: true });
  for (const [table, rows] of Object.entries(events))
    await writeEvents(folders.raw, table, rows as unknown as WrittenRow[]);
  for (const [to, options] of [
    [folders.sorted, []],
    [folders.hourly, ['--hourly']],
  ] as const)
    expect(await runLake(['convert', folders.raw, '--to', to, ...options])).toMatchObject({
      code: 0,
      stderr: '',
    });
  return { events, folders };
}

export interface Agreement {
  readonly requests: number;
  readonly withRows: number;
  readonly differences: readonly unknown[];
}

/** Runs every request on every engine, and compares each report with one that is computed only from the contract. */
export async function compareLakes(
  engines: Readonly<Record<string, QueryEngine>>,
  events: Events,
): Promise<Agreement> {
  const differences: unknown[] = [];
  let withRows = 0;
  const queue = reports
    .flatMap((report) =>
      wholeHourCases(report, events[report.table] ?? []).map((asked) => ({ report, asked })),
    )
    .entries();
  let requests = 0;
  const work = async () => {
    for (const [, { report, asked }] of queue) {
      requests++;
      const { column } = ownerOf(report);
      const visible = (events[report.table] ?? []).filter(
        (row) => !asked.companies || asked.companies.includes(row[column] as bigint),
      );
      const expected = expectedReport(report.name, visible, asked.question);
      withRows += expected.split('\n').length > 2 ? 1 : 0;
      for (const [name, engine] of Object.entries(engines)) {
        const found = await askEngine(engine, report, asked);
        if (found !== expected) differences.push({ name, asked, expected, found });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { requests, withRows, differences };
}
