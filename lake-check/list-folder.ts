import { accessSync, constants, existsSync, lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PARTITION_COLUMN, tables } from '../lib/report/tables.ts';
import { OperatorFault } from '../lib/terminal/operator-fault.ts';
import { convertFiles } from './lake-commands.ts';
import type { ListedFile } from './lake-facts.ts';
import { isDayFolder, isHidden } from './layout.ts';
import { readFooter } from './read-footers.ts';

const NEEDED = `needed: a folder with ${tables.map(({ name }) => `${name}/${PARTITION_COLUMN}=YYYY-MM-DD/`).join(' or ')}`;

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
      // Node.js gives a name that is no UTF-8 with this character. No path leads to the file then.
      if (here.name.includes('\ufffd')) {
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

/**
 * The stamps of the files that the engines read in a table's days. After each day, other work runs. Asynchronous calls
 * take four times as long, and would wait for threads that run queries.
 */
export async function stampFiles(table: string): Promise<Map<string, string>> {
  const stamps = new Map<string, string>();
  for (const name of namesIn(table).filter(isDayFolder)) {
    stampBelow(join(table, name), stamps);
    await nextTurn();
  }
  return stamps;
}

function stampBelow(folder: string, stamps: Map<string, string>): void {
  for (const name of namesIn(folder)) {
    if (isHidden(name)) continue;
    const path = join(folder, name);
    const here = lstatSync(path, { throwIfNoEntry: false });
    const found = here?.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : here;
    // DuckDB follows no link to a folder here.
    if (here?.isDirectory()) stampBelow(path, stamps);
    else if (found?.isFile()) stamps.set(path, stampOf(found));
  }
}

/** No program can set `ctime`, so a file that was written again has another stamp. */
const stampOf = ({ ino, size, mtimeMs, ctimeMs }: Stats): string => `${ino} ${size} ${mtimeMs} ${ctimeMs}`;

/** The names in a folder. Empty if the folder does not exist or can't be read. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
