const FIRST_DAY = Date.UTC(2026, 0, 1);
const DAYS = 59;
const DAY_MS = 24 * 60 * 60 * 1000;

/** The traffic of each weekday, from Sunday to Saturday. More mail is read on working days. */
const WEEKDAY_WEIGHTS = [50, 101, 112, 110, 106, 94, 56];

/** The traffic grows by a third over the two months. */
const weightOf = (day: number): number =>
  (WEEKDAY_WEIGHTS[new Date(day).getUTCDay()] as number) * (3 * DAYS + (day - FIRST_DAY) / DAY_MS);

/** The restated day. Its late records are in a file of their own. */
const RESTATED_DAY = '2026-02-24';

/** One in twelve of the restated day's records came late. */
const ONE_LATE_IN = 12;

export interface SampleDay {
  readonly day: string;
  /** The number of days since the first day. */
  readonly dayIndex: number;
  /** The day's midnight, in milliseconds since 1970. */
  readonly start: number;
  /** The number of the day's first record. */
  readonly first: number;
  /** The number of the day's last record, plus 1. */
  readonly end: number;
  /** The number of the first record that came late. It equals `end` if no record came late. */
  readonly late: number;
}

/** Distributes a number of records over the days 2026-01-01 to 2026-02-28, by weekday and growth. */
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
