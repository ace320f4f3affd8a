import { addDays } from './presets.ts';

/** The state of a day. `missing` means that the service does not list the day, so the day has no events. */
export type DayState = 'final' | 'open' | 'unknown' | 'missing';

/** A day that holds events, as the service reports it. */
export interface ToldDay {
  readonly day: string;
  readonly state: Exclude<DayState, 'missing'>;
  /** The version of the day's data. It changes whenever the data change. */
  readonly version: string;
  /** When a day that is not final should be final, `YYYY-MM-DDThh:mm:ssZ`, if the operator promises it. */
  readonly expectedAt?: string;
}

/** What is known of the promise for a report's days. */
interface Promised {
  readonly days: ReadonlyMap<string, ToldDay> | undefined;
  /** The newest day with events. */
  readonly newest: string | undefined;
  /** How many hours after its end a day is promised to be final. */
  readonly finalAfterHours: number | undefined;
}

/**
 * When a day that is not final should be final. The service says it of days with events. Of the days after these it
 * follows from the promised hours.
 */
export function expectedAt(day: string, { days, newest, finalAfterHours }: Promised): string | undefined {
  const listed = days?.get(day);
  if (listed) return listed.expectedAt;
  if (finalAfterHours === undefined || newest === undefined || day <= newest) return undefined;
  return new Date(Date.parse(addDays(day, 1)) + finalAfterHours * 3_600_000).toISOString();
}

/** What is promised for a day that is not final: by when it is expected, or since when it is late. */
export function promiseWords(expectedAt: string | undefined, now: number): string {
  if (expectedAt === undefined) return '';
  const time = `${expectedAt.slice(0, 10)} ${expectedAt.slice(11, 16)} UTC`;
  return now < Date.parse(expectedAt) ? ` (expected by ${time})` : ` (late since ${time})`;
}
