import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { LakeFault } from './lake-fault.ts';

/** The engines, and `check`, leave out what begins with a dot. */
const PREFIX = '.lake-work-';

/** A DuckDB database that holds nothing. Its lock ends with the process, however that ends. */
const LOCK = 'lock.duckdb';

/** Directories of this process: a lock keeps out other processes only. */
const own = new Set<string>();

/** A directory for unfinished files. */
export interface WorkDirectory {
  readonly path: string;
  /** To be opened as a database as long as the directory is in use. */
  readonly lock: string;
  remove(): Promise<void>;
}

/** Makes a directory for unfinished files in a folder, which is made where there is none, and removes those of killed processes. */
export async function makeWorkDirectory(folder: string): Promise<WorkDirectory> {
  const parent = resolve(folder);
  const path = join(parent, PREFIX + randomUUID());
  const firstMade = await mkdir(parent, { recursive: true }).catch(refuse(folder));
  await removeLeftOver(parent);
  await mkdir(path).catch(refuse(folder));
  own.add(path);
  return {
    path,
    lock: join(path, LOCK),
    async remove() {
      await rm(path, { recursive: true, force: true });
      own.delete(path);
      if (firstMade) await removeEmpty(parent, firstMade);
    },
  };
}

const refuse = (folder: string) => (error: NodeJS.ErrnoException) => {
  const why = error.code === 'EEXIST' || error.code === 'ENOTDIR' ? 'it is no folder' : error.code;
  throw new LakeFault(
    `${folder} can't be written (${why}). Name a folder that you may write to, or a new one.`,
  );
};

async function removeLeftOver(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const path = join(parent, name);
    if (name.startsWith(PREFIX) && !own.has(path) && (await isLeftOver(path)))
      await rm(path, { recursive: true, force: true });
  }
}

/** Only a lock that opens shows that the process which made the directory has ended. */
async function isLeftOver(path: string): Promise<boolean> {
  const names = await readdir(path).catch((): string[] => []);
  // Without a lock it may just have been made.
  if (!names.includes(LOCK)) return false;
  return DuckDBInstance.create(join(path, LOCK)).then(
    (instance) => {
      instance.closeSync();
      return true;
    },
    () => false,
  );
}

/** Removes the folders that were made for nothing. */
async function removeEmpty(folder: string, upTo: string): Promise<void> {
  const isRemoved = await rmdir(folder).then(
    () => true,
    () => false,
  );
  if (isRemoved && folder !== upTo) await removeEmpty(dirname(folder), upTo);
}
