import { fits } from '../../lake-check/column-types.ts';
import { type DayEntry, listDays } from '../../lake-check/list-folder.ts';
import { readFooters } from '../../lake-check/read-footers.ts';
import type { Table } from '../../lib/report/tables.ts';

/** A column of a file whose type can't be read as the type of the table's column. */
export interface TypeMismatch {
  readonly path: string;
  readonly column: string;
  /** The name of the column's type in the file. */
  readonly found: string;
}

/** The files of a table's days, by path, as they were when they were last checked. */
export type CheckedFiles = ReadonlyMap<
  string,
  DayEntry & { readonly typeMismatches: readonly TypeMismatch[] }
>;

/** The present files of a table. Nothing in them is read, so no type mismatch is known. */
export async function unreadFiles(directory: string, table: Table): Promise<CheckedFiles> {
  const entries = await listDays(directory, table.name);
  return new Map([...entries].map(([path, entry]) => [path, { ...entry, typeMismatches: [] }]));
}

/** The present files of a table. Reads the footers of those that are new or changed since `before`. */
export async function checkFiles(
  directory: string,
  table: Table,
  before: CheckedFiles,
): Promise<CheckedFiles> {
  const now = new Map(await unreadFiles(directory, table));
  const changed: string[] = [];
  for (const [path, entry] of now) {
    const known = before.get(path);
    if ('unreadable' in entry) continue;
    if (known && 'stamp' in known && known.stamp === entry.stamp) now.set(path, known);
    else changed.push(path);
  }
  if (changed.length === 0) return now;
  const files = changed.map((path) => ({ id: path, path }));
  for (const [path, footer] of await readFooters(files)) {
    const entry = now.get(path);
    // A broken file fails the queries that read it. It is checked again before the next query: it may be half-written.
    if (!entry || 'found' in footer) now.set(path, { stamp: '', typeMismatches: [] });
    else now.set(path, { ...entry, typeMismatches: misfitsOf(path, footer.types, table) });
  }
  return now;
}

const misfitsOf = (path: string, types: ReadonlyMap<string, string>, { columns }: Table): TypeMismatch[] =>
  columns.flatMap(({ name, type }) => {
    const found = types.get(name);
    return found === undefined || fits(type, found) ? [] : [{ path, column: name, found }];
  });
