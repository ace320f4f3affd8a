import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import { companyColumn, measureColumns } from '../../lake-check/report-columns.ts';
import type { Report } from '../../lib/report/catalogue.ts';
import { quoteName, quoteText } from '../../lib/report/quote-sql.ts';
import { type Table, TIME_COLUMN } from '../../lib/report/tables.ts';
import { OperatorFault } from '../../lib/terminal/operator-fault.ts';
import { runTrusting } from './open-duckdb.ts';

/** A day of medium size has this many row groups. A report of one company can skip most of them. */
const ROW_GROUPS = 32;

/** A row group with fewer rows costs more in the footer than it saves. */
const LEAST_ROWS = 8_192;
const MAX_ROWS = 122_880;
/** DuckDB writes row groups in steps of this many rows. */
const STEP_ROWS = 2_048;

/**
 * SQL for a day's records as they are stored, summed by the hour if `hourly` is set. They are sorted by company, then
 * by every other column, so that equal records give equal files.
 */
export function daySelect(table: Table, report: Report, source: string, hourly: boolean): string {
  const measures = new Set(measureColumns(report));
  const company = companyColumn(report);
  const dimensions = table.columns.filter(({ name }) => name !== TIME_COLUMN && !measures.has(name));
  const columns = table.columns.map(({ name, type }) => {
    const quoted = quoteName(name);
    if (!hourly) return quoted;
    if (name === TIME_COLUMN) return `CAST(date_trunc('hour', ${quoted}) AS TIMESTAMP_MS) AS ${quoted}`;
    return measures.has(name) ? `CAST(sum(${quoted}) AS ${type}) AS ${quoted}` : quoted;
  });
  const others = dimensions.map(({ name }) => name).filter((name) => name !== company);
  const order = [company, ...others, TIME_COLUMN, ...measures].map((name) => `${quoteName(name)} NULLS LAST`);
  const equal = [
    `date_trunc('hour', ${quoteName(TIME_COLUMN)})`,
    ...dimensions.map(({ name }) => quoteName(name)),
  ];
  const grouping = hourly ? `\nGROUP BY ${equal.join(', ')}` : '';
  return `SELECT ${columns.join(', ')}\nFROM ${source}${grouping}\nORDER BY ${order.join(', ')}`;
}

/** How DuckDB writes a day of so many rows. */
export function dayFormat(rows: number): string {
  const steps = Math.ceil(rows / ROW_GROUPS / STEP_ROWS);
  const inGroup = Math.min(MAX_ROWS, Math.max(LEAST_ROWS, steps * STEP_ROWS));
  return `FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${inGroup}`;
}

/** The fault, with its cure, if DuckDB's error says that an hour's sum is too large for its column. */
export function sumFault({ message }: Error, what: string, cure: string): OperatorFault | undefined {
  if (!/out of range|overflow|could not be cast|can't be cast/i.test(message)) return undefined;
  const [reason] = message.split('\n', 1);
  return new OperatorFault(
    `${what} of equal dimensions adds up to more than a column holds. ${cure} (${reason})`,
  );
}

/**
 * Writes a day's files into a directory of this machine: one file, or several if the day is large. A file's name in the
 * lake comes from the hash of its content, so the same records get the same name again. Resolves to the files and the
 * number of their records. Throws an OperatorFault if an hour's sum is too large for its column.
 *
 * @param select the SQL of `daySelect`; with the number of rows that it reads, and the day as a fault names it
 */
export async function writeDay(
  connection: DuckDBConnection,
  { select, rows, day }: Readonly<{ select: string; rows: number; day: string }>,
  directory: string,
) {
  const sql = `COPY (${select})\nTO ${quoteText(directory)} (${dayFormat(rows)}, FILE_SIZE_BYTES '1GB')`;
  const written = await runTrusting(connection, sql).catch((error: Error) => {
    throw sumFault(error, `${day}: an hour`, 'Convert without --hourly.') ?? error;
  });
  const files: { readonly path: string; readonly name: string }[] = [];
  for (const name of (await readdir(directory)).sort()) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(directory, name)), hash);
    files.push({ path: join(directory, name), name: `events-${hash.digest('hex').slice(0, 12)}.parquet` });
  }
  return { files, records: Number(written.getRowsJS()[0]?.[0]) };
}
