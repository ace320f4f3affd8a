import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { publisherReport } from '../../lib/report/catalogue.ts';
import { trinoOn } from '../../local/trino/trino-engine.ts';
import { type EventRow, expectedReport, type Question } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { ownFolder } from '../own-folder.ts';
import { writeTables } from '../write-events.ts';
import { askEngine } from './ask-engine.ts';
import { declareTables, trinoOver } from './trino-tables.ts';

const home = await ownFolder();
await writeTables(join(home, 'events'), knownEvents(1, 2_000));
const trinoUrl = String(process.env['TEST_TRINO_URL']);
const open = trinoOver(trinoUrl, join(home, 'events'));
const engine = await open({ database: 'performance_reports', scratchDirectory: join(home, 'scratch') });
afterAll(() => engine.close());

const run = (sql: string, parameters: string[] = [], signal = new AbortController().signal) =>
  engine.run({ id: randomUUID(), sql, parameters, signal });

const csvOf = async (sql: string, ...parameters: string[]): Promise<string> =>
  readFile((await run(sql, parameters)).csvPath, 'utf8');

it.each<[string, string, string[], string, number]>([
  ['bad syntax', 'SELECT FROM', [], 'SYNTAX_ERROR', 1006],
  ['an unknown table', 'SELECT * FROM nope', [], 'TABLE_NOT_FOUND', 1301],
  ['an unknown column', 'SELECT nope FROM publisher_events', [], 'COLUMN_NOT_FOUND', 1000],
  ['an unknown function', 'SELECT nope(1)', [], 'FUNCTION_NOT_FOUND', 1303],
  ['a bad cast', `SELECT CAST('a' AS bigint)`, [], 'INVALID_CAST_ARGUMENT', 1100],
  ['a number that is too large', 'SELECT CAST(300 AS tinyint)', [], 'NUMERIC_VALUE_OUT_OF_RANGE', 1100],
  ['too few parameters', 'SELECT ?, ?', ['1'], 'INVALID_PARAMETER_USAGE', 1100],
  ['a parameter that closes its brackets', 'SELECT ?', ['1), (2'], 'INVALID_PARAMETER_USAGE', 1100],
  ['two statements', 'SELECT 1; SELECT 2', [], 'SYNTAX_ERROR', 1006],
])(
  'a query that fails because of %s gives a user error with Athena’s error type',
  async (_, sql, parameters, name, type) => {
    await expect(run(sql, parameters)).rejects.toMatchObject({
      ...{ name: 'Error', message: expect.stringMatching(`^${name}: .`) },
      ...{ category: 2, type, retryable: false },
    });
  },
);

it('the engine stops an aborted query in the cluster', async () => {
  const abort = new AbortController();
  const endless =
    'SELECT count(*) FROM UNNEST(sequence(1, 10000)) a(n), UNNEST(sequence(1, 10000)) b(n), UNNEST(sequence(1, 10000)) c(n)';
  const ended = run(endless, [], abort.signal);
  setTimeout(() => abort.abort(), 500);
  await expect(ended).rejects.toThrow('aborted');
  const stateOf = "SELECT state FROM system.runtime.queries WHERE query LIKE '%c(n)'";
  expect(await csvOf(stateOf)).toBe('"state"\n"FAILED"\n');
});

it('the engine counts only the bytes of the days that a query reads', async () => {
  // Trino reads a whole file if it is smaller than 3 MB, so the bytes of single columns can't be tested here.
  const scanned = async (where: string) =>
    (await run(`SELECT sum(clicks) FROM publisher_events WHERE ${where}`)).bytesScanned;
  const oneDay = await scanned("day = '2026-01-01'");
  expect(oneDay).toBeGreaterThan(0);
  expect(await scanned("day >= '2025-12-30'")).toBeGreaterThan(4 * oneDay);
  expect(await scanned("day = '2026-01-04'")).toBe(0);
});

const FIRST_DAY = '2026-01-02';
const known = knownEvents(33, 300);
const onAndAfter = known.publisher_events.filter((row: EventRow) => String(row['event_time']) >= FIRST_DAY);

await writeTables(join(home, 'projected'), known);
const cluster = await declareTables(trinoUrl, join(home, 'projected'), FIRST_DAY);
const projecting = await trinoOn(cluster)({ database: 'lake', scratchDirectory: join(home, 'others') });
afterAll(() => projecting.close());

// The deployed tables use Athena's partition projection. Trino's projection has the same properties and types.
it.each<[string, string, string, Question['filters']?]>([
  [
    'is empty before its first day, although the lake has records',
    '2025-12-01T00:00:00Z',
    '2026-01-02T00:00:00Z',
  ],
  ['gives the records from its first day on', '2025-12-25T10:30:00Z', '2026-01-20T00:00:00Z'],
  ['is empty in the year 0000', '0000-01-01T00:00:00Z', '0000-02-01T00:00:00Z'],
  ['is empty after today', '9999-12-01T00:00:00Z', '9999-12-31T23:59:59Z'],
  [
    'is empty if a filter names a day of the year 0000',
    '2026-01-02T00:00:00Z',
    '2026-01-20T00:00:00Z',
    { Day: ['0000-01-01T00:00:00Z'] },
  ],
])('a table that projects its days from a first day %s', async (_, start, end, filters = {}) => {
  const question: Question = { fields: ['Day', 'Opens', 'Clicks'], start, end, filters };
  const csv = await askEngine(projecting, publisherReport, { question });
  expect(csv).toBe(expectedReport('publisherperformance', onAndAfter, question));
});
