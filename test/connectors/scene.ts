import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Connector, startConnector } from './dlt-connector.ts';
import { FIELDS, type RestatedService, startRestatedService } from './restated-service.ts';

const REPORT = 'publisherperformance';

/** A service with 90 days of events, and the connector that keeps tables of its reports. */
export interface Scene {
  readonly service: RestatedService;
  readonly connector: Connector;
  readonly home: string;
  readonly environment: Readonly<Record<string, string>>;
  databaseOf(name: string): string;
  /** The command's parameters, by default for all days and fields. */
  argv(database: string, changes?: Change): string[];
  /** Fails unless the table has exactly the rows of a full pull. Resolves to the number of bytes of that pull. */
  expectEqual(database: string, changes?: Change): Promise<number>;
  close(): Promise<void>;
}

export interface Change {
  readonly fields?: readonly string[];
  readonly filters?: readonly (readonly [string, string])[];
  readonly start?: string;
  readonly end?: string;
  readonly table?: string;
  readonly options?: readonly string[];
}

export async function startScene(python: string, seed: number): Promise<Scene> {
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
    databaseOf: (name) => join(home, `${name}.duckdb`),
    argv(database, changes = {}) {
      const { start, end, fields, filters = [], table, options = [] } = { ...all, ...changes };
      return [
        ...[REPORT, '--fields', fields.join(','), '--start', start, '--end', end],
        ...filters.flatMap(([field, value]) => ['--filter', `${field}=${value}`]),
        ...(table === REPORT ? [] : ['--table', table]),
        ...['--database', database, ...options],
      ];
    },
    async expectEqual(database, changes = {}) {
      const { options: _, ...question } = { ...all, ...changes };
      const { rows, expectedRows, differences, bytes } = await connector.compare({
        database,
        report: REPORT,
        ...question,
      });
      expect({ rows, differences }).toEqual({ rows: expectedRows, differences: [] });
      return bytes;
    },
    async close() {
      await connector.close();
      await service.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}
