import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { EventRow } from '../e2e/expected-report.ts';
import { openWriter, type Writer } from '../tools/make-parquet.ts';
import { plainEvents } from '../tools/odd-forms.ts';
import { expectLake } from './bring-in.ts';
import { COUNTS, type Group, KEYS } from './lake-groups.ts';
import { asAmount, millionths } from './millionths.ts';

const events = plainEvents(20, 1_200)['publisher_events'] ?? [];

const hourOf = (row: EventRow): string => String(row['event_time']).slice(0, 13).replace('T', ' ');

/** The groups that the lake must have, summed by this test. */
function groupsOf(rows: readonly EventRow[]): Group[] {
  const [, ...dimensions] = KEYS;
  const alike = Map.groupBy(rows, (row) =>
    JSON.stringify([hourOf(row), ...dimensions.map((name) => row[name]?.toString() ?? null)]),
  );
  const sum = (
    values: readonly (string | bigint | null | undefined)[],
    numberOf: (value: string) => bigint,
  ) => values.reduce<bigint>((total, value) => total + numberOf(String(value ?? 0)), 0n);
  return [...alike].map(([key, group]) => [
    ...JSON.parse(key),
    String(group.length),
    ...COUNTS.map((name) =>
      String(
        sum(
          group.map((row) => row[name]),
          BigInt,
        ),
      ),
    ),
    asAmount(
      sum(
        group.map((row) => row['revenue']),
        millionths,
      ),
    ),
  ]);
}

describe('hive-partitioned folders that DuckDB writes', () => {
  let home: string;
  let writer: Writer;
  let texts: string;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'sources-'));
    writer = await openWriter(home);
    texts = join(home, 'events.json');
    await writeFile(
      texts,
      JSON.stringify(events, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    );
  });
  afterAll(async () => {
    writer[Symbol.dispose]();
    await rm(home, { recursive: true });
  });

  it.each([
    ['DOUBLE', 'TIMESTAMP', 'parquet'],
    ['DOUBLE', 'TIMESTAMPTZ', 'csv'],
    ['DOUBLE', 'TIMESTAMP', 'csv'],
    ['DECIMAL(18,6)', 'TIMESTAMPTZ', 'parquet'],
    ['DECIMAL(18,6)', 'TIMESTAMP_NS', 'parquet'],
    ['DECIMAL(38,10)', 'TIMESTAMP_MS', 'csv'],
    ['DECIMAL(38,10)', 'TIMESTAMP_MS', 'parquet'],
  ])(
    'with amounts of %s and times of %s, in %s files, become a lake with the same sums',
    async (amount, time, format) => {
      const name = [amount, time, format].join(' ').replaceAll(/\W+/g, '-');
      const typed = Object.keys(events[0] ?? {}).map((column) => {
        if (column === 'device_or_proxy') return column;
        const type = column === 'event_time' ? time : column === 'revenue' ? amount : 'BIGINT';
        const value = column === 'event_time' ? "event_time::TIMESTAMPTZ AT TIME ZONE 'UTC'" : column;
        return `CAST(${value} AS ${type}) AS ${column}`;
      });
      await writer.file(
        name,
        `SELECT ${typed.join(', ')}, event_time[:10] AS day FROM read_json('${texts}', columns = {${Object.keys(events[0] ?? {}).map((column) => `${column}: 'VARCHAR'`)}})`,
        `FORMAT ${format}, PARTITION_BY (day)`,
      );
      await expectLake(home, { name }, groupsOf(events));
    },
  );
});
