/** What a file of hours was made of. A final day remembers it in `_SUCCESS`, an open one in its file. */
export interface DayNote {
  /** The raw lake, as the operator wrote it. */
  readonly from: string;
  /** Whether the raw day had `_SUCCESS`. */
  readonly isMarked: boolean;
  /** The raw day's version, as `GET /reporting/{report}/days` would tell it of the raw lake. */
  readonly version: string;
  /**
   * The ETag of the hours' file, in a bucket. It shows whether the marker belongs to the file: a slow run may put its
   * marker beside another run's file.
   */
  readonly file?: string;
  /** The contract's columns at that time. If there are others now, the day is made again. */
  readonly columns: string;
}

export interface RawDay {
  readonly day: string;
  readonly version: string;
  readonly files: number;
  /** Whether it has `_SUCCESS`. */
  readonly isMarked: boolean;
}

export interface HoursDay {
  readonly day: string;
  /** Whether it has the file that this command writes. */
  readonly hasFile: boolean;
  /** Files that it did not write. */
  readonly others: number;
  /** Whether it has `_SUCCESS`. */
  readonly isMarked: boolean;
  /** What its file was made of. Absent where nothing tells. */
  readonly note?: DayNote;
}

/** What the operator asks for. */
export interface Asked {
  /** Makes days again that are up to date. */
  readonly again: boolean;
  /** Removes files of these days that this command did not write. */
  readonly replace: boolean;
}

export type DayAction =
  /** Makes the hours, and marks them as final. */
  | 'write-final'
  /** Makes the hours of a day that is not complete yet, without a marker. */
  | 'write-open'
  | 'final-as-it-is'
  | 'open-as-it-is'
  /** The raw day was opened again. Its hours stay those of the whole version that they were made of. */
  | 'keep-whole'
  /** The raw day has gone: only its hours are left. */
  | 'keep-only-copy'
  | 'refuse-other-files';

export interface PlannedDay {
  readonly day: string;
  readonly action: DayAction;
}

interface DayFacts extends Asked {
  readonly raw: RawDay | undefined;
  readonly hours: HoursDay | undefined;
  /** Whether nothing more will come to the raw day. */
  readonly isFinal: boolean;
  readonly columns: string;
}

/**
 * What to do with one day. An open day's file never replaces a final day's file, even one without a marker: a slow
 * run may be about to write that marker.
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
 * Whether a raw day is final: it has its marker, or the table never had a marker and the day is over. Without
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

/** What to do with each day that lies in the raw lake or in the hours. */
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
