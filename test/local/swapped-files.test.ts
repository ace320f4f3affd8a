import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { duckDbOn } from '../../local/athena/duckdb-engine.ts';
import type { OpenedEngine } from '../../local/athena/query-engine.ts';
import { ownFolder } from '../own-folder.ts';
import { writeEvents } from '../write-events.ts';

/** The ids of two companies, which are equal as doubles. */
const FIRST = 9_007_199_254_740_992n;
const SECOND = 9_007_199_254_740_993n;

const folder = await ownFolder();
let home: string;
let events: string;
let engine: OpenedEngine;

beforeEach(async () => {
  home = await mkdtemp(join(folder, 'swapped-'));
  events = join(home, 'events');
  const record = (day: string, publisher_company_id: bigint, clicks: number) => ({
    event_time: `${day}T12:00:00.000Z`,
    publisher_company_id,
    clicks,
  });
  await writeEvents(events, 'publisher_events', [
    record('2026-01-30', SECOND, 1),
    record('2026-01-31', FIRST, 10),
    record('2026-01-31', SECOND, 100),
    record('2026-02-01', SECOND, 1_000),
  ]);
  engine = await duckDbOn(events)({ database: 'reports', scratchDirectory: join(home, 'scratch') });
});

afterEach(() => engine.close());

/** Runs a query; resolves to its result in Athena's CSV form. */
const csvOf = async (sql: string): Promise<string> => {
  const { signal } = new AbortController();
  const { csvPath } = await engine.run({ id: randomUUID(), sql, parameters: [], signal });
  return readFile(csvPath, 'utf8');
};
const clicks = (first: string, last: string, more = '') =>
  csvOf(
    `SELECT sum(clicks) AS clicks FROM publisher_events WHERE day BETWEEN '${first}' AND '${last}'
     AND publisher_company_id IN (${SECOND})${more}`,
  );

/**
 * Writes the only file of a day again, as another writer might do. `changes` replace columns. With a `name`, the
 * old file stays, and the new one is a second file of the day.
 */
async function writeAgain(day: string, changes: string, name?: string): Promise<void> {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  const folder = join(events, 'publisher_events', `day=${day}`);
  const found = await connection.runAndReadAll(`SELECT file FROM glob('${folder}/*')`);
  const path = String(found.getRowsJS()[0]?.[0]);
  await connection.run(
    `COPY (SELECT * REPLACE (${changes}) FROM read_parquet('${path}')) TO '${home}/swapped' (FORMAT parquet)`,
  );
  instance.closeSync();
  await rename(join(home, 'swapped'), name ? join(folder, name) : path);
}

const asDouble = 'CAST(publisher_company_id AS DOUBLE) AS publisher_company_id';
const refusal = (found: string, type: string, column = 'publisher_company_id', day = '2026-01-31') => ({
  message: expect.stringMatching(
    `^HIVE_BAD_DATA: Field ${column}'s type ${found.replaceAll(/[()]/g, '\\$&')} in parquet file /.*/publisher_events/day=${day}/.* ` +
      `is incompatible with type ${type.replaceAll(/[()]/g, '\\$&')} defined in table schema$`,
  ),
});

describe('a file that has a column of a wrong type, put in place while the engine runs,', () => {
  it.each(['2026-01-30', '2026-01-31', '2026-02-01'])(
    'makes queries of this column fail, for the first, the middle or the last day (%s)',
    async (day) => {
      expect(await clicks('2026-01-30', '2026-02-01')).toBe('"clicks"\n"1101"\n');
      await writeAgain(day, asDouble);
      await expect(clicks('2026-01-30', '2026-02-01')).rejects.toMatchObject(
        refusal('DOUBLE', 'bigint', 'publisher_company_id', day),
      );
    },
  );

  it('does not make queries fail that read neither its day nor this column, or confuse ids equal as doubles', async () => {
    await writeAgain('2026-01-30', asDouble);
    expect(await clicks('2026-01-31', '2026-02-01')).toBe('"clicks"\n"1100"\n');
    await writeAgain('2026-02-01', asDouble);
    expect(await clicks('2026-01-31', '2026-01-31')).toBe('"clicks"\n"100"\n');
    expect(await csvOf('SELECT sum(clicks) AS clicks FROM publisher_events')).toBe('"clicks"\n"1111"\n');
  });

  it('makes queries fail until a correct file replaces it', async () => {
    await writeAgain('2026-01-31', 'CAST(clicks AS DOUBLE) AS clicks');
    const all = () => clicks('2026-01-30', '2026-02-01');
    for (const _ of ['first', 'again'])
      await expect(all()).rejects.toMatchObject(refusal('DOUBLE', 'bigint', 'clicks'));
    await writeAgain('2026-01-31', 'CAST(clicks AS BIGINT) AS clicks');
    expect(await all()).toBe('"clicks"\n"1101"\n');
  });

  it('makes queries of its day fail even if it is a second file of the day', async () => {
    await writeAgain('2026-01-31', asDouble, 'a.parquet');
    await expect(clicks('2026-01-31', '2026-01-31')).rejects.toMatchObject(refusal('DOUBLE', 'bigint'));
    expect(await clicks('2026-02-01', '2026-02-01')).toBe('"clicks"\n"1000"\n');
  });

  it.each([
    ['clicks', "'7' AS clicks", 'VARCHAR', 'bigint'],
    ['revenue', '1.5::DECIMAL(18,4) AS revenue', 'DECIMAL(18,4)', 'decimal(18,6)'],
    ['event_time', "DATE '2026-01-31' AS event_time", 'DATE', 'timestamp'],
  ])('makes queries of %s fail if the file has %s', async (column, change, found, type) => {
    await writeAgain('2026-01-31', change);
    await expect(
      csvOf(`SELECT max(${column}) AS c FROM publisher_events WHERE day = '2026-01-31'`),
    ).rejects.toMatchObject(refusal(found, type, column));
  });
});
