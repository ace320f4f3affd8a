import { DUCKDB_TYPE } from '../../lake-check/column-types.ts';
import { companyColumn, measureColumns } from '../../lake-check/report-columns.ts';
import type { Report } from '../../lib/report/catalogue.ts';
import { quoteName, quoteText } from '../../lib/report/quote-sql.ts';
import { type Table, TIME_COLUMN } from '../../lib/report/tables.ts';

/** A day of medium size has this many row groups. A report of one company can skip most of them. */
const ROW_GROUPS = 32;

/** A row group with fewer rows costs more in the footer than it saves. */
const LEAST_ROWS = 8_192;
const MAX_ROWS = 122_880;
/** DuckDB writes row groups in steps of this many rows. */
const STEP_ROWS = 2_048;

/** How many of a day's rows go into one row group. */
export const rowGroupRows = (rows: number): number =>
  Math.min(MAX_ROWS, Math.max(LEAST_ROWS, Math.ceil(rows / ROW_GROUPS / STEP_ROWS) * STEP_ROWS));

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
    return measures.has(name) ? `CAST(sum(${quoted}) AS ${DUCKDB_TYPE[type]}) AS ${quoted}` : quoted;
  });
  const others = dimensions.map(({ name }) => name).filter((name) => name !== company);
  const order = [company, ...others, TIME_COLUMN, ...measures].map((name) => `${quoteName(name)} NULLS LAST`);
  return [
    `SELECT ${columns.join(', ')}`,
    `FROM ${source}`,
    ...(hourly
      ? [
          `GROUP BY date_trunc('hour', ${quoteName(TIME_COLUMN)}), ${dimensions.map(({ name }) => quoteName(name)).join(', ')}`,
        ]
      : []),
    `ORDER BY ${order.join(', ')}`,
  ].join('\n');
}

/** SQL that writes a day into a directory: one file, or several if the day is large. */
export const dayCopy = (select: string, rows: number, directory: string): string =>
  `COPY (${select})\nTO ${quoteText(directory)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowGroupRows(rows)}, FILE_SIZE_BYTES '1GB')`;
