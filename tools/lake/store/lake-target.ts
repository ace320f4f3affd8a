import type { ListedFile } from '../../../lake-check/lake-facts.ts';
import type { LakeSource } from '../../../lake-check/lake-source.ts';
import { dayFolder, dayOf, isHidden } from '../../../lake-check/layout.ts';
import { lakeDays } from '../../../lib/lake/data-version.ts';

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
