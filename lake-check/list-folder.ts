import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PARTITION_COLUMN, tables } from '../lib/report/tables.ts';
import { OperatorFault } from '../lib/terminal/operator-fault.ts';
import { convertFiles } from './lake-commands.ts';
import type { ListedFile } from './lake-facts.ts';
import { dayOf, isHidden } from './layout.ts';
import { readFooter } from './read-footers.ts';

const NEEDED = `needed: a folder with ${tables.map(({ name }) => `${name}/${PARTITION_COLUMN}=YYYY-MM-DD/`).join(' or ')}`;

/** Node.js puts this character into a name that is no UTF-8. No path leads to such a file. */
const NOT_UTF8 = '\ufffd';

/** DuckDB follows links to the folders of tables and of days, but no links below them. */
const LINKED_DEPTH = 2;

/**
 * Lists everything below a folder, or only below its folder `below`, which need not exist. Leaves out empty folders.
 * Throws an OperatorFault if the folder itself does not exist, can't be read, or is a file.
 */
export async function listFolder(directory: string, below = ''): Promise<ListedFile[]> {
  const refuse = ({ code }: NodeJS.ErrnoException) => {
    const reason = code === 'ENOENT' ? 'does not exist' : `can't be read (${code})`;
    throw new OperatorFault(`${directory} ${reason}; ${NEEDED}`);
  };
  const found = await stat(directory).catch(refuse);
  if (!found.isDirectory())
    throw new OperatorFault(
      `${directory} is ${kindOf(directory)}, not a folder with a lake. Make a lake of it: ${convertFiles(directory)}`,
    );
  if (below && !existsSync(join(directory, below))) return [];
  return listBelow(directory, below, below ? below.split('/').length + 1 : 1).catch(refuse);
}

/** The kind of a file, in the operator's words. */
function kindOf(path: string): string {
  if (/\.parquet$/i.test(path) || !('found' in readFooter(path))) return 'a Parquet file';
  return /\.(csv|tsv)(\.gz)?$/i.test(path) ? 'a CSV file' : 'a file';
}

/** The calls for the files of a folder are synchronous: asynchronous calls take four times as long. */
async function listBelow(root: string, prefix: string, depth: number): Promise<ListedFile[]> {
  const names = await readdir(join(root, prefix), { withFileTypes: true });
  const listed: ListedFile[] = [];
  for (const here of names.sort(({ name: one }, { name: other }) => (one < other ? -1 : 1))) {
    const path = prefix ? `${prefix}/${here.name}` : here.name;
    const isLink = here.isSymbolicLink();
    try {
      if (here.name.includes(NOT_UTF8)) {
        listed.push(unread(path, 'its name is no UTF-8. Rename it'));
        continue;
      }
      const found = statSync(join(root, path));
      if (!found.isDirectory() && !found.isFile()) listed.push(unread(path, 'it is no file'));
      else if (!found.isDirectory()) {
        accessSync(join(root, path), constants.R_OK);
        listed.push({ path, size: found.size, modifiedAt: found.mtimeMs, stamp: stampOf(found) });
      } else if (isLink && depth > LINKED_DEPTH)
        listed.push(unread(path, 'it is a link to a folder, which DuckDB does not follow here'));
      else listed.push(...(await listBelow(root, path, depth + 1)));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      if (code === 'ENOENT' && isLink) listed.push(unread(path, 'the link leads nowhere'));
      // A file that was removed while the folder was being listed (ENOENT, and no link) is left out.
      else if (code !== 'ENOENT') listed.push(unread(path, `it can't be read (${code})`));
    }
  }
  return listed;
}

const unread = (path: string, unreadable: string) => ({ path, size: 0, modifiedAt: 0, unreadable });

/** A file of a day, or a part of the day that can't be read. */
export type DayEntry = { readonly stamp: string } | { readonly unreadable: string };

/**
 * What the engines read in the days of a table, by path. After each day, other work runs. Asynchronous calls take four
 * times as long, and would wait for threads that run queries.
 *
 * @param root DuckDB may read nothing outside of this folder
 */
export async function listDays(root: string, table: string): Promise<Map<string, DayEntry>> {
  const entries = new Map<string, DayEntry>();
  const folder = join(root, table);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return entries;
  for (const name of readdirSync(folder).filter((one) => dayOf(one) !== undefined)) {
    listEntry(root, join(folder, name), entries, true);
    await nextTurn();
  }
  return entries;
}

function listEntry(root: string, path: string, entries: Map<string, DayEntry>, isDay = false): void {
  let unreadable: string | undefined;
  try {
    unreadable = addEntry(root, path, entries, isDay);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    // What was removed meanwhile is left out.
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return;
    unreadable = code === 'ENOENT' ? 'the link leads nowhere' : `it can't be read (${code})`;
  }
  if (unreadable !== undefined) entries.set(path, { unreadable });
}

/** Adds a file, or what is below a folder. Returns the reason if DuckDB can't read it. */
function addEntry(
  root: string,
  path: string,
  entries: Map<string, DayEntry>,
  isDay: boolean,
): string | undefined {
  if (path.includes(NOT_UTF8)) return 'its name is no UTF-8';
  const here = lstatSync(path);
  const isLink = here.isSymbolicLink();
  if ((isLink || isDay) && !`${realpathSync(path)}/`.startsWith(`${root}/`))
    return 'it is a link out of the lake';
  const found = isLink ? statSync(path) : here;
  if (found.isFile() && !isDay) entries.set(path, { stamp: stampOf(found) });
  if (found.isFile()) return undefined;
  if (!found.isDirectory()) return 'it is no file';
  if (isLink && !isDay) return 'it is a link to a folder';
  for (const name of readdirSync(path)) if (!isHidden(name)) listEntry(root, join(path, name), entries);
  return undefined;
}

/** No program can set `ctime`, so a file that was written again has another stamp. */
const stampOf = ({ ino, size, mtimeMs, ctimeMs }: Stats): string => `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
