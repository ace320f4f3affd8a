import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { dayFolder, dayOf, SUCCESS_MARKER } from '../../../lake-check/layout.ts';
import { EMPTY_TABLE, type LakeTarget } from './lake-target.ts';

/** Names of days that are being put in place or taken away. The engines leave out what begins with a dot. */
const UNFINISHED_DAY = /^\.(day=[0-9-]+)\.(new|whole|old)\./;

/**
 * A lake in a folder. A day is put together beside the lake's days and takes their place whole, by its name: readers see
 * the old one or the new one. A writer that is killed leaves things behind that the next one puts right.
 */
export function folderTarget(location: string): LakeTarget {
  const root = resolve(location);
  return {
    async writtenDays(table) {
      await recoverDays(join(root, table));
      const names = await readdir(join(root, table)).catch((): string[] => []);
      const days = new Set<string>();
      for (const name of names) {
        const day = dayOf(name);
        const files = day ? await readdir(join(root, table, name)).catch((): string[] => []) : [];
        if (day && files.some((file) => !/^[._]/.test(file))) days.add(day);
      }
      return days;
    },
    async replaceDay({ table, day, files, marker }) {
      const target = join(root, dayFolder(table, day));
      const beside = (state: string) =>
        join(root, table, `.${dayFolder(table, day).split('/')[1]}.${state}.${randomUUID()}`);
      const partial = beside('new');
      await mkdir(partial, { recursive: true });
      for (const { path, name } of files) await move(path, join(partial, name));
      if (marker !== undefined) await writeFile(join(partial, SUCCESS_MARKER), marker);
      // From here on the new day is whole: whoever finds it without a day in place may put it there.
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
    async tables() {
      const names = await readdir(root).catch((): string[] => []);
      const isThere = await Promise.all(names.map(async (name) => !(await isEmptyFolder(join(root, name)))));
      return new Set(names.filter((_, index) => isThere[index]));
    },
  };
}

/** An empty folder is not a table: only files count, as in a bucket. */
const isEmptyFolder = (path: string): Promise<boolean> =>
  readdir(path).then(
    (names) => names.length === 0,
    () => false,
  );

/** Renames a file, which takes no time and no room. On another disk it is copied. */
const move = (path: string, target: string): Promise<void> =>
  rename(path, target).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EXDEV') throw error;
    return copyFile(path, target);
  });

/** Finishes or removes what a writer that was killed has left in a table. */
async function recoverDays(table: string): Promise<void> {
  const names = await readdir(table).catch((): string[] => []);
  const left = names.flatMap((name) => {
    const [, day = '', state = ''] = UNFINISHED_DAY.exec(name) ?? [];
    return day ? [{ path: join(table, name), target: join(table, day), state }] : [];
  });
  // A day without a folder in place gets one back before anything is removed: its whole new one if there is one, else
  // its old one.
  for (const state of ['whole', 'old'])
    for (const { path, target } of left.filter((candidate) => candidate.state === state))
      if (!existsSync(target)) await rename(path, target);
  for (const { path } of left) await rm(path, { recursive: true, force: true });
}
