const FIRST_DAY = Date.UTC(2026, 0, 1);
const DAYS = 59;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Traffic of Sunday to Saturday: the working week reads more mail. */
const WEEKDAY_WEIGHTS = [50, 101, 112, 110, 106, 94, 56];

/** The traffic grows by a third over the two months. */
const weightOf = (day: number): number =>
  (WEEKDAY_WEIGHTS[new Date(day).getUTCDay()] as number) * (3 * DAYS + (day - FIRST_DAY) / DAY_MS);

/** The day that was restated: its late records came in a file of their own. */
const RESTATED_DAY = '2026-02-24';

/** One in twelve of the restated day's records came late. */
const ONE_LATE_IN = 12;

export interface SampleDay {
  readonly day: string;
  /** How many days after the first. */
  readonly dayIndex: number;
  /** Midnight, in milliseconds since 1970. */
  readonly start: number;
  /** The numbers of the day's records: from `first` up to, but not including, `end`. */
  readonly first: number;
  readonly end: number;
  /** The number of the first record that came late; `end` where none did. */
  readonly late: number;
}

/** Deals a number of records out to the days 2026-01-01 to 2026-02-28, by weekday and growth. */
export function sampleDays(records: number): SampleDay[] {
  const starts = Array.from({ length: DAYS }, (_, index) => FIRST_DAY + index * DAY_MS);
  const total = starts.map(weightOf).reduce((sum, weight) => sum + weight);
  let before = 0;
  return starts.map((start, dayIndex) => {
    const first = Math.floor((records * before) / total);
    before += weightOf(start);
    const end = Math.floor((records * before) / total);
    const day = new Date(start).toISOString().slice(0, 10);
    const late = day === RESTATED_DAY ? end - Math.floor((end - first) / ONE_LATE_IN) : end;
    return { day, dayIndex, start, first, end, late };
  });
}
