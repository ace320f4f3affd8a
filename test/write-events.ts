import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { measureColumns } from '../lake-check/report-columns.ts';
import { reports } from '../lib/report/catalogue.ts';
import { quoteName, quoteText } from '../lib/report/quote-sql.ts';
import { type Column, PARTITION_COLUMN, TIME_COLUMN, tableOf } from '../lib/report/tables.ts';

/**
 * The values of one record, by column. `event_time` is a text like `2026-01-31T23:59:59.999Z`, and money is a text
 * like `0.25`. A column that is left out is 0 if it is a measure, and NULL otherwise.
 */
export type EventRow = { readonly event_time: string } & Readonly<
  Record<string, string | number | bigint | null>
>;

/**
 * Adds records to a table of a directory of events, as the data contract lays them out. Each record lands in
 * the partition of its UTC day.
 */
export async function writeEvents(
  directory: string,
  table: string,
  rows: readonly EventRow[],
): Promise<void> {
  const report = reports.find((candidate) => candidate.table === table);
  if (!report) throw new TypeError(`there is no table ${table}`);
  const { columns } = tableOf(report);
  const measures = measureColumns(report);
  const records = rows.map((row) => recordOf(columns, measures, row));
  const path = join(directory, table);
  await mkdir(path, { recursive: true });

  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  try {
    await connection.run(copyInto(path, columns), [JSON.stringify(records)]);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** Adds the records of several tables to a directory of events. */
export async function writeTables(directory: string, events: Readonly<Record<string, readonly object[]>>) {
  for (const [table, rows] of Object.entries(events))
    await writeEvents(directory, table, rows as readonly EventRow[]);
}

/** A record with every value as text. DuckDB parses the text as the column's type, so that no digit is lost. */
function recordOf(
  columns: readonly Column[],
  measures: readonly string[],
  row: EventRow,
): Record<string, string | null> {
  const unknown = Object.keys(row).find((key) => columns.every(({ name }) => name !== key));
  if (unknown) throw new TypeError(`the table has no column ${unknown}`);
  return Object.fromEntries(
    columns.map(({ name }) => {
      const value = row[name] ?? (measures.includes(name) && row[name] === undefined ? 0 : null);
      return [name, value === null ? null : String(value)];
    }),
  );
}

function copyInto(path: string, columns: readonly Column[]): string {
  const shape = JSON.stringify([Object.fromEntries(columns.map(({ name }) => [name, 'VARCHAR']))]);
  const typed = columns.map(
    // Times are stored in milliseconds: Athena reads no finer timestamps from Parquet.
    ({ name, type }) =>
      `CAST(record.${quoteName(name)} AS ${type === 'timestamp' ? 'TIMESTAMP_MS' : type}) AS ${quoteName(name)}`,
  );
  return `COPY (SELECT ${typed.join(', ')}, record.${TIME_COLUMN}[:10] AS ${PARTITION_COLUMN}
      FROM (SELECT unnest(from_json($1, ${quoteText(shape)})) AS record))
    TO ${quoteText(path)} (FORMAT parquet, PARTITION_BY (${PARTITION_COLUMN}), APPEND)`;
}
