import type { ListedFile } from '../../../lake-check/lake-facts.ts';
import type { LakeDay } from '../store/lake-target.ts';

/** What a file of hours was made of. A final day has this note in `_SUCCESS`, an open day in the file itself. */
export interface DayNote {
  /** The raw lake's location, as the operator wrote it. */
  readonly from: string;
  /** Whether the raw day had `_SUCCESS`. */
  readonly isMarked: boolean;
  /** The raw day's version, as `GET /reporting/{report}/days` would show it for the raw lake. */
  readonly version: string;
  /**
   * In a bucket, the ETag of the file of hours. It shows whether the marker belongs to the file, because a slow run may
   * put its marker beside another run's file.
   */
  readonly file?: string;
  /** The contract's columns at that time. If the contract has other columns now, the day is made again. */
  readonly columns: string;
}

export interface HoursDay extends Pick<LakeDay, 'day' | 'isMarked'> {
  /** The file that this command writes. */
  readonly file: ListedFile | undefined;
  /** The files in the day that this command did not write. */
  readonly others: readonly ListedFile[];
  /** What the day's file was made of. Absent if neither the marker nor the file says so. */
  readonly note?: DayNote | undefined;
}

/** Whether to make days again that are up to date, and days that have files of another writer, which are removed. */
export type Asked = Readonly<Record<'again' | 'replace', boolean>>;

export type DayAction =
  | 'write-final'
  /** Makes the hours of a day that is not complete yet, without a marker. */
  | 'write-open'
  | 'as-it-is'
  /** The raw day was opened again after its hours were made. The hours stay as they are. */
  | 'keep-whole'
  /** The raw day no longer exists, so its hours are kept. */
  | 'keep-only-copy'
  | 'refuse-other-files';

interface DayFacts extends Asked {
  readonly raw: LakeDay | undefined;
  readonly hours: HoursDay | undefined;
  /** Whether a raw day gets no more records. */
  readonly isFinal: (raw: LakeDay) => boolean;
  readonly columns: string;
}

/**
 * Decides what to do with one day. An open day's file never replaces a final day's file, even if the marker is missing:
 * a slow run may be about to write the marker.
 */
export function planDay({ raw, hours, isFinal, columns, again, replace }: DayFacts): DayAction {
  if (!raw) return 'keep-only-copy';
  const { note, file, isMarked = false, others = [] } = hours ?? {};
  if (others.length > 0 && !replace) return 'refuse-other-files';
  const isSame = !again && note?.version === raw.version && note.columns === columns && others.length === 0;
  if (isFinal(raw)) {
    const isEmptyOnBothSides = raw.files.length === 0 && !file && others.length === 0;
    return (isMarked && isSame) || isEmptyOnBothSides ? 'as-it-is' : 'write-final';
  }
  if (isMarked || (file && !note)) return 'keep-whole';
  return isSame ? 'as-it-is' : 'write-open';
}

/**
 * Decides whether a raw day is final: it has its marker, or it is over and the table never had a marker. Without
 * markers, nothing shows whether a past day is still being written.
 */
export function finalRule(
  rawDays: readonly LakeDay[],
  hoursDays: readonly HoursDay[],
  today: string,
): (raw: LakeDay) => boolean {
  const hasMarkers = rawDays.some(({ isMarked }) => isMarked) || hoursDays.some(({ note }) => note?.isMarked);
  return (raw) => raw.isMarked || (!hasMarkers && raw.day < today);
}
