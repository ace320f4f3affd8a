import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fits } from '../../lake-check/column-types.ts';
import { listDays } from '../../lake-check/lake-source.ts';
import { escapeGlob, readFooters } from '../../lake-check/read-footers.ts';
import { quoteName, quoteText } from '../../lib/report/quote-sql.ts';
import { type Column, PARTITION_COLUMN, type Table } from '../../lib/report/tables.ts';

/** A file of a day, or a part of the day that can't be read. */
interface CheckedFile {
  readonly stamp: string;
  /** The columns whose types can't be read as the table's, each with the name of its type in the file. */
  readonly typeMismatches: readonly (readonly [column: string, found: string])[];
  readonly unreadable?: string;
}

/** The files of a table's days, by path, as they were when they were last checked. */
export type CheckedFiles = ReadonlyMap<string, CheckedFile>;

/** The present files of a table. Nothing in them is read, so no type mismatch is known. */
export async function unreadFiles(directory: string, { name }: Table): Promise<CheckedFiles> {
  const listed = await listDays(directory, name);
  return new Map(
    listed.map(({ path, stamp = '', unreadable }) => [
      join(directory, path),
      { stamp, typeMismatches: [], ...(unreadable && { unreadable }) },
    ]),
  );
}

/** The present files of a table. Reads the footers of those that are new or changed since `before`. */
export async function checkFiles(
  directory: string,
  table: Table,
  before: CheckedFiles,
): Promise<CheckedFiles> {
  const now = new Map(await unreadFiles(directory, table));
  const isSame = (path: string) => before.get(path)?.stamp === now.get(path)?.stamp;
  const files = [...now].flatMap(([path, { unreadable }]) =>
    unreadable || isSame(path) ? [] : [{ id: path, path }],
  );
  for (const [path, file] of now)
    if (!file.unreadable && isSame(path)) now.set(path, before.get(path) ?? file);
  for (const [path, footer] of await readFooters(files)) {
    const stamp = now.get(path)?.stamp ?? '';
    // A broken file fails the queries that read it. It is checked again before the next query: it may be half-written.
    if ('found' in footer) now.set(path, { stamp: '', typeMismatches: [] });
    else now.set(path, { stamp, typeMismatches: misfitsOf(footer.types, table) });
  }
  return now;
}

const misfitsOf = (types: ReadonlyMap<string, string>, { columns }: Table) =>
  columns.flatMap(({ name, type }) => {
    const fileType = types.get(name);
    return fileType === undefined || fits(type, fileType) ? [] : [[name, fileType] as const];
  });

/**
 * SQL that reads these files of a table, and no others, as Athena does. Columns are found by name. A column that a file
 * lacks is NULL. The day comes from the folder. Reading a column with a type mismatch fails, and so does reading a day
 * with a part that can't be read. The session has to be in UTC.
 *
 * @param scratchDirectory gets a file for each such part, which DuckDB fails to open
 */
export function tableSelect(
  directory: string,
  scratchDirectory: string,
  { name, columns }: Table,
  files: CheckedFiles,
): string {
  const inLake = join(directory, name, `${PARTITION_COLUMN}=`);
  const inScratch = join(scratchDirectory, 'unreadable', name, `${PARTITION_COLUMN}=`);
  const paths = [...files].map(([path, { unreadable }]) =>
    unreadable ? standIn(inScratch, path.slice(inLake.length), unreadable) : path,
  );
  const list = paths.map((path) => quoteText(escapeGlob(path))).join(', ');
  const read = columns.map((column) => guarded(column, files));
  const dayAfter = (prefix: string) => `substr(filename, ${[...prefix].length + 1}, ${DAY_LENGTH})`;
  const day = paths.some((path) => path.startsWith(inScratch))
    ? `CASE WHEN starts_with(filename, ${quoteText(inScratch)}) THEN ${dayAfter(inScratch)} ELSE ${dayAfter(inLake)} END`
    : dayAfter(inLake);
  // Without a schema, DuckDB takes the types of the first file. Hive partitioning is off, because it refuses folders
  // like `hour=05` that only some days have. The day is cut from `filename` instead: DuckDB evaluates conditions on
  // the file name before it opens a file, so that a query reads only its days.
  return `SELECT ${read.join(', ')}, ${day} AS ${quoteName(PARTITION_COLUMN)}
    FROM read_parquet([${list}], filename = true, hive_partitioning = false, schema = ${schemaOf(columns)})`;
}

/** Writes a file that is no Parquet file, in the place of a part of a day. Its name tells why the day can't be read. */
function standIn(days: string, part: string, reason: string): string {
  const folder = `${days}${part.slice(0, DAY_LENGTH)}`;
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${basename(part).slice(0, 40)}: ${reason}`);
  writeFileSync(path, 'This stands for a part of the day that can not be read.\n');
  return path;
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
function guarded({ name, type }: Column, files: CheckedFiles): string {
  const quoted = quoteName(name);
  const misfits = [...files].flatMap(([path, { typeMismatches }]) =>
    typeMismatches.flatMap(([column, found]) => (column === name ? [{ path, found }] : [])),
  );
  if (misfits.length === 0) return quoted;
  const cases = [...Map.groupBy(misfits, ({ found }) => found)].map(([found, files]) => {
    const before = quoteText(`HIVE_BAD_DATA: Field ${name}'s type ${found} in parquet file `);
    const after = quoteText(` is incompatible with type ${type} defined in table schema`);
    const paths = files.map(({ path }) => quoteText(path)).join(', ');
    return `WHEN filename IN (${paths}) THEN error(${before} || filename || ${after})`;
  });
  return `CASE ${cases.join(' ')} ELSE ${quoted} END AS ${quoted}`;
}
