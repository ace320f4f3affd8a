import type { Report } from '../report/catalogue.ts';
import type { Window } from '../report/utc-time.ts';

/** One object of the lake, as S3 lists it. */
export interface LakeObject {
  readonly key: string;
  readonly etag: string;
  readonly bytes: number;
  /** In milliseconds since 1970. Of a multipart upload, it is the upload's start. */
  readonly lastModified: number;
}

/** What a listing of a window's days found. */
export interface LakeListing {
  readonly objects: readonly LakeObject[];
  /** When the listing began, in milliseconds since 1970. */
  readonly listedAt: number;
  /** Set where the lake holds nothing at all of the table, on any day. */
  readonly isTableMissing?: boolean;
}

/** The lake of events: the calls that the service needs. */
export interface Lake {
  /** Where the folders of a report's days lie: `<prefix>publisher_events/`. */
  folderOf(report: Report): string;
  /**
   * Lists the days that a window touches. Undefined if the lake can't be listed.
   * @param maxAgeMs maximum age of a listing to reuse; 0 lists now
   */
  list(report: Report, window: Window, maxAgeMs: number): Promise<LakeListing | undefined>;
}
