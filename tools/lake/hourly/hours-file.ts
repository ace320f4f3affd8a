import type { DuckDBConnection } from '@duckdb/node-api';
import { adviceOf, fits } from '../../../lake-check/column-types.ts';
import { type Footer, tellFault } from '../../../lake-check/lake-facts.ts';
import { type LocalFile, pathList } from '../../../lake-check/read-footers.ts';
import { readWholeFile } from '../../../lake-check/verify-pages.ts';
import type { Report } from '../../../lib/report/catalogue.ts';
import { quoteName, quoteText } from '../../../lib/report/quote-sql.ts';
import type { Table } from '../../../lib/report/tables.ts';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';
import { daySelect, isTooLarge, rowGroupRows } from '../day-file.ts';

/**
 * The key of the note in an open day's file. Because of the note, the file never has the same bytes as the file of a
 * final day.
 */
export const OPEN_NOTE = 'open_day';

/** The number of raw records, and the number of records that remain after they are summed by the hour. */
export interface Summed {
  readonly records: number;
  readonly hours: number;
}

/**
 * Sums a day's raw files by the hour into one file. Throws an OperatorFault if a file breaks the data contract, or if
 * an hour's sum is too large for its column.
 *
 * @param files the raw files; a fault names a file by its `id`
 * @param openNote the note to write into the file of an open day
 */
export async function writeHours(
  connection: DuckDBConnection,
  { table, report }: { readonly table: Table; readonly report: Report },
  files: readonly LocalFile[],
  path: string,
  openNote?: string,
): Promise<Summed> {
  const read: { readonly file: LocalFile; readonly footer: Footer }[] = [];
  for (const file of files) read.push({ file, footer: await usable(table, file) });
  // Files with the same types are read together: a day may have thousands.
  const alike = Map.groupBy(read, ({ footer }) =>
    table.columns.map(({ name }) => footer.types.get(name)).join(),
  );
  const sources = [...alike.values()].map((group) => sourceOf(table, group));
  try {
    await connection.run(
      `CREATE OR REPLACE TEMP TABLE hours_of_day AS ${daySelect(table, report, `(${sources.join(' UNION ALL ') || emptySource(table)})`, true)}`,
    );
    const reader = await connection.runAndReadAll('SELECT count(*) FROM hours_of_day');
    const hours = Number(reader.getRowsJS()[0]?.[0]);
    const options = [
      'FORMAT parquet, COMPRESSION zstd',
      `ROW_GROUP_SIZE ${rowGroupRows(hours)}`,
      ...(openNote ? [`KV_METADATA {${OPEN_NOTE}: ${quoteText(openNote)}}`] : []),
    ];
    await connection.run(`COPY (FROM hours_of_day) TO ${quoteText(path)} (${options.join(', ')})`);
    return { records: read.reduce((sum, { footer }) => sum + footer.rows, 0), hours };
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n', 1);
    if (isTooLarge(error as Error))
      throw new OperatorFault(
        `an hour of equal dimensions adds up to more than a column holds (${reason}). Look for wrong values in it; if they are right, the service can't read this table by the hour`,
      );
    throw new OperatorFault(`it can't be summed: ${reason}`);
  } finally {
    await connection.run('DROP TABLE IF EXISTS hours_of_day');
  }
}

/** The file's footer. Throws an OperatorFault if the engines would not read the file as the data contract says. */
async function usable(table: Table, { id, path }: LocalFile): Promise<Footer> {
  const footer = await readWholeFile(path);
  if ('found' in footer) throw new OperatorFault(`${id}: ${tellFault(footer)}`);
  const [twice] = footer.doubledNames.filter((name) => table.columns.some((column) => column.name === name));
  if (twice)
    throw new OperatorFault(`${id} holds ${twice} more than once (the case of letters does not count)`);
  for (const { name, type } of table.columns) {
    const found = footer.types.get(name);
    if (found && !fits(type, found))
      throw new OperatorFault(
        `${id}: ${name} is ${found}, and the contract has ${type}. ${adviceOf(type, found, name, 'Run `npm run lake -- convert` on the day')}`,
      );
  }
  return footer;
}

const asColumn = (value: string, { name, type }: Table['columns'][number]): string =>
  `CAST(${value} AS ${type}) AS ${quoteName(name)}`;

/** SQL for files that have the same columns of the contract, with the same types. A missing column is NULL. */
function sourceOf(
  table: Table,
  group: readonly { readonly file: LocalFile; readonly footer: Footer }[],
): string {
  const types = group[0]?.footer.types;
  const columns = table.columns.map((column) =>
    asColumn(types?.has(column.name) ? quoteName(column.name) : 'NULL', column),
  );
  return `SELECT ${columns.join(', ')} FROM read_parquet(${pathList(group.map(({ file }) => file))}, hive_partitioning = false)`;
}

const emptySource = (table: Table): string =>
  `SELECT ${table.columns.map((column) => asColumn('NULL', column)).join(', ')} WHERE false`;
