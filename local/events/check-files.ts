import { join } from 'node:path';
import { fits } from '../../lake-check/column-types.ts';
import { listDays } from '../../lake-check/lake-source.ts';
import { readFooters } from '../../lake-check/read-footers.ts';
import type { Table } from '../../lib/report/tables.ts';

/** A column of a file whose type can't be read as the type of the table's column. */
export interface TypeMismatch {
  readonly path: string;
  readonly column: string;
  /** The name of the column's type in the file. */
  readonly found: string;
}

/** A file of a day, or a part of the day that can't be read. */
interface CheckedFile {
  readonly stamp: string;
  readonly typeMismatches: readonly TypeMismatch[];
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
    else now.set(path, { stamp, typeMismatches: misfitsOf(path, footer.types, table) });
  }
  return now;
}

const misfitsOf = (path: string, types: ReadonlyMap<string, string>, { columns }: Table): TypeMismatch[] =>
  columns.flatMap(({ name, type }) => {
    const found = types.get(name);
    return found === undefined || fits(type, found) ? [] : [{ path, column: name, found }];
  });
