import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PARTITION_COLUMN, tables } from '../../lib/report/tables.ts';
import { EventsFault } from '../events/events-fault.ts';
import type { Entry } from './lake-facts.ts';

const NEEDED = `needed: a folder with ${tables.map(({ name }) => `${name}/${PARTITION_COLUMN}=YYYY-MM-DD/`).join(' or ')}`;

/** Everything below a folder, empty folders aside. Throws an EventsFault where it can't be read. */
export async function listFolder(directory: string): Promise<Entry[]> {
  const found = await stat(directory).catch(unreadable(directory));
  if (!found.isDirectory()) throw new EventsFault(`${directory} is not a directory; ${NEEDED}`);
  return listBelow(directory, '');
}

async function listBelow(root: string, prefix: string): Promise<Entry[]> {
  const names = await readdir(join(root, prefix)).catch(unreadable(join(root, prefix)));
  const entries: Entry[] = [];
  for (const name of names.sort()) {
    const path = prefix ? `${prefix}/${name}` : name;
    // Follows links, as the engines do.
    const found = await stat(join(root, path)).catch(unreadable(join(root, path)));
    if (found.isDirectory()) entries.push(...(await listBelow(root, path)));
    else entries.push({ path, size: found.size, modifiedAt: found.mtimeMs });
  }
  return entries;
}

const unreadable = (path: string) => (error: NodeJS.ErrnoException) => {
  throw new EventsFault(
    `${path} ${error.code === 'ENOENT' ? 'does not exist' : `can't be read (${error.code})`}; ${NEEDED}`,
  );
};
