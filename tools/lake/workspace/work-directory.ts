import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';

/** The engines, and `check`, leave out what begins with a dot. */
const PREFIX = '.lake-work-';

/** A DuckDB database that holds nothing. Its lock ends with the process, however that ends. */
const LOCK = 'lock.duckdb';

/** Every command locks its directory within this time after making it. */
const NEW_MS = 60_000;

/** Directories of this process: a lock keeps out other processes only. */
const own = new Set<string>();

/** A directory for unfinished files. */
export interface WorkDirectory {
  readonly path: string;
  /** To be opened as a database as long as the directory is in use. */
  readonly lock: string;
  /** Throws an OperatorFault where another command writes into the folder. To be called once the lock is taken. */
  refuseAnother(): Promise<void>;
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
    async refuseAnother() {
      const others = (await workDirectoriesIn(parent)).filter((other) => other !== path);
      for (const other of others)
        if (own.has(other) || (await isLocked(other)))
          throw new OperatorFault(
            `Another command writes into ${folder} at present. Run this one when that has ended.`,
          );
    },
    async remove() {
      await removeWhole(path);
      own.delete(path);
      if (firstMade) await removeEmpty(parent, firstMade);
    },
  };
}

const refuse = (folder: string) => (error: NodeJS.ErrnoException) => {
  const why = error.code === 'EEXIST' || error.code === 'ENOTDIR' ? 'it is no folder' : error.code;
  throw new OperatorFault(
    `${folder} can't be written (${why}). Name a folder that you may write to, or a new one.`,
  );
};

async function removeLeftOver(parent: string): Promise<void> {
  for (const path of await workDirectoriesIn(parent))
    if (!own.has(path) && (await isOld(path)) && (await isLocked(path)) === false) await removeWhole(path);
}

/** A new directory may be about to get its lock. */
const isOld = async (path: string): Promise<boolean> => {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.NaN }));
  return mtimeMs < Date.now() - NEW_MS;
};

const workDirectoriesIn = async (parent: string): Promise<string[]> =>
  (await readdir(parent)).filter((name) => name.startsWith(PREFIX)).map((name) => join(parent, name));

/**
 * Whether the process that made the directory still runs: then its lock can't be opened. Undefined if there is no
 * lock file.
 */
async function isLocked(path: string): Promise<boolean | undefined> {
  const names = await readdir(path).catch((): string[] => []);
  if (!names.includes(LOCK)) return undefined;
  return DuckDBInstance.create(join(path, LOCK)).then(
    (instance) => {
      instance.closeSync();
      return false;
    },
    // It may have gone meanwhile.
    () => existsSync(join(path, LOCK)) || undefined,
  );
}

/** Another command that tries the lock may put a file beside it while this goes on. */
const removeWhole = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });

/** Removes the folders that were made for nothing. */
async function removeEmpty(folder: string, upTo: string): Promise<void> {
  const isRemoved = await rmdir(folder).then(
    () => true,
    () => false,
  );
  if (isRemoved && folder !== upTo) await removeEmpty(dirname(folder), upTo);
}
