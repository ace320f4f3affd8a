import type { Report } from '../report/catalogue.ts';
import type { Window } from '../report/utc-time.ts';

/** One object of the lake, as S3 lists it. */
export interface LakeObject {
  readonly key: string;
  readonly etag: string;
  readonly bytes: number;
  /** In milliseconds since 1970. For a multipart upload, this is the time when the upload began. */
  readonly lastModified: number;
}

/** The result of listing a window's days. */
export interface LakeListing {
  readonly objects: readonly LakeObject[];
  /** When the listing began, in milliseconds since 1970. */
  readonly listedAt: number;
  /** Set if the lake holds no object of the table, on any day. */
  readonly isTableMissing?: boolean;
}

/** The lake of events, with the calls that the service needs. */
export interface Lake {
  /** The folder that holds the folders of a report's days: `<prefix>publisher_events/`. */
  folderOf(report: Report): string;
  /**
   * Lists the days that a window touches. Resolves to undefined if the lake can't be listed.
   * @param maxAgeMs the maximum age of a listing that is reused; 0 always lists the lake again
   */
  list(report: Report, window: Window, maxAgeMs: number): Promise<LakeListing | undefined>;
}
