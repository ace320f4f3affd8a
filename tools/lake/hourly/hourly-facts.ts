import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { ListedFile } from '../../../lake-check/lake-facts.ts';
import type { LakeSource } from '../../../lake-check/lake-source.ts';
import { dayFolder, SUCCESS_MARKER } from '../../../lake-check/layout.ts';
import { pathList } from '../../../lake-check/read-footers.ts';
import { quoteText } from '../../../lib/report/quote-sql.ts';
import { isBucket, LakeChanged, NOTHING, openBucket } from '../store/bucket.ts';
import { lakeSource } from '../store/bucket-lake.ts';
import { daysIn, folderTarget } from '../store/lake-target.ts';
import type { DayNote, HoursDay } from './hourly-plan.ts';

/** The file that holds a day of the lake of hours. Its name never changes, so that one write replaces the whole day. */
const HOURS_FILE = 'hours.parquet';

/**
 * The key of the note in an open day's file. Because of the note, the file never has the same bytes as the file of a
 * final day.
 */
export const OPEN_NOTE = 'open_day';

/** A lake of hours, to read and to write. */
export interface HoursLake extends Pick<LakeSource, 'footersOf' | 'list'> {
  /** The text of a file. Undefined if the file no longer exists. */
  readText(path: string): Promise<string | undefined>;
  /** Writes a day. In a bucket, rejects with LakeChanged if another run has written the day since it was listed. */
  publish(day: {
    readonly table: string;
    readonly day: string;
    readonly path: string;
    /** In a bucket, the ETag of the file that is replaced. */
    readonly over: string | undefined;
    /** The paths of the day's other files, which are removed. */
    readonly others: readonly string[];
    /** The note for the day's `_SUCCESS` marker. Without a note, no marker is written and the day stays open. */
    readonly note: DayNote | undefined;
  }): Promise<void>;
}

/** @param directory a directory of this machine for copies of files */
export const hoursLake = (location: string, directory: string): HoursLake =>
  isBucket(location) ? bucketOfHours(location, directory) : folderOfHours(location, directory);

/**
 * A day of a lake of hours is one object, so that all its hours come from one version of the raw day. A write succeeds
 * only if nobody has replaced the object since it was listed. Of two runs at the same time, the slower one is therefore
 * refused. A marker is refused if the other run's marker exists.
 */
function bucketOfHours(location: string, directory: string): HoursLake {
  const bucket = openBucket(location);
  return {
    ...lakeSource(location, directory),
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
function folderOfHours(location: string, directory: string): HoursLake {
  const { list, replaceDay } = folderTarget(location);
  return {
    ...{ ...lakeSource(location, directory), list },
    readText: (path) => readFile(join(location, path), 'utf8').catch(() => undefined),
    publish({ table, day, path, note }) {
      const files = [{ path, name: HOURS_FILE }];
      return replaceDay({ table, day, files, marker: note && JSON.stringify(note) });
    },
  };
}

/** The days of a lake of hours. Reads the notes only of days for which `isWanted` is true. */
export async function hoursDaysIn(
  connection: DuckDBConnection,
  lake: HoursLake,
  listed: readonly ListedFile[],
  table: string,
  isWanted: (day: string) => boolean,
): Promise<HoursDay[]> {
  return Promise.all(
    daysIn(listed, table).map(async ({ day, isMarked, files }) => {
      const inDay = (name: string) => `${dayFolder(table, day)}/${name}`;
      const file = files.find(({ path }) => path === inDay(HOURS_FILE));
      const others = files.filter((candidate) => candidate !== file);
      const read = () =>
        isMarked ? lake.readText(inDay(SUCCESS_MARKER)) : openNoteOf(connection, lake, file);
      const note = file && isWanted(day) ? parseNote(await read()) : undefined;
      const isOfFile = note?.file === undefined || note.file === file?.digest;
      return { day, isMarked, file, others, note: isOfFile ? note : undefined };
    }),
  );
}

/**
 * The note in an open day's file. The file of a final day has no note, so the result is undefined for a final day whose
 * marker is missing.
 */
async function openNoteOf(
  connection: DuckDBConnection,
  lake: HoursLake,
  file: ListedFile | undefined,
): Promise<string | undefined> {
  if (!file) return undefined;
  await using local = await lake.footersOf([file]);
  // A damaged file counts as a file without a note. It is replaced when the raw day is final.
  const reader = await connection
    .runAndReadAll(
      `SELECT decode(value) FROM parquet_kv_metadata(${pathList(local.files)}) WHERE decode(key) = ${quoteText(OPEN_NOTE)}`,
    )
    .catch(() => undefined);
  return reader?.getRowsJS()[0]?.[0] as string | undefined;
}

/** Undefined if the text is no note, for example because the marker is empty or comes from another writer. */
function parseNote(text: string | undefined): DayNote | undefined {
  try {
    const note = JSON.parse(text ?? '') as Partial<DayNote> | null;
    const isNote = typeof note?.version === 'string' && typeof note.columns === 'string';
    return isNote ? (note as DayNote) : undefined;
  } catch {
    return undefined;
  }
}
