import { formatUtcTime, utcDay, type Window, wholeDay } from '../report/utc-time.ts';
import { lakeDays, versionOf } from './data-version.ts';
import type { LakeObject } from './lake.ts';

/**
 * The states of a day. `final`: nothing more will come until the writer opens the day again; `open`: more may come;
 * `unknown`: the lake doesn't say.
 */
export const DAY_STATES = ['final', 'open', 'unknown'] as const;

export interface DayState {
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
  /** The midnight that begins the day, `YYYY-MM-DDThh:mm:ssZ`, even if the window begins later. */
  readonly startInclusive: string;
  /**
   * The midnight that begins the next day, even if the window ends earlier: state and version are for the whole day.
   */
  readonly endExclusive: string;
  readonly state: (typeof DAY_STATES)[number];
  /** The `Data-Version` of a report on exactly this day. It changes only if the day's files change. */
  readonly version: string;
  /** When a day that is not final should be final, by the operator's promise. */
  readonly expectedAt?: string;
  /** Since when a final day is final, if the operator has promised a time. */
  readonly finalSince?: string;
}

/** When a day that ends at `nextMidnight` should be final, in milliseconds since 1970. */
const expectedAt = (nextMidnight: number, finalAfterHours: number): number =>
  nextMidnight + finalAfterHours * 3_600_000;

/** How many days before a window are listed too. They show whether the lake's writers mark complete days at all. */
export const MARKER_LOOKBACK_DAYS = 31;

const DAY_MS = 86_400_000;

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
  const first = utcDay(start);
  return days
    .filter(({ day, files }) => day >= first && files > 0)
    .map((lakeDay) => {
      const { start: midnight, end: nextMidnight } = wholeDay(lakeDay.day);
      const { markedAt } = lakeDay;
      const promise =
        finalAfterHours === undefined
          ? {}
          : markedAt === undefined
            ? { expectedAt: formatUtcTime(expectedAt(nextMidnight, finalAfterHours)) }
            : { finalSince: formatUtcTime(markedAt) };
      return {
        day: lakeDay.day,
        startInclusive: formatUtcTime(midnight),
        endExclusive: formatUtcTime(nextMidnight),
        state: lakeDay.isMarkedComplete ? 'final' : unmarked,
        version: versionOf([lakeDay]),
        ...promise,
      };
    });
}
