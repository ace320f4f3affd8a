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

export interface RawDay {
  readonly day: string;
  readonly version: string;
  readonly files: number;
  /** Whether the day has `_SUCCESS`. */
  readonly isMarked: boolean;
}

export interface HoursDay {
  readonly day: string;
  /** Whether the day has the file that this command writes. */
  readonly hasFile: boolean;
  /** The number of files in the day that this command did not write. */
  readonly others: number;
  /** Whether the day has `_SUCCESS`. */
  readonly isMarked: boolean;
  /** What the day's file was made of. Absent if neither the marker nor the file says so. */
  readonly note?: DayNote;
}

/** What the operator asks for. */
export interface Asked {
  /** Whether to make days again that are up to date. */
  readonly again: boolean;
  /** Whether to make a day that has files of another writer, and to remove those files. */
  readonly replace: boolean;
}

export type DayAction =
  /** Makes the hours, and marks them as final. */
  | 'write-final'
  /** Makes the hours of a day that is not complete yet, without a marker. */
  | 'write-open'
  | 'final-as-it-is'
  | 'open-as-it-is'
  /** The raw day was opened again after its hours were made. The hours stay as they are. */
  | 'keep-whole'
  /** The raw day no longer exists, so its hours are kept. */
  | 'keep-only-copy'
  | 'refuse-other-files';

export interface PlannedDay {
  readonly day: string;
  readonly action: DayAction;
}

interface DayFacts extends Asked {
  readonly raw: RawDay | undefined;
  readonly hours: HoursDay | undefined;
  /** Whether the raw day gets no more records. */
  readonly isFinal: boolean;
  readonly columns: string;
}

/**
 * Decides what to do with one day. An open day's file never replaces a final day's file, even if the marker is missing:
 * a slow run may be about to write the marker.
 */
export function planDay({ raw, hours, isFinal, columns, again, replace }: DayFacts): DayAction {
  if (!raw) return 'keep-only-copy';
  if (hours && hours.others > 0 && !replace) return 'refuse-other-files';
  const { note, hasFile = false, isMarked = false, others = 0 } = hours ?? {};
  const isSame = note?.version === raw.version && note.columns === columns && others === 0;
  if (isFinal) {
    const isEmptyOnBothSides = raw.files === 0 && !hasFile && others === 0;
    return (isMarked && isSame && !again) || isEmptyOnBothSides ? 'final-as-it-is' : 'write-final';
  }
  if (isMarked || (hasFile && !note)) return 'keep-whole';
  return isSame && !again ? 'open-as-it-is' : 'write-open';
}

/**
 * Decides whether a raw day is final: it has its marker, or it is over and the table never had a marker. Without
 * markers, nothing shows whether a past day is still being written.
 */
export function finalRule(
  rawDays: readonly RawDay[],
  hoursDays: readonly HoursDay[],
  today: string,
): (raw: RawDay) => boolean {
  const hasMarkers = rawDays.some(({ isMarked }) => isMarked) || hoursDays.some(({ note }) => note?.isMarked);
  return (raw) => raw.isMarked || (!hasMarkers && raw.day < today);
}

/** Decides what to do with each day of the raw lake and of the lake of hours. */
export function planHours(
  rawDays: readonly RawDay[],
  hoursDays: readonly HoursDay[],
  {
    today,
    columns,
    isAsked = () => true,
    again,
    replace,
  }: Asked & {
    readonly today: string;
    readonly columns: string;
    readonly isAsked?: (day: string) => boolean;
  },
): PlannedDay[] {
  const isFinal = finalRule(rawDays, hoursDays, today);
  const raws = new Map(rawDays.map((raw) => [raw.day, raw]));
  const hours = new Map(hoursDays.map((known) => [known.day, known]));
  return [...new Set([...raws.keys(), ...hours.keys()])]
    .filter(isAsked)
    .sort()
    .map((day) => {
      const raw = raws.get(day);
      const facts = { raw, hours: hours.get(day), columns, again, replace };
      return { day, action: planDay({ ...facts, isFinal: raw !== undefined && isFinal(raw) }) };
    });
}
