import { dimensionsOf, fieldOf, type Report } from '../../../lib/report/catalogue.ts';
import type { Choice, Comparison } from './choice.ts';
import { addDays, type Days, daysBetween } from './presets.ts';
import type { DayState } from './told-day.ts';

/** A day of the window, and the day that is compared with it. */
export interface DayPair {
  readonly day: string;
  readonly before: string;
}

/** The days that are compared. Both sides have the same number of days. */
export interface ComparedDays {
  readonly pairs: readonly DayPair[];
  /** Pairs with a day that is open or has no data. A day with half its data, or none, would look like a fall. */
  readonly leftOut: readonly (DayPair & { readonly why: 'open' | 'no data' })[];
  /** The service has not reported the states of the days. Then no pair is left out. */
  readonly isUntold?: true;
}

const DAY_CHARACTERS = 'YYYY-MM-DD'.length;

/** Pairs each day of a window with an earlier day, in order. */
export function dayPairs(comparison: Comparison, window: readonly string[]): DayPair[] {
  const [first] = window;
  if (first === undefined || comparison === 'none') return [];
  const daysBefore = {
    'weekdays-before': 7 * Math.ceil(window.length / 7),
    'weekdays-year-before': 7 * 52,
    'period-before': window.length,
  };
  const start = comparison === 'year-before' ? yearBefore(first) : addDays(first, -daysBefore[comparison]);
  return window.map((day, index) => ({ day, before: addDays(start, index) }));
}

export const hasOtherWeekday = ({ day, before }: DayPair): boolean =>
  new Date(day).getUTCDay() !== new Date(before).getUTCDay();

/** The same date a year before. For 29 February, that is 28 February. */
function yearBefore(day: string): string {
  const date = `${Number(day.slice(0, 4)) - 1}${day.slice(4)}`;
  return date.endsWith('-02-29') ? date.replace('-29', '-28') : date;
}

/**
 * Keeps the pairs that can be compared.
 *
 * @param stateOf returns the state of a day; undefined if the service has not reported it
 */
export function comparedDays(
  pairs: readonly DayPair[],
  stateOf: (day: string) => DayState | undefined,
): ComparedDays {
  const why = ({ day, before }: DayPair) => {
    const states = [stateOf(day), stateOf(before)];
    if (states.includes('missing')) return 'no data';
    return states.includes('open') ? 'open' : undefined;
  };
  return {
    pairs: pairs.filter((pair) => why(pair) === undefined),
    leftOut: pairs.flatMap((pair) => {
      const reason = why(pair);
      return reason ? [{ ...pair, why: reason }] : [];
    }),
  };
}

/**
 * Whether the question's filters let this day pass. A filter by time lets only the days of its values pass.
 */
export const isDayAsked = ({ filters }: Choice, report: Report, day: string): boolean =>
  filters.every(
    (filter) =>
      fieldOf(report, filter.field)?.type !== 'datetime' ||
      filter.values.some((value) => value.startsWith(day)),
  );

/**
 * Limits the question to some days. The new window goes from the first of these days to the last. If days in between
 * are left out, a filter names the days that stay. In filters by time, the values move with the days. Undefined if
 * there are no days, or if the question's own filters leave none.
 *
 * @param moved the days to which the question is limited, each with the day that replaces it
 */
export function overDays(
  choice: Choice,
  report: Report,
  moved: ReadonlyMap<string, string>,
): { readonly choice: Choice; readonly days: Days } | undefined {
  const days = [...moved.values()].sort();
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const times = dimensionsOf(report).filter(({ type }) => type === 'datetime');
  const onDays = choice.filters.map((filter) => ({
    ...filter,
    values: times.some(({ name }) => name === filter.field)
      ? filter.values.flatMap((value) => {
          const day = moved.get(value.slice(0, DAY_CHARACTERS));
          return day === undefined ? [] : [day + value.slice(DAY_CHARACTERS)];
        })
      : filter.values,
  }));
  if (onDays.some((filter) => filter.values.length === 0)) return undefined;
  const byDay = times.find((field) => field.type === 'datetime' && field.grain === 'day')?.name;
  const hasGaps = daysBetween({ first, last }, days.length + 1).length > days.length;
  const isDayChosen = onDays.some(({ field }) => field === byDay);
  return {
    choice: {
      ...choice,
      filters:
        hasGaps && byDay !== undefined && !isDayChosen
          ? [...onDays, { field: byDay, values: days.map((day) => `${day}T00:00:00Z`) }]
          : onDays,
    },
    days: { first, last },
  };
}
