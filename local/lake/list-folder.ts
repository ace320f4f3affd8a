import { access, constants, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PARTITION_COLUMN, tables } from '../../lib/report/tables.ts';
import { EventsFault } from '../events/events-fault.ts';
import type { ListedFile } from './lake-facts.ts';
import { isDayFolder, isHidden } from './layout.ts';

const NEEDED = `needed: a folder with ${tables.map(({ name }) => `${name}/${PARTITION_COLUMN}=YYYY-MM-DD/`).join(' or ')}`;

/** DuckDB follows links to the folders of tables and of days, and none below them. */
const LINKED_DEPTH = 2;

/** Everything below a folder, empty folders aside. Throws an EventsFault where the folder itself can't be read. */
export async function listFolder(directory: string): Promise<ListedFile[]> {
  const refuse = (reason: string) => {
    throw new EventsFault(`${directory} ${reason}; ${NEEDED}`);
  };
  const found = await stat(directory).catch((error: NodeJS.ErrnoException) =>
    refuse(error.code === 'ENOENT' ? 'does not exist' : `can't be read (${error.code})`),
  );
  if (!found?.isDirectory()) refuse('is not a directory');
  return listBelow(directory, '', 1).catch((error: NodeJS.ErrnoException) =>
    refuse(`can't be read (${error.code})`),
  ) as Promise<ListedFile[]>;
}

async function listBelow(root: string, prefix: string, depth: number): Promise<ListedFile[]> {
  const names = await readdir(join(root, prefix), { withFileTypes: true });
  const listed: ListedFile[] = [];
  for (const here of names.sort(({ name: one }, { name: other }) => (one < other ? -1 : 1))) {
    const path = prefix ? `${prefix}/${here.name}` : here.name;
    const isLink = here.isSymbolicLink();
    try {
      const found = await stat(join(root, path));
      if (!found.isDirectory()) {
        await access(join(root, path), constants.R_OK);
        listed.push({ path, size: found.size, modifiedAt: found.mtimeMs });
      } else if (isLink && depth > LINKED_DEPTH)
        listed.push(unread(path, 'it is a link to a folder, which DuckDB does not follow here'));
      else listed.push(...(await listBelow(root, path, depth + 1)));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      if (code === 'ENOENT' && isLink) listed.push(unread(path, 'the link leads nowhere'));
      // No link: the file was removed while the folder was being listed.
      else if (code !== 'ENOENT') listed.push(unread(path, `it can't be read (${code})`));
    }
  }
  return listed;
}

const unread = (path: string, unreadable: string): ListedFile => ({
  path,
  size: 0,
  modifiedAt: 0,
  unreadable,
});

/** Whether any day of a table's folder has a file that the engines read; looks no further than to the first. */
export async function hasFiles(table: string): Promise<boolean> {
  const names = await readdir(table).catch(() => []);
  for (const name of names.filter(isDayFolder)) if (await holdsFile(join(table, name))) return true;
  return false;
}

async function holdsFile(folder: string): Promise<boolean> {
  const found = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const here of found.filter(({ name }) => !isHidden(name))) {
    const path = join(folder, here.name);
    const isFile = here.isSymbolicLink()
      ? await stat(path).then(
          (info) => info.isFile(),
          () => false,
        )
      : here.isFile();
    if (isFile || (here.isDirectory() && (await holdsFile(path)))) return true;
  }
  return false;
}
