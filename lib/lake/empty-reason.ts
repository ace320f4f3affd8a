import type { ReportRequest } from '../report/parse-request.ts';
import { DAY_MS, daysBetween, daysOf, HOUR_MS, utcDay } from '../report/utc-time.ts';

/**
 * Why a report has no rows (docs/contract.md#a-report-without-rows). `outside-window`: a filter on the time lets no
 * instant of the window pass; `no-records`: the lake has no file of the days that are left; `open-days`: it has, and
 * more may come; `no-match`: no record of these days passes the filters and is the caller's.
 */
export const EMPTY_REASONS = ['outside-window', 'no-records', 'open-days', 'no-match'] as const;
export type EmptyReason = (typeof EMPTY_REASONS)[number];

/**
 * By what every caller may know: the request, and which days of the window have files and markers. It never depends on
 * the rows of a company. `days` is undefined if the lake can't be listed.
 */
export function emptyReason(
  { window, filters }: Pick<ReportRequest, 'window' | 'filters'>,
  days: readonly { day: string; files: number; isMarkedComplete: boolean }[] | undefined,
): EmptyReason {
  const { first, last } = daysOf(window);
  const daysRead = filters.reduce(
    (left, filter) => {
      if (filter.kind === 'column') return left;
      const grainMs = filter.dimension.grain === 'hour' ? HOUR_MS : DAY_MS;
      // The hours or days that begin at these instants have an instant of the window.
      const instants = filter.values.filter((time) => time < window.end && time + grainMs > window.start);
      return left.intersection(new Set(instants.map(utcDay)));
    },
    new Set(daysBetween(first, last)),
  );
  if (daysRead.size === 0) return 'outside-window';
  if (!days) return 'no-match';
  const withFiles = days.filter(({ day, files }) => files > 0 && daysRead.has(day));
  if (withFiles.length === 0) return 'no-records';
  // Without a marker in the window, nothing shows that the lake's writers mark complete days.
  const areMarked = days.some(({ isMarkedComplete }) => isMarkedComplete);
  return areMarked && withFiles.some(({ isMarkedComplete }) => !isMarkedComplete) ? 'open-days' : 'no-match';
}
