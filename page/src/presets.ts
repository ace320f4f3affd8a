import { utcDay } from '../../lib/report/utc-time.ts';

/** Days of the window, first and last, `YYYY-MM-DD`; what is not chosen yet is empty. */
export interface Days {
  readonly first: string;
  readonly last: string;
}

/** What the names of windows stand for; all days are UTC. */
export const PRESETS = {
  yesterday: 'Yesterday',
  'last-7-days': 'Last 7 days',
  'last-month': 'Last month',
  /** The seven days up to the newest that has events. */
  latest: 'Latest 7 days with data',
} as const;

export type Preset = keyof typeof PRESETS;

export const isPreset = (name: string): name is Preset => Object.hasOwn(PRESETS, name);

const DAY_MS = 86_400_000;

/** The day so many days after a day, `YYYY-MM-DD`; empty where the day is none. */
export function addDays(day: string, count: number): string {
  const time = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(time) ? '' : utcDay(time + count * DAY_MS);
}

/** Every day from the first to the last, both among them; none where they are no days, or too many. */
export function daysBetween({ first, last }: Days, most: number): string[] {
  const days: string[] = [];
  for (let day = first; day !== '' && day <= last && days.length < most; day = addDays(day, 1))
    days.push(day);
  return days;
}

/**
 * The days that a window stands for today.
 *
 * @param newest the newest day that has events, where it is known
 */
export function resolveWindow(
  window: Preset | Days,
  { today, newest }: { readonly today: string; readonly newest: string | undefined },
): Days {
  if (typeof window === 'object') return window;
  const yesterday = addDays(today, -1);
  switch (window) {
    case 'yesterday':
      return { first: yesterday, last: yesterday };
    case 'last-7-days':
      return { first: addDays(today, -7), last: yesterday };
    case 'last-month': {
      const last = addDays(`${today.slice(0, 8)}01`, -1);
      return { first: `${last.slice(0, 8)}01`, last };
    }
    case 'latest': {
      const last = newest !== undefined && newest < yesterday ? newest : yesterday;
      return { first: addDays(last, -6), last };
    }
  }
}
