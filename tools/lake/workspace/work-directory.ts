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
  /**
   * Removes the directories that killed processes have left in the folder. Resolves to whether another command writes
   * into the folder. Call it after the lock is taken.
   */
  hasOthers(): Promise<boolean>;
  remove(): Promise<void>;
}

/** Makes a directory for unfinished files in a folder, and makes the folder if needed. */
export async function makeWorkDirectory(folder: string): Promise<WorkDirectory> {
  const refuse = ({ code = '' }: NodeJS.ErrnoException) => {
    const why = ['EEXIST', 'ENOTDIR'].includes(code) ? 'it is no folder' : code;
    throw new OperatorFault(
      `${folder} can't be written (${why}). Name a folder that you may write to, or a new one.`,
    );
  };
  const parent = resolve(folder);
  const firstMade = await mkdir(parent, { recursive: true }).catch(refuse);
  const path = await mkdtemp(join(parent, PREFIX)).catch(refuse);
  own.add(path);
  return {
    path,
    lock: join(path, LOCK),
    async hasOthers() {
      const names = (await readdir(parent)).filter((name) => name.startsWith(PREFIX));
      let isAnother = false;
      for (const other of names.map((name) => join(parent, name)).filter((one) => one !== path)) {
        const isInUse = own.has(other) || (await isLocked(other));
        if (isInUse === false && (await isOld(other))) await removeWhole(other);
        isAnother ||= isInUse === true;
      }
      return isAnother;
    },
    async remove() {
      await removeWhole(path);
      own.delete(path);
      // The folders that this command has made, if nothing lies in them.
      for (let at = parent; firstMade && at.startsWith(firstMade); at = dirname(at))
        if (!(await isRemoved(at))) break;
    },
  };
}

/** Whether a directory is old. A new directory may still be about to get its lock. */
const isOld = async (path: string): Promise<boolean> => {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.NaN }));
  return mtimeMs < Date.now() - NEW_MS;
};

/**
 * Whether the directory's lock can't be opened, because the process that made the directory still runs. Undefined if
 * there is no lock file.
 */
async function isLocked(path: string): Promise<boolean | undefined> {
  if (!existsSync(join(path, LOCK))) return undefined;
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

/** Removes a folder if it is empty. Resolves to whether it was. */
const isRemoved = (folder: string): Promise<boolean> =>
  rmdir(folder).then(
    () => true,
    () => false,
  );
