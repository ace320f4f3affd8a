import * as v from 'valibot';
import { reports } from '../report/catalogue.ts';
import type { Window } from '../report/utc-time.ts';
import { DAY_MS, formatUtcTime, HOUR_MS, patternOf, UTC_TIME_FORM, wholeDay } from '../report/utc-time.ts';
import { type LakeDay, type LakeObject, lakeDays, MARKER_LOOKBACK_DAYS, versionOf } from './data-version.ts';

/** No `format: date-time`: clients that know it write `.000Z` or `+00:00`, which the contract does not allow. */
const text = (form: string) => v.pipe(v.string(), v.regex(RegExp(patternOf(form))));
const time = (description: string) => v.pipe(text(UTC_TIME_FORM), v.description(description));

const dayState = v.object({
  day: v.pipe(text('YYYY-MM-DD'), v.description('UTC.')),
  startInclusive: time('The midnight that begins the day, even if the window begins later.'),
  endExclusive: time(
    'The midnight that begins the next day, even if the window ends earlier. A report of exactly this day has the window from startInclusive to endExclusive.',
  ),
  state: v.pipe(
    v.picklist(['final', 'open', 'unknown']),
    v.description(
      `\`final\`: complete, until it is opened again. \`open\`: more may come. \`unknown\`: the data do not say (no day of the window and of the ${MARKER_LOOKBACK_DAYS} days before it is marked as complete).`,
    ),
  ),
  version: v.pipe(
    v.string(),
    v.minLength(1),
    v.description(
      'Changes when the data of the day change, and only then. Compare it for equality; nothing else is promised of it. A report of exactly this day has it in `Data-Version`.',
    ),
  ),
  expectedAt: v.exactOptional(
    time(
      'By when the operator promises the day to be final. Present if there is a promise and the day is not final; in the past, the day is late.',
    ),
  ),
  finalSince: v.exactOptional(
    time('Since when the day has been final. Present if there is a promise and the day is final.'),
  ),
});

export type DayState = v.InferOutput<typeof dayState>;

/** What `GET /reporting/{report}/days` answers. */
export const daysAnswer = v.object({
  report: v.picklist(reports.map(({ name }) => name)),
  startInclusive: text(UTC_TIME_FORM),
  endExclusive: text(UTC_TIME_FORM),
  days: v.array(dayState),
});

/** The window to list for the states of a window's days. */
export const listedWindow = ({ start, end }: Window): Window => ({
  start: start - MARKER_LOOKBACK_DAYS * DAY_MS,
  end,
});

/**
 * The states of a window's days, by the objects of the listed window. Days without events are left out.
 * @param folder the table's folder: `<prefix>publisher_events/`
 */
export function dayStates(
  objects: readonly LakeObject[],
  folder: string,
  { start }: Window,
  finalAfterHours?: number,
): DayState[] {
  const days = lakeDays({ objects, listedAt: 0 }, folder);
  const unmarked = days.some(({ isMarkedComplete }) => isMarkedComplete) ? 'open' : 'unknown';
  const promise = ({ markedAt }: LakeDay, nextMidnight: number) => {
    if (finalAfterHours === undefined) return {};
    if (markedAt !== undefined) return { finalSince: formatUtcTime(markedAt) };
    return { expectedAt: formatUtcTime(nextMidnight + finalAfterHours * HOUR_MS) };
  };
  return days
    .filter(({ day, files }) => wholeDay(day).end > start && files > 0)
    .map((lakeDay) => {
      const { start: midnight, end: nextMidnight } = wholeDay(lakeDay.day);
      return {
        day: lakeDay.day,
        startInclusive: formatUtcTime(midnight),
        endExclusive: formatUtcTime(nextMidnight),
        state: lakeDay.isMarkedComplete ? 'final' : unmarked,
        version: versionOf([lakeDay]),
        ...promise(lakeDay, nextMidnight),
      };
    });
}
