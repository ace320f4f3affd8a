import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll } from 'vitest';
import { tables } from '../../lib/report/tables.ts';

/** Writes Parquet and CSV files with any columns and types, as other writers might do. */
export interface Writer extends Disposable {
  /** Writes a file with the records of a SELECT. */
  file(path: string, select: string, options?: string): Promise<void>;
  rows(sql: string): Promise<unknown[][]>;
}

export async function openWriter(directory: string): Promise<Writer> {
  const instance = await DuckDBInstance.create();
  const connection: DuckDBConnection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  return {
    async file(path, select, options = 'FORMAT parquet') {
      await mkdir(dirname(join(directory, path)), { recursive: true });
      await connection.run(`COPY (${select}) TO '${join(directory, path)}' (${options})`);
    },
    async rows(sql) {
      return (await connection.runAndReadAll(sql)).getRowsJson() as unknown[][];
    },
    [Symbol.dispose]() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/** A folder, and a writer into it, for all tests of a file. Both are gone after the last. */
export async function writingFolder(): Promise<{ readonly folder: string; readonly writer: Writer }> {
  const folder = await mkdtemp(join(tmpdir(), 'lake-'));
  const writer = await openWriter(folder);
  afterAll(() => {
    writer[Symbol.dispose]();
    return rm(folder, { recursive: true });
  });
  return { folder, writer };
}

/** A SELECT of one record of 2026-01-31 that fits the contract. `changed` replaces values; undefined omits a column. */
export function record(table: string, changed: Readonly<Record<string, string | undefined>> = {}): string {
  const plain = { timestamp: "TIMESTAMP '2026-01-31 12:00:00'", bigint: '1::BIGINT', varchar: "'x'" };
  const columns = tables
    .find(({ name }) => name === table)
    ?.columns.map(({ name, type }) => {
      const usual =
        name === 'container_opens' ? '0::BIGINT' : type in plain ? plain[type as 'bigint'] : `1::${type}`;
      const value = name in changed ? changed[name] : usual;
      return value && `${value} AS ${name}`;
    });
  return `SELECT ${columns?.filter(Boolean).join(', ')}`;
}

export const publisherRecord = (changed: Readonly<Record<string, string | undefined>> = {}): string =>
  record('publisher_events', changed);
