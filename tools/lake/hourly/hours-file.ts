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
  const sources = [...alike.values()].map((group) => {
    const from = `read_parquet(${pathList(group.map(({ file }) => file))}, hive_partitioning = false)`;
    return `${selectOf(table, ({ name }) => group[0]?.footer.types.has(name))} FROM ${from}`;
  });
  const source = sources.join(' UNION ALL ') || `${selectOf(table, () => false)} WHERE false`;
  try {
    await connection.run(
      `CREATE OR REPLACE TEMP TABLE hours_of_day AS ${daySelect(table, report, `(${source})`, true)}`,
    );
    const reader = await connection.runAndReadAll('SELECT count(*) FROM hours_of_day');
    const hours = Number(reader.getRowsJS()[0]?.[0]);
    const note = openNote ? `, KV_METADATA {${OPEN_NOTE}: ${quoteText(openNote)}}` : '';
    await connection.run(
      `COPY (FROM hours_of_day) TO ${quoteText(path)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowGroupRows(hours)}${note})`,
    );
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

/** SQL for the contract's columns, with its types. A column that the files don't have is NULL. */
const selectOf = (table: Table, has: (column: Table['columns'][number]) => boolean | undefined): string =>
  `SELECT ${table.columns.map((column) => `CAST(${has(column) ? quoteName(column.name) : 'NULL'} AS ${column.type}) AS ${quoteName(column.name)}`).join(', ')}`;
