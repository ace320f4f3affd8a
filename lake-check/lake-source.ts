import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { accessSync, constants, createReadStream, readdirSync, realpathSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PARTITION_COLUMN, tables } from '../lib/report/tables.ts';
import { OperatorFault } from '../lib/terminal/operator-fault.ts';
import { convertFiles } from './commands.ts';
import type { ListedFile } from './lake-facts.ts';
import { dayOf, isHidden } from './layout.ts';
import { type LocalFile, readFooter } from './read-footers.ts';

const NEEDED = `needed: a folder with ${tables.map(({ name }) => `${name}/${PARTITION_COLUMN}=YYYY-MM-DD/`).join(' or ')}`;

/** Node.js puts this character into a name that is no UTF-8. No path leads to such a file. */
const NOT_UTF8 = '\ufffd';

/** DuckDB follows links to the folders of tables and of days, but no links below them. */
const LINKED_DEPTH = 2;

/**
 * Lists everything below a folder, or only below its folder `below`, which need not exist. Leaves out empty folders.
 * Throws an OperatorFault if the folder itself does not exist, can't be read, or is a file.
 */
export async function listFolder(directory: string, below = '', isFenced = false): Promise<ListedFile[]> {
  const refuse = ({ code }: NodeJS.ErrnoException) => {
    const reason = code === 'ENOENT' ? 'does not exist' : `can't be read (${code})`;
    throw new OperatorFault(`${directory} ${reason}; ${NEEDED}`);
  };
  const found = await stat(directory).catch(refuse);
  if (!found.isDirectory())
    throw new OperatorFault(
      `${directory} is ${kindOf(directory)}, not a folder with a lake. Make a lake of it: ${convertFiles(directory)}`,
    );
  if (below && !statSync(join(directory, below), { throwIfNoEntry: false })) return [];
  return listBelow(directory, below, below ? below.split('/').length + 1 : 1, isFenced).catch(refuse);
}

/** The kind of a file, in the operator's words. */
function kindOf(path: string): string {
  if (/\.parquet$/i.test(path) || !('found' in readFooter(path))) return 'a Parquet file';
  return /\.(csv|tsv)(\.gz)?$/i.test(path) ? 'a CSV file' : 'a file';
}

/**
 * Lists what is below a folder. The calls are synchronous: asynchronous ones take four times as long, and would wait for
 * threads that run queries. After each folder, other work runs.
 */
async function listBelow(
  root: string,
  prefix: string,
  depth: number,
  isFenced = false,
): Promise<ListedFile[]> {
  const names = readdirSync(join(root, prefix), { withFileTypes: true });
  const listed: ListedFile[] = [];
  for (const here of names.sort(({ name: one }, { name: other }) => (one < other ? -1 : 1))) {
    const path = prefix ? `${prefix}/${here.name}` : here.name;
    const isLink = here.isSymbolicLink();
    const unread = (unreadable: string) => listed.push({ path, size: 0, modifiedAt: 0, unreadable });
    try {
      if (here.name.includes(NOT_UTF8)) unread('its name is no UTF-8. Rename it');
      else if (isFenced && isLink && depth > 1 && !isInTable(root, path))
        unread('it is a link out of the table, where DuckDB may not read');
      else {
        const found = statSync(join(root, path));
        if (found.isDirectory() && isLink && depth > LINKED_DEPTH)
          unread('it is a link to a folder, which DuckDB does not follow here');
        else if (found.isDirectory()) listed.push(...(await listBelow(root, path, depth + 1, isFenced)));
        else if (!found.isFile()) unread('it is no file, but a pipe, a socket or a device');
        else {
          accessSync(join(root, path), constants.R_OK);
          listed.push({ path, size: found.size, modifiedAt: found.mtimeMs, stamp: stampOf(found) });
        }
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      if (code === 'ENOENT' && isLink) unread('the link leads nowhere');
      // A file that was removed while the folder was being listed (ENOENT, and no link) is left out.
      else if (code !== 'ENOENT') unread(`it can't be read (${code})`);
    }
  }
  await nextTurn();
  return listed;
}

/** The folder of a table may be a link itself. */
const isInTable = (root: string, path: string): boolean =>
  realpathSync(join(root, path)).startsWith(`${realpathSync(join(root, path.split('/', 1)[0] ?? ''))}/`);

/** No program can set `ctime`, so a file that was written again has another stamp. */
const stampOf = ({ ino, size, mtimeMs, ctimeMs }: Stats): string => `${ino} ${size} ${mtimeMs} ${ctimeMs}`;

/**
 * The files that the engines read in a table's days, and what they can't read there. Nothing if the table is missing.
 */
export async function listDays(root: string, table: string): Promise<ListedFile[]> {
  if (!statSync(join(root, table), { throwIfNoEntry: false })?.isDirectory()) return [];
  return (await listBelow(root, table, LINKED_DEPTH, true)).filter(({ path, unreadable }) => {
    const [, day = '', ...rest] = path.split('/');
    return dayOf(day) !== undefined && !rest.some(isHidden) && (rest.length > 0 || unreadable !== undefined);
  });
}

/** The place of a lake: a folder of this machine, or a bucket. */
export interface LakeSource {
  /** The location as the operator wrote it. */
  readonly location: string;
  /** Lists the lake, or one folder of it: nothing if it does not exist. Rejects with an OperatorFault if it can't. */
  list(folder?: string): Promise<ListedFile[]>;
  /** Puts the files' footers where DuckDB can read them. */
  footersOf(listed: readonly ListedFile[]): Promise<LocalFiles>;
  /** Puts whole files where DuckDB can read them. */
  filesOf(listed: readonly ListedFile[]): Promise<LocalFiles>;
  /** A digest of the file's whole content. */
  digestOf(file: ListedFile): Promise<string>;
}

/** Files that can be read until they are disposed of. */
export interface LocalFiles extends AsyncDisposable {
  readonly files: readonly LocalFile[];
}

/**
 * A lake in a folder of this machine.
 *
 * @param isFenced whether nothing outside of a table's real folder can be read
 */
export function folderSource(location: string, isFenced = false): LakeSource {
  const root = resolve(location);
  const inPlace = async (listed: readonly ListedFile[]) => ({
    files: listed.map(({ path }) => ({ id: path, path: join(root, path) })),
    async [Symbol.asyncDispose]() {},
  });
  return {
    location,
    list: (folder) => listFolder(root, folder, isFenced),
    footersOf: inPlace,
    filesOf: inPlace,
    async digestOf({ path }) {
      const hash = createHash('sha256');
      await pipeline(createReadStream(join(root, path)), hash);
      return hash.digest('hex');
    },
  };
}
