import { parseUtcTime, utcDay } from '../../../lib/report/utc-time.ts';

/** First and last day of the window, `YYYY-MM-DD` or as the user typed them. A day that is not chosen yet is empty. */
export interface Days {
  readonly first: string;
  readonly last: string;
}

/** The titles of the presets. All days are UTC. No preset contains today, which is not over. */
export const PRESETS = {
  yesterday: 'Yesterday',
  'last-7-days': 'Last 7 days',
  'last-14-days': 'Last 14 days',
  'last-30-days': 'Last 30 days',
  /** The month of yesterday, up to yesterday. On the first of a month, the whole month before. */
  'month-to-date': 'Month to date',
  'last-month': 'Last month',
  /** The seven days up to the newest day that has events. */
  latest: 'Latest 7 days with data',
} as const;

export type Preset = keyof typeof PRESETS;

export const isPreset = (name: string): name is Preset => Object.hasOwn(PRESETS, name);

/** The lengths, in days, of the presets that end yesterday. */
const LENGTHS = { yesterday: 1, 'last-7-days': 7, 'last-14-days': 14, 'last-30-days': 30 };

const DAY_MS = 86_400_000;

/** Whether a text is a day of the calendar, `YYYY-MM-DD`. */
export const isDay = (text: string): boolean => parseUtcTime(`${text}T00:00:00Z`) !== undefined;

/** The day that is `count` days after a day, `YYYY-MM-DD`; empty if the text is no day. */
export function addDays(day: string, count: number): string {
  const time = parseUtcTime(`${day}T00:00:00Z`);
  return time === undefined ? '' : utcDay(time + count * DAY_MS);
}

/**
 * Every day from the first to the last, both included, at most `most` days. Empty if the first or the last is no day,
 * or if the last is before the first.
 */
export function daysBetween({ first, last }: Days, most: number): string[] {
  if (!isDay(first) || !isDay(last)) return [];
  const days: string[] = [];
  for (let day = first; day <= last && days.length < most; day = addDays(day, 1)) days.push(day);
  return days;
}

/** A day with its weekday: `Tue 2026-03-10`. */
export const withWeekday = (day: string): string =>
  `${['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'][new Date(day).getUTCDay()]} ${day}`;

const firstOfMonth = (day: string) => `${day.slice(0, 8)}01`;

/**
 * Returns the days that a window means today.
 *
 * @param newest the newest day that has events; undefined if it is not known
 */
export function resolveWindow(
  window: Preset | Days,
  { today, newest }: { readonly today: string; readonly newest: string | undefined },
): Days {
  if (typeof window === 'object') return window;
  const yesterday = addDays(today, -1);
  switch (window) {
    case 'yesterday':
    case 'last-7-days':
    case 'last-14-days':
    case 'last-30-days':
      return { first: addDays(today, -LENGTHS[window]), last: yesterday };
    case 'month-to-date':
      return { first: firstOfMonth(yesterday), last: yesterday };
    case 'last-month': {
      const last = addDays(firstOfMonth(today), -1);
      return { first: firstOfMonth(last), last };
    }
    case 'latest': {
      const last = newest !== undefined && newest < yesterday ? newest : yesterday;
      return { first: addDays(last, -6), last };
    }
  }
}

/**
 * A window in a few words: `last 7 days`, `yesterday, 2026-11-22`, `2026-02-01 to 2026-02-07`.
 *
 * @param days the days that the window means
 */
export function windowWords(window: Preset | Days, { first, last }: Days): string {
  switch (window) {
    case 'last-7-days':
    case 'last-14-days':
    case 'last-30-days':
      return PRESETS[window].toLowerCase();
    case 'yesterday':
      return `yesterday, ${last}`;
    case 'last-month':
      return `last month, ${first.slice(0, 7)}`;
    case 'month-to-date':
      return `month to date, ${first} to ${last}`;
    case 'latest':
      return `7 days to ${last}`;
  }
  if (first === '' && last === '') return 'no days yet';
  if (last === '') return `from ${first}, no last day yet`;
  if (first === '') return `no first day yet, to ${last}`;
  return first === last ? first : `${first} to ${last}`;
}
