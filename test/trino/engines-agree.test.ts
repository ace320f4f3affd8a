import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { publisherReport, type Report, reports } from '../../lib/report/catalogue.ts';
import { tables } from '../../lib/report/tables.ts';
import { duckDbOn } from '../../local/athena/duckdb-engine.ts';
import { type OpenEngine, QueryFailure } from '../../local/athena/query-engine.ts';
import { type EventRow, expectedReport } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { ownFolder } from '../own-folder.ts';
import { writeTables } from '../write-events.ts';
import { askEngine } from './ask-engine.ts';
import { type Case, corpusOf } from './corpus.ts';
import { hardEvents } from './hard-events.ts';
import { trinoOver } from './trino-tables.ts';

const CASES_PER_REPORT = 600;
const AT_ONCE = 4;

const known = knownEvents(20260202, 2_000);
const events: Readonly<Record<string, readonly EventRow[]>> = Object.fromEntries(
  tables.map((table) => [table.name, [...(known[table.name] ?? []), ...hardEvents(table)]]),
);

/** A day outside every window of the corpus. Its clicks have a sum above the largest signed 64-bit integer. */
const OVERFLOWING_DAY = { start: '2026-03-01T00:00:00Z', end: '2026-03-02T00:00:00Z' };
const overflowing = [10n, 11n, 10n].map((placement_id, index) => ({
  event_time: '2026-03-01T12:00:00.000Z',
  placement_id,
  clicks: index === 2 ? 1n : 9_223_372_036_854_775_807n,
}));
const GOVERNING: Readonly<Record<string, string>> = {
  publisherperformance: 'publisher_company_id',
  advertiserperformance: 'advertiser_company_id',
};
const rowsOf = ({ table }: Report): readonly EventRow[] => events[table] ?? [];

const visibleTo = (report: Report, companies: readonly bigint[] | undefined): readonly EventRow[] =>
  rowsOf(report).filter(
    (row) => !companies || companies.includes(row[GOVERNING[report.name] ?? ''] as bigint),
  );

const home = await ownFolder();
const eventsDirectory = join(home, 'events');
for (const some of [events, { publisher_events: overflowing }]) await writeTables(eventsDirectory, some);
async function open(openEngine: OpenEngine, name: string) {
  const engine = await openEngine({ database: 'performance_reports', scratchDirectory: join(home, name) });
  afterAll(() => engine.close());
  return engine;
}
const duckDb = await open(duckDbOn(eventsDirectory), 'duckdb');
const trino = await open(trinoOver(String(process.env['TEST_TRINO_URL']), eventsDirectory), 'trino');

async function compare(report: Report, cases: readonly Case[]) {
  const differences: unknown[] = [];
  let withRows = 0;
  const queue = cases.values();
  const work = async () => {
    for (const asked of queue) {
      const [fromDuckDb, fromTrino] = await Promise.all([
        askEngine(duckDb, report, asked),
        askEngine(trino, report, asked),
      ]);
      const expected = expectedReport(report.name, visibleTo(report, asked.companies), asked.question);
      withRows += expected.split('\n').length > 2 ? 1 : 0;
      if (fromTrino !== fromDuckDb || fromTrino !== expected)
        differences.push({ asked, expected, fromDuckDb, fromTrino });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { differences, withRows };
}

describe('DuckDB and Trino both give the report that the contract demands, byte for byte,', () => {
  it.each(reports)('for $title', async (report) => {
    const cases = corpusOf(report, rowsOf(report), CASES_PER_REPORT);
    const { differences, withRows } = await compare(report, cases);
    process.stdout.write(
      `${report.title}: ${cases.length} requests, ${withRows} of them with rows, ${differences.length} differences\n`,
    );
    expect(withRows).toBeGreaterThan(cases.length / 2);
    expect(differences).toEqual([]);
  });

  it('or both engines fail, if the sum of a count is above the largest signed 64-bit integer', async () => {
    for (const engine of [duckDb, trino]) {
      const ask = (...fields: string[]) =>
        askEngine(engine, publisherReport, { question: { ...OVERFLOWING_DAY, fields } });
      await expect(ask('Clicks')).rejects.toMatchObject({ category: 2, type: 1100, retryable: false });
      await expect(ask('PlacementId', 'Clicks')).rejects.toBeInstanceOf(QueryFailure);
      await expect(ask('PlacementId')).resolves.toBe('"PlacementId"\n10\n11\n');
    }
  });
});
