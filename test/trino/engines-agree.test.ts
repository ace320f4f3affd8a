import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Report, reports } from '../../lib/report/catalogue.ts';
import { duckDbOn } from '../../local/athena/duckdb-engine.ts';
import type { OpenEngine, OpenedEngine } from '../../local/athena/query-engine.ts';
import { type EventRow as WrittenRow, writeEvents } from '../../local/events/write-events.ts';
import { type EventRow, expectedReport } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { askEngine } from './ask-engine.ts';
import { type Case, corpusOf } from './corpus.ts';
import { trinoOver } from './trino-tables.ts';

const CASES_PER_REPORT = 750;
const AT_ONCE = 4;

const events = knownEvents(20260202, 2_000);
const GOVERNING: Readonly<Record<string, string>> = {
  publisherperformance: 'publisher_company_id',
  advertiserperformance: 'advertiser_company_id',
};
const rowsOf = ({ table }: Report): readonly EventRow[] => events[table as keyof typeof events];

const visibleTo = (report: Report, companies: readonly bigint[] | undefined): readonly EventRow[] =>
  rowsOf(report).filter(
    (row) => !companies || companies.includes(row[GOVERNING[report.name] ?? ''] as bigint),
  );

let home: string;
let duckDb: OpenedEngine;
let trino: OpenedEngine;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'performance-reports-engines-'));
  const eventsDirectory = join(home, 'events');
  for (const [table, rows] of Object.entries(events))
    await writeEvents(eventsDirectory, table, rows as unknown as WrittenRow[]);
  const open = (openEngine: OpenEngine, name: string) =>
    openEngine({ database: 'performance_reports', scratchDirectory: join(home, name) });
  duckDb = await open(duckDbOn(eventsDirectory), 'duckdb');
  trino = await open(trinoOver(String(process.env['TEST_TRINO_URL']), eventsDirectory), 'trino');
});
afterAll(async () => {
  duckDb.close();
  trino.close();
  await rm(home, { recursive: true });
});

async function differencesIn(report: Report, cases: readonly Case[]): Promise<unknown[]> {
  const differences: unknown[] = [];
  const queue = cases.values();
  const work = async () => {
    for (const asked of queue) {
      const [fromDuckDb, fromTrino] = await Promise.all([
        askEngine(duckDb, report, asked),
        askEngine(trino, report, asked),
      ]);
      const expected = expectedReport(report.name, visibleTo(report, asked.companies), asked.question);
      if (fromTrino !== fromDuckDb || fromTrino !== expected)
        differences.push({ asked, expected, fromDuckDb, fromTrino });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return differences;
}

describe('DuckDB, Trino and the contract’s words give the same bytes', () => {
  it.each(reports)('for $title', async (report) => {
    const cases = corpusOf(report, rowsOf(report), CASES_PER_REPORT);
    const differences = await differencesIn(report, cases);
    process.stdout.write(`${report.title}: ${cases.length} requests, ${differences.length} differences\n`);
    expect(differences).toEqual([]);
  });
});
