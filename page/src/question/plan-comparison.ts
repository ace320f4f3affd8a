import type { Report } from '../../../lib/report/catalogue.ts';
import type { Caller, Choice } from './choice.ts';
import { type ComparedDays, comparedDays, dayPairs, isDayAsked, overDays } from './compare.ts';
import { fetchDays } from './day-states.ts';
import { type Days, daysBetween } from './presets.ts';
import type { DayState } from './told-day.ts';

/** One side of a comparison: a question, and its days. */
interface Side {
  readonly choice: Choice;
  readonly days: Days;
}

/** The plan of a comparison. If there is nothing to compare with, it has no sides. */
export interface Comparing {
  readonly compared: ComparedDays;
  readonly sides?: {
    readonly now: Side;
    readonly before: Side;
    readonly daysLater: ReadonlyMap<string, string>;
  };
}

/**
 * Pairs the days of the window with the days of the period before. Leaves out a pair if one of its days is now open or
 * without data, or if the filters do not let its day of the window pass. Undefined if no comparison is chosen, or if
 * the window has no days.
 */
export async function planComparison(
  caller: Caller,
  choice: Choice,
  report: Report,
  days: Days,
): Promise<Comparing | undefined> {
  const window = dayPairs(choice.compare, daysBetween(days, Number.POSITIVE_INFINITY));
  const [first, last] = [window[0], window.at(-1)];
  if (!first || !last) return undefined;
  const told = await Promise.all([
    fetchDays(caller, report.name, first.day, last.day),
    fetchDays(caller, report.name, first.before, last.before),
  ]);
  const states = new Map<string, DayState>(
    told.flatMap((days) => days ?? []).map(({ day, state }) => [day, state]),
  );
  const isUntold = told.includes(undefined);
  const all = comparedDays(window, (day) => (isUntold ? undefined : (states.get(day) ?? 'missing')));
  const isAsked = ({ day }: { readonly day: string }) => isDayAsked(choice, report, day);
  const compared: ComparedDays = {
    pairs: all.pairs.filter(isAsked),
    leftOut: all.leftOut.filter(isAsked),
    ...(isUntold && { isUntold }),
  };
  const { pairs } = compared;
  const now = overDays(choice, report, new Map(pairs.map(({ day }) => [day, day])));
  const before = overDays(choice, report, new Map(pairs.map(({ day, before }) => [day, before])));
  if (!now || !before) return { compared };
  return {
    compared,
    sides: { now, before, daysLater: new Map(pairs.map(({ day, before }) => [before, day])) },
  };
}
