import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { publisherReport } from '../../lib/report/catalogue.ts';
import { trinoOn } from '../../local/trino/trino-engine.ts';
import { type EventRow, expectedReport, type Question } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { ownFolder } from '../own-folder.ts';
import { writeTables } from '../write-events.ts';
import { askEngine } from './ask-engine.ts';
import { declareTables } from './trino-tables.ts';

const FIRST_DAY = '2026-01-02';
const events = knownEvents(33, 300);
const onAndAfter = events.publisher_events.filter((row: EventRow) => String(row['event_time']) >= FIRST_DAY);

const home = await ownFolder();
await writeTables(join(home, 'events'), events);
const cluster = await declareTables(String(process.env['TEST_TRINO_URL']), join(home, 'events'), FIRST_DAY);
const engine = await trinoOn(cluster)({ database: 'lake', scratchDirectory: join(home, 'scratch') });
afterAll(() => engine.close());

/** The deployed tables use Athena's partition projection. Trino's projection has the same properties and types. */
it.each<[string, string, string, Question['filters']?]>([
  [
    'is empty before its first day, although the lake has records',
    '2025-12-01T00:00:00Z',
    '2026-01-02T00:00:00Z',
  ],
  ['gives the records from its first day on', '2025-12-25T10:30:00Z', '2026-01-20T00:00:00Z'],
  ['is empty in the year 0000', '0000-01-01T00:00:00Z', '0000-02-01T00:00:00Z'],
  ['is empty in a window of some hours of the year 0000', '0000-01-01T00:30:00Z', '0000-01-01T10:30:00Z'],
  ['is empty after today', '9999-12-01T00:00:00Z', '9999-12-31T23:59:59Z'],
  [
    'is empty if a filter names a day of the year 0000',
    '2026-01-02T00:00:00Z',
    '2026-01-20T00:00:00Z',
    { Day: ['0000-01-01T00:00:00Z'] },
  ],
])('a table that projects its days from a first day %s', async (_, start, end, filters = {}) => {
  const question: Question = { fields: ['Day', 'Opens', 'Clicks'], start, end, filters };
  const csv = await askEngine(engine, publisherReport, { question });
  expect(csv).toBe(expectedReport('publisherperformance', onAndAfter, question));
});
