import { DAY_MS, formatUtcTime, HOUR_MS, utcDay, type Window, wholeDay } from '../report/utc-time.ts';
import { type LakeDay, lakeDays, MARKER_LOOKBACK_DAYS, versionOf } from './data-version.ts';
import type { DayState } from './days-answer.ts';
import type { LakeObject } from './lake.ts';

/** The window to list for the states of a window's days. It begins `MARKER_LOOKBACK_DAYS` days earlier. */
export const listedWindow = ({ start, end }: Window): Window => ({
  start: start - MARKER_LOOKBACK_DAYS * DAY_MS,
  end,
});

/**
 * The states of a window's days. Days without events are left out.
 *
 * @param objects the objects in the folders of the listed window's days
 * @param folder the table's folder: `<prefix>publisher_events/`
 * @param finalAfterHours the operator's promise; undefined if there is none
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
  const first = utcDay(start);
  return days
    .filter(({ day, files }) => day >= first && files > 0)
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
