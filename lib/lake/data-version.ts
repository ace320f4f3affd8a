import { createHash, randomUUID } from 'node:crypto';
import { NoRecords } from '../problems/problem.ts';
import type { Report } from '../report/catalogue.ts';
import type { ReportRequest } from '../report/parse-request.ts';
import { PARTITION_COLUMN } from '../report/tables.ts';
import type { Window } from '../report/utc-time.ts';
import { type EmptyReason, emptyReason } from './empty-reason.ts';

/** One object of the lake, as S3 lists it. */
export interface LakeObject {
  readonly key: string;
  readonly etag: string;
  readonly bytes: number;
  /** In milliseconds since 1970. For a multipart upload, this is the time when the upload began. */
  readonly lastModified: number;
}

export interface LakeListing {
  readonly objects: readonly LakeObject[];
  /** When the listing began, in milliseconds since 1970. */
  readonly listedAt: number;
  /** Set if the lake holds no object of the table, on any day. */
  readonly isTableMissing?: boolean;
}

export interface Lake {
  /** The folder that holds the folders of a report's days: `<prefix>publisher_events/`. */
  folderOf(report: Report): string;
  /**
   * Lists the days that a window touches. Resolves to undefined if the lake can't be listed.
   * @param maxAgeMs the maximum age of a listing that is reused; 0 always lists the lake again
   */
  list(report: Report, window: Window, maxAgeMs: number): Promise<LakeListing | undefined>;
}

/** The marker that a writer puts into a day's folder when the day is complete. Spark and Hadoop use this name. */
const SUCCESS_MARKER = '_SUCCESS';
/** How many days before a window are listed too. They show whether the lake's writers mark complete days at all. */
export const MARKER_LOOKBACK_DAYS = 31;

export interface LakeDay {
  /** `YYYY-MM-DD` */
  readonly day: string;
  /** Digest: two versions are equal if, and only if, the files' keys, ETags and sizes are equal. */
  readonly version: string;
  readonly files: number;
  readonly isMarkedComplete: boolean;
  /** When the marker of a complete day was written, by S3's clock, in milliseconds since 1970. */
  readonly markedAt?: number;
}

export interface DataState {
  /** Digest over the window's files. Reports of the same version count the same records. */
  readonly version: string;
  /**
   * Listing fingerprint: a digest over these files, the markers of complete days and the folders, each with its time of
   * last modification. Two listings with the same fingerprint show no change of the data between them.
   */
  readonly fingerprint: string;
  /**
   * When the lake was listed, in milliseconds since 1970. Absent if it was not listed, or if another request listed it:
   * the clock of that request's machine may differ.
   */
  readonly listedAt?: number;
  /** False if the lake could not be listed. Version and fingerprint are then random, and no other request has them. */
  readonly isListed: boolean;
  /** Why the caller's report has no rows, if it has none. Each request finds out by its own listing. */
  readonly whyEmpty?: EmptyReason;
}

/** The days of a listing that have files or markers, in ascending order. */
export function lakeDays(listing: LakeListing, folder: string): LakeDay[] {
  const inFolder = inOrder(listing).filter(({ key }) => key.startsWith(folder));
  const byDay = Map.groupBy(inFolder, ({ key }) => DAY.exec(key.slice(folder.length))?.[1]);
  return [...byDay].flatMap(([day, inDay]) => {
    if (day === undefined) return [];
    const dayFolder = `${folder}${PARTITION_COLUMN}=${day}/`;
    const files = inDay.filter(({ key }) => isFile(key.slice(dayFolder.length)));
    const marker = inDay.find(({ key }) => key === dayFolder + SUCCESS_MARKER);
    return {
      day,
      version: digest(files.map(({ key, etag, bytes }) => [key, etag, bytes])),
      files: files.length,
      isMarkedComplete: marker !== undefined,
      ...(marker && { markedAt: marker.lastModified }),
    };
  });
}

export const versionOf = (days: readonly LakeDay[]): string =>
  digest(days.filter(({ files }) => files > 0).map(({ day, version }) => [day, version]));

export function dataState(
  listing: LakeListing,
  folder: string,
  days: readonly LakeDay[] = lakeDays(listing, folder),
): DataState {
  return {
    version: versionOf(days),
    fingerprint: digest(
      inOrder(listing)
        .filter(({ key }) => countsForFingerprint(key.slice(folder.length)))
        .map(({ key, etag, bytes, lastModified }) => [key, etag, bytes, lastModified]),
    ),
    listedAt: listing.listedAt,
    isListed: true,
  };
}

/** By key, because a digest must not depend on the order, and directory buckets list in any order. */
const inOrder = ({ objects }: LakeListing): LakeObject[] =>
  objects.toSorted((one, other) => (one.key < other.key ? -1 : 1));

const DAY = RegExp(`^${PARTITION_COLUMN}=(\\d{4}-\\d{2}-\\d{2})/`);

/** Athena reads every file under a day's folder, except those with `_` or `.` at the start of a segment. */
const isFile = (path: string): boolean =>
  path !== '' && !path.endsWith('/') && !path.split('/').some((name) => /^[_.]/.test(name));

/** Files, folders and markers count, hidden files of a writer do not. */
const countsForFingerprint = (path: string): boolean =>
  path.endsWith('/') || path.endsWith(`/${SUCCESS_MARKER}`) || isFile(path);

/** Half of SHA-256 in hexadecimal: long enough that no two states of a lake have the same digest. */
const digest = (facts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 32);

/**
 * The state of the data that a request reads; undefined if the report's table is missing.
 * @param maxAgeMs the maximum age of a listing that is reused; 0 always lists the lake again
 */
export async function findDataState(
  lake: Lake,
  request: ReportRequest,
  maxAgeMs: number,
): Promise<DataState | undefined> {
  const { report, window } = request;
  const listing = await lake.list(report, window, maxAgeMs);
  if (listing?.isTableMissing) return undefined;
  if (!listing) {
    const once = randomUUID();
    return { version: once, fingerprint: once, isListed: false, whyEmpty: emptyReason(request, undefined) };
  }
  const folder = lake.folderOf(report);
  const days = lakeDays(listing, folder);
  return { ...dataState(listing, folder, days), whyEmpty: emptyReason(request, days) };
}

/** The same, but throws NoRecords. */
export async function readDataState(...args: Parameters<typeof findDataState>): Promise<DataState> {
  const state = await findDataState(...args);
  if (!state) throw new NoRecords(args[1].report.title);
  return state;
}
