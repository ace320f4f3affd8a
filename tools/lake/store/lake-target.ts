import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ListedFile } from '../../../lake-check/lake-facts.ts';
import { type LakeSource, listFolder } from '../../../lake-check/lake-source.ts';
import { dayFolder, dayOf, isHidden, SUCCESS_MARKER } from '../../../lake-check/layout.ts';
import { lakeDays } from '../../../lib/lake/data-version.ts';
import { tables } from '../../../lib/report/tables.ts';

/** A lake that is written. To list it first finishes or removes what a killed writer has left. */
export interface LakeTarget extends Pick<LakeSource, 'list'> {
  /** Replaces everything in a day. It may move the given files instead of copying them. */
  replaceDay(day: {
    readonly table: string;
    readonly day: string;
    /** Their paths on this machine, and their names in the lake. */
    readonly files: readonly { readonly path: string; readonly name: string }[];
    /** The text of the day's `_SUCCESS` marker. Without it, no marker is written and the day stays open. */
    readonly marker?: string | undefined;
  }): Promise<void>;
  makeTable(table: string): Promise<void>;
}

/** A file that marks an empty table, so that the table does not seem to be missing. No engine reads this file. */
export const EMPTY_TABLE = '_empty';

/** The names of the tables that a lake has. An empty folder is none, because only files count, as in a bucket. */
export const tablesIn = async (lake: Pick<LakeSource, 'list'>): Promise<Set<string>> =>
  new Set((await lake.list()).map(({ path }) => path.split('/', 1)[0] as string));

export interface LakeDay {
  readonly day: string;
  /** The version that the service would compute for it. */
  readonly version: string;
  readonly isMarked: boolean;
  /** The files that the engines read. */
  readonly files: readonly ListedFile[];
}

export function daysIn(listed: readonly ListedFile[], table: string): LakeDay[] {
  const objects = listed.map(({ path, size, modifiedAt, digest, stamp, unreadable }) => ({
    ...{ key: path, bytes: size, lastModified: modifiedAt },
    etag: digest ?? stamp ?? unreadable ?? '',
  }));
  const inDay = Map.groupBy(listed.filter(isRead), ({ path }) => path.split('/', 2).join('/'));
  return lakeDays({ objects, listedAt: 0 }, `${table}/`)
    .filter(({ day }) => dayOf(`day=${day}`))
    .map(({ day, version, isMarkedComplete: isMarked }) => ({
      ...{ day, version, isMarked, files: inDay.get(dayFolder(table, day)) ?? [] },
    }))
    .filter(({ files, isMarked }) => files.length > 0 || isMarked);
}

/** Whether the engines read a file. A key that ends with a slash is a folder made in the S3 console. */
const isRead = ({ path }: ListedFile): boolean => !path.endsWith('/') && !path.split('/').some(isHidden);

/** The folder names of days that are being written or replaced. The engines ignore names that begin with a dot. */
const UNFINISHED_DAY = /^\.(day=[0-9-]+)\.(new|whole|old)\./;

/**
 * A lake in a folder. A new day is written into a new folder beside the lake's days. This folder is then renamed, so
 * readers see no half-written day. If a writer is killed, the next writer finishes or removes the unfinished days.
 */
export function folderTarget(location: string): LakeTarget {
  const root = resolve(location);
  return {
    async list(folder) {
      for (const { name } of tables) await recoverDays(join(root, name));
      return existsSync(root) ? listFolder(root, folder) : [];
    },
    async replaceDay({ table, day, files, marker }) {
      const target = join(root, dayFolder(table, day));
      const beside = (state: string) => join(root, table, `.day=${day}.${state}.${randomUUID()}`);
      const partial = beside('new');
      await mkdir(partial, { recursive: true });
      for (const { path, name } of files) await move(path, join(partial, name));
      if (marker !== undefined) await writeFile(join(partial, SUCCESS_MARKER), marker);
      // The new day is whole now. If this writer is killed, the next one may put the day in place.
      const whole = beside('whole');
      await rename(partial, whole);
      const old = beside('old');
      if (existsSync(target)) await rename(target, old);
      await rename(whole, target);
      await rm(old, { recursive: true, force: true });
    },
    async makeTable(table) {
      await mkdir(join(root, table), { recursive: true });
      await writeFile(join(root, table, EMPTY_TABLE), '');
    },
  };
}

/** Renames a file, which takes no time and no space. A file from another disk is copied. */
const move = (path: string, target: string): Promise<void> =>
  rename(path, target).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EXDEV') throw error;
    return copyFile(path, target);
  });

/** Finishes or removes the days of a table that a killed writer has left unfinished. */
async function recoverDays(table: string): Promise<void> {
  const names = await readdir(table).catch((): string[] => []);
  const left = names.flatMap((name) => {
    const [, day = '', state = ''] = UNFINISHED_DAY.exec(name) ?? [];
    return day ? [{ path: join(table, name), target: join(table, day), state }] : [];
  });
  // A day whose folder is missing gets a folder back before anything is removed: the whole new one if it exists,
  // otherwise the old one.
  for (const state of ['whole', 'old'])
    for (const { path, target } of left.filter((candidate) => candidate.state === state))
      if (!existsSync(target)) await rename(path, target);
  for (const { path } of left) await rm(path, { recursive: true, force: true });
}
