import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect } from 'vitest';
import { type EventRow, expectedReport } from '../e2e/expected-report.ts';
import { startConnector } from './dlt-connector.ts';
import { FIELDS, startRestatedService } from './restated-service.ts';

const REPORT = 'publisherperformance';

export type Scene = Awaited<ReturnType<typeof startScene>>;

export interface Change {
  readonly fields?: readonly string[];
  readonly filters?: readonly (readonly [string, string])[];
  readonly start?: string;
  readonly end?: string;
  readonly table?: string;
  readonly options?: readonly string[];
}

/** Starts a service with 90 days of events, and the connector that keeps tables of its reports. */
export async function startScene(python: string, seed: number) {
  const service = await startRestatedService(seed);
  const home = await mkdtemp(join(tmpdir(), 'performance-reports-dlt-'));
  const environment = { ...service.environment, DLT_DATA_DIR: join(home, 'dlt') };
  const connector = startConnector(python, environment);
  const all = { start: service.days[0] as string, end: service.end, fields: FIELDS, table: REPORT };
  return {
    service,
    connector,
    home,
    environment,
    databaseOf: (name: string) => join(home, `${name}.duckdb`),
    /** The command's parameters, by default for all days and fields. */
    argv(database: string, changes: Change = {}) {
      const { start, end, fields, filters = [], table, options = [] } = { ...all, ...changes };
      return [
        ...[REPORT, '--fields', fields.join(','), '--start', start, '--end', end],
        ...filters.flatMap(([field, value]) => ['--filter', `${field}=${value}`]),
        ...(table === REPORT ? [] : ['--table', table]),
        ...['--database', database, ...options],
      ];
    },
    /** Fails unless the table has exactly the rows of the report. Resolves to the report's number of bytes. */
    async expectEqual(database: string, changes: Change = {}) {
      const { table, fields, filters = [], ...window } = { ...all, ...changes };
      const [start, end] = [window.start, window.end].map((day) => `${day}T00:00:00Z`) as [string, string];
      const events = service.days.flatMap((day) => (service.eventsOn(day) ?? []) as readonly EventRow[]);
      const only = Object.fromEntries(filters.map(([field, value]) => [field, [value]]));
      const csv = expectedReport(REPORT, events, { fields, start, end, filters: only });
      const [, ...expected] = parse(csv, { record_delimiter: '\n' });
      const rows = await connector.rows({ database, table, fields });
      const sorted = (some: readonly (readonly string[])[]) => some.map((row) => JSON.stringify(row)).sort();
      expect(sorted(rows)).toEqual(sorted(expected));
      return Buffer.byteLength(csv);
    },
    async close() {
      await connector.close();
      await service.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}
