import { join } from 'node:path';
import { quoteName, quoteText } from '../../lib/report/quote-sql.ts';
import { type Column, PARTITION_COLUMN, type Table } from '../../lib/report/tables.ts';
import type { TypeMismatch } from './check-files.ts';

/**
 * SQL that reads a table of a directory as Athena does. It reads every file in a day's folder and in the folders
 * below. It leaves out files and folders whose name begins with `_` or `.`. Columns are found by name. A column that
 * a file lacks is NULL. The day comes from the folder. Reading a column with a type mismatch fails. The session has
 * to be in UTC.
 */
export function tableSelect(
  directory: string,
  { name, columns }: Table,
  typeMismatches: readonly TypeMismatch[],
): string {
  const dayFolders = join(directory, name, `${PARTITION_COLUMN}=`);
  const start = [...dayFolders].length + 1;
  const files = quoteText(`${dayFolders}*/**/[!._]*`);
  const read = columns.map((column) => guarded(column, typeMismatches));
  // Without a schema, DuckDB takes the types of the first file. Hive partitioning is off, because it refuses folders
  // like `hour=05` that only some days have. The day is cut from `filename` instead: DuckDB evaluates conditions on
  // the file name before it opens a file, so that a query reads only its days.
  return `SELECT ${read.join(', ')}, substr(filename, ${start}, ${DAY_LENGTH}) AS ${quoteName(PARTITION_COLUMN)}
    FROM read_parquet(${files}, filename = true, hive_partitioning = false, schema = ${schemaOf(columns)})
    WHERE NOT regexp_matches(substr(filename, ${start}), '/[._]')`;
}

/** SQL for the same columns without records: DuckDB refuses to read a pattern that finds no file. */
export const emptySelect = ({ columns }: Table): string => {
  const read = columns.map(({ name, type }) => `CAST(NULL AS ${type}) AS ${quoteName(name)}`);
  return `SELECT ${read.join(', ')}, CAST(NULL AS VARCHAR) AS ${quoteName(PARTITION_COLUMN)} WHERE false`;
};

const DAY_LENGTH = 'YYYY-MM-DD'.length;

const schemaOf = (columns: readonly Column[]): string => {
  const members = columns.map(({ name, type }) => {
    const text = quoteText(name);
    return `${text}: {name: ${text}, type: ${quoteText(type)}, default_value: NULL}`;
  });
  return `MAP {${members.join(', ')}}`;
};

/**
 * SQL for a column. Reading the column from a file with a type mismatch fails with Athena's message. DuckDB would cast
 * the values instead, and a DOUBLE can't hold every id exactly. The CASE keeps DuckDB from skipping row groups, so
 * only columns with mismatches get it.
 */
function guarded({ name, type }: Column, typeMismatches: readonly TypeMismatch[]): string {
  const quoted = quoteName(name);
  const byType = Map.groupBy(
    typeMismatches.filter(({ column }) => column === name),
    ({ found }) => found,
  );
  if (byType.size === 0) return quoted;
  const cases = [...byType].map(([found, files]) => {
    const before = quoteText(`HIVE_BAD_DATA: Field ${name}'s type ${found} in parquet file `);
    const after = quoteText(` is incompatible with type ${type} defined in table schema`);
    const paths = files.map(({ path }) => quoteText(path)).join(', ');
    return `WHEN filename IN (${paths}) THEN error(${before} || filename || ${after})`;
  });
  return `CASE ${cases.join(' ')} ELSE ${quoted} END AS ${quoted}`;
}
