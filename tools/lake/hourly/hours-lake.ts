import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { folderSource, type LakeSource } from '../../../lake-check/lake-source.ts';
import { dayFolder, SUCCESS_MARKER } from '../../../lake-check/layout.ts';
import { tables } from '../../../lib/report/tables.ts';
import { isBucket, LakeChanged, NOTHING, openBucket } from '../store/bucket.ts';
import { bucketSource } from '../store/bucket-lake.ts';
import { folderTarget } from '../store/folder-target.ts';
import type { DayNote } from './hourly-plan.ts';

/** The file that holds a day of the lake of hours. Its name never changes, so that one write replaces the whole day. */
export const HOURS_FILE = 'hours.parquet';

/** A day to write into a lake of hours: the day's records, summed by the hour. */
interface NewHours {
  readonly table: string;
  readonly day: string;
  /** The day's file, on this machine. */
  readonly path: string;
  /** In a bucket, the ETag of the file that is replaced. */
  readonly over?: string;
  /** The paths of the day's other files, which are removed. */
  readonly others: readonly string[];
  /** The note that the day's `_SUCCESS` marker holds. Without a note, no marker is written and the day stays open. */
  readonly note?: DayNote;
}

/** A lake of hours, to read and to write. */
export interface HoursLake extends Pick<LakeSource, 'footersOf' | 'list'> {
  /** The text of a file. Undefined if the file no longer exists. */
  readText(path: string): Promise<string | undefined>;
  /** Writes a day. In a bucket, rejects with LakeChanged if another run has written the day since it was listed. */
  publish(day: NewHours): Promise<void>;
}

/** @param directory a directory of this machine for copies of files */
export const hoursLake = (location: string, directory: string): HoursLake =>
  isBucket(location) ? bucketOfHours(location, directory) : folderOfHours(location);

/**
 * A day of a lake of hours is one object, so that all its hours come from one version of the raw day. A write succeeds
 * only if nobody has replaced the object since it was listed. Of two runs at the same time, the slower one is therefore
 * refused. A marker is refused if the other run's marker exists.
 */
function bucketOfHours(location: string, directory: string): HoursLake {
  const bucket = openBucket(location);
  const { list, footersOf } = bucketSource(location, directory);
  return {
    list,
    footersOf,
    readText: (path) =>
      bucket.read(path).then(text, (error: Error) => {
        if (error instanceof LakeChanged) return undefined;
        throw error;
      }),
    async publish({ table, day, path, over = NOTHING, others, note }) {
      const inDay = (name: string) => `${dayFolder(table, day)}/${name}`;
      await bucket.remove([inDay(SUCCESS_MARKER)]);
      // Other writers' files are removed first, so that they are never read together with the hours. If the run is
      // killed here, the next run completes the day.
      await bucket.remove(others);
      const file = await bucket.write(inDay(HOURS_FILE), createReadStream(path), over);
      if (note) await bucket.write(inDay(SUCCESS_MARKER), JSON.stringify({ ...note, file }), NOTHING);
    },
  };
}

/** A day in a folder is replaced as a whole, together with its marker. */
function folderOfHours(location: string): HoursLake {
  const root = resolve(location);
  const { list, footersOf } = folderSource(location);
  const { writtenDays, replaceDay } = folderTarget(location);
  return {
    footersOf,
    async list(folder) {
      // First finishes or removes the unfinished days that a killed run has left.
      for (const { name } of tables) await writtenDays(name);
      return list(folder);
    },
    readText: (path) => readFile(join(root, path), 'utf8').catch(() => undefined),
    publish: ({ table, day, path, note }) =>
      replaceDay({
        table,
        day,
        files: [{ path, name: HOURS_FILE }],
        ...(note && { marker: JSON.stringify(note) }),
      }),
  };
}
