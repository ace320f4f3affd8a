import { signal } from '@preact/signals';
import { API_VERSIONS, MAX_STATE_DAYS } from '../../../lib/report/parse-request.ts';
import { daysPath } from '../../../lib/routes.ts';
import { serviceAddress } from '../service-facts.ts';
import { newestDay, today } from '../state.ts';
import { chosenCaller } from './caller.ts';
import type { Caller } from './choice.ts';
import { addDays } from './presets.ts';
import type { DayState, ToldDay } from './told-day.ts';

interface Told {
  readonly report: string;
  readonly first: string;
  readonly last: string;
  /** The days that hold events, by their date. */
  readonly days: ReadonlyMap<string, ToldDay>;
}

/** The service's latest answer about the days of a report; undefined if there is none, or if the question failed. */
export const listedDays = signal<Told | undefined>(undefined);

/** The state of a day; undefined if the service has not reported it. */
export function stateOf(told: Told | undefined, report: string, day: string): DayState | undefined {
  if (told?.report !== report || day < told.first || day > told.last) return undefined;
  return told.days.get(day)?.state ?? 'missing';
}

/**
 * Asks, as the caller, which days hold events of a report, and which states these days have now. Undefined if the
 * service does not report them.
 *
 * @param first,last first and last day, `YYYY-MM-DD`, both included; at most MAX_STATE_DAYS days
 */
export async function fetchDays(
  caller: Caller,
  report: string,
  first: string,
  last: string,
): Promise<readonly ToldDay[] | undefined> {
  const query = new URLSearchParams({
    startInclusive: `${first}T00:00:00Z`,
    endExclusive: `${addDays(last, 1)}T00:00:00Z`,
    'api-version': API_VERSIONS.at(-1) ?? '',
  });
  try {
    const response = await fetch(
      `${serviceAddress.replace(/\/$/, '')}${daysPath({ name: report })}?${query}`,
      {
        headers: { Authorization: `Bearer ${await caller.token()}` },
        cache: 'no-store',
      },
    );
    if (!response.ok) return undefined;
    const answer = (await response.json()) as { days: ToldDay[] };
    return answer.days;
  } catch {
    return undefined;
  }
}

/**
 * Asks for the states of the report's days, for the chosen caller. If that fails, the states are not known. If the user
 * has chosen another caller or report in the meantime, the answer is dropped.
 */
export async function askDays(report: string): Promise<void> {
  const caller = chosenCaller();
  const first = addDays(today.value, 1 - MAX_STATE_DAYS);
  const last = today.value;
  asked = `${caller.key} ${report}`;
  const told = await fetchDays(caller, report, first, last);
  if (asked !== `${caller.key} ${report}`) return;
  listedDays.value = told && { report, first, last, days: new Map(told.map((day) => [day.day, day])) };
  const newest = told
    ?.map(({ day }) => day)
    .toSorted()
    .at(-1);
  if (newest !== undefined) newestDay.value = newest;
}

let asked = '';
