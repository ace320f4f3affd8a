import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';

/** It begins with a dot, because the engines and `check` ignore such names. */
const PREFIX = '.lake-work-';

/** An empty DuckDB database. Its lock ends with the process, even if the process is killed. */
const LOCK = 'lock.duckdb';

/** Every command locks its directory within this time after making it. */
const NEW_MS = 60_000;

/** The directories of this process. Their locks do not keep this process out, so it looks into this set as well. */
const own = new Set<string>();

/** A directory for unfinished files. */
export interface WorkDirectory {
  readonly path: string;
  /** The path of a database that must be open as long as the directory is in use. */
  readonly lock: string;
  /** Throws an OperatorFault if another command writes into the folder. Call it after the lock is taken. */
  refuseAnother(): Promise<void>;
  remove(): Promise<void>;
}

/**
 * Makes a directory for unfinished files in a folder, and makes the folder if needed. Removes the directories that
 * killed processes have left there.
 */
export async function makeWorkDirectory(folder: string): Promise<WorkDirectory> {
  const parent = resolve(folder);
  const firstMade = await mkdir(parent, { recursive: true }).catch(refuse(folder));
  await removeLeftOver(parent);
  const path = await mkdtemp(join(parent, PREFIX)).catch(refuse(folder));
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

/** Whether a directory is old. A new directory may still be about to get its lock. */
const isOld = async (path: string): Promise<boolean> => {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.NaN }));
  return mtimeMs < Date.now() - NEW_MS;
};

const workDirectoriesIn = async (parent: string): Promise<string[]> =>
  (await readdir(parent)).filter((name) => name.startsWith(PREFIX)).map((name) => join(parent, name));

/**
 * Whether the directory's lock can't be opened, because the process that made the directory still runs. Undefined if
 * there is no lock file.
 */
async function isLocked(path: string): Promise<boolean | undefined> {
  const names = await readdir(path).catch((): string[] => []);
  if (!names.includes(LOCK)) return undefined;
  return DuckDBInstance.create(join(path, LOCK)).then(
    (instance) => {
      instance.closeSync();
      return false;
    },
    // The lock file may have been removed meanwhile.
    () => existsSync(join(path, LOCK)) || undefined,
  );
}

/** Retries, because another command that tries the lock may put a file beside it during the removal. */
const removeWhole = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });

/** Removes a folder if it is empty, and then its empty parents up to `upTo`. */
async function removeEmpty(folder: string, upTo: string): Promise<void> {
  const isRemoved = await rmdir(folder).then(
    () => true,
    () => false,
  );
  if (isRemoved && folder !== upTo) await removeEmpty(dirname(folder), upTo);
}
