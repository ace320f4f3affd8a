import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { ListedFile } from '../../../lake-check/lake-facts.ts';
import { folderSource, type LakeSource } from '../../../lake-check/lake-source.ts';
import { dayFolder, dayOf, isHidden, SUCCESS_MARKER } from '../../../lake-check/layout.ts';
import { escapeGlob } from '../../../lake-check/read-footers.ts';
import { lakeDays } from '../../../lib/lake/data-version.ts';
import { quoteText } from '../../../lib/report/quote-sql.ts';
import { tables } from '../../../lib/report/tables.ts';
import { isBucket, LakeChanged, NOTHING, openBucket } from '../store/bucket.ts';
import { bucketSource } from '../store/bucket-lake.ts';
import { folderTarget } from '../store/folder-target.ts';
import type { DayNote, HoursDay, RawDay } from './hourly-plan.ts';
import { OPEN_NOTE } from './hours-file.ts';

/** The file that holds a day of the lake of hours. Its name never changes, so that one write replaces the whole day. */
const HOURS_FILE = 'hours.parquet';

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

export interface ListedRawDay extends RawDay {
  readonly listed: readonly ListedFile[];
}

export interface ListedHoursDay extends HoursDay {
  readonly file?: ListedFile;
  readonly otherFiles: readonly ListedFile[];
}

interface ListedDay {
  readonly day: string;
  readonly version: string;
  readonly isMarked: boolean;
  readonly listed: readonly ListedFile[];
}

/** The days of a table in a listing, each with the version that the service would compute for it. */
function daysIn(listed: readonly ListedFile[], table: string): ListedDay[] {
  const objects = listed.map(({ path, size, modifiedAt, digest, stamp, unreadable }) => ({
    key: path,
    etag: digest ?? stamp ?? unreadable ?? '',
    bytes: size,
    lastModified: modifiedAt,
  }));
  const inDay = Map.groupBy(listed.filter(isRead), ({ path }) => path.split('/', 2).join('/'));
  return lakeDays({ objects, listedAt: 0 }, `${table}/`)
    .filter(({ day }) => dayOf(`day=${day}`))
    .map(({ day, version, isMarkedComplete }) => ({
      day,
      version,
      isMarked: isMarkedComplete,
      listed: inDay.get(dayFolder(table, day)) ?? [],
    }))
    .filter(({ listed, isMarked }) => listed.length > 0 || isMarked);
}

/** Whether the engines read a file. A key that ends with a slash is a folder made in the S3 console. */
const isRead = ({ path }: ListedFile): boolean => !path.endsWith('/') && !path.split('/').some(isHidden);

export const rawDaysIn = (listed: readonly ListedFile[], table: string): ListedRawDay[] =>
  daysIn(listed, table).map((day) => ({ ...day, files: day.listed.length }));

/** The days of a lake of hours. Reads the notes only of days for which `isWanted` is true. */
export async function hoursDaysIn(
  connection: DuckDBConnection,
  lake: HoursLake,
  listed: readonly ListedFile[],
  table: string,
  isWanted: (day: string) => boolean,
): Promise<ListedHoursDay[]> {
  const days = daysIn(listed, table).map((day): ListedHoursDay => {
    const isFile = ({ path }: ListedFile) => path === `${dayFolder(table, day.day)}/${HOURS_FILE}`;
    const file = day.listed.find(isFile);
    const otherFiles = day.listed.filter((candidate) => candidate !== file);
    const facts = { day: day.day, isMarked: day.isMarked, otherFiles, others: otherFiles.length };
    return { ...facts, hasFile: file !== undefined, ...(file && { file }) };
  });
  const wanted = days.filter(({ day, file }) => file && isWanted(day));
  const notes = new Map<string, DayNote>();
  const queue = wanted.values();
  const work = async () => {
    for (const { day, file, isMarked } of queue) {
      const marker = `${dayFolder(table, day)}/${SUCCESS_MARKER}`;
      const text = isMarked ? await lake.readText(marker) : await openNoteOf(connection, lake, file);
      const note = parseNote(text);
      if (note && (note.file === undefined || note.file === file?.digest)) notes.set(day, note);
    }
  };
  await Promise.all(Array.from({ length: NOTES_AT_ONCE }, work));
  return days.map((day) => {
    const note = notes.get(day.day);
    return note ? { ...day, note } : day;
  });
}

const NOTES_AT_ONCE = 8;

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
  const path = quoteText(escapeGlob(local.files[0]?.path ?? ''));
  // A damaged file counts as a file without a note. It is replaced when the raw day is final.
  const reader = await connection
    .runAndReadAll(
      `SELECT decode(value) FROM parquet_kv_metadata(${path}) WHERE decode(key) = ${quoteText(OPEN_NOTE)}`,
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
