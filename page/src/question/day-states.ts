import { signal } from '@preact/signals';
import { MAX_STATE_DAYS } from '../../../lib/report/parse-days-request.ts';
import { API_VERSIONS } from '../../../lib/report/parse-request.ts';
import { daysPath } from '../../../lib/routes.ts';
import { serviceAddress } from '../service-address.ts';
import { newestDay, today } from '../state.ts';
import { chosenCaller } from './caller.ts';
import type { Caller } from './caller-token.ts';
import { addDays } from './presets.ts';
import type { DayState, ToldDay } from './told-day.ts';

interface Told {
  readonly report: string;
  readonly first: string;
  readonly last: string;
  /** By the day. */
  readonly days: ReadonlyMap<string, ToldDay>;
}

/** What the service has told of a report's days; undefined where it has told nothing. */
export const listedDays = signal<Told | undefined>(undefined);

/** How a day stands, if the service has told. */
export function stateOf(told: Told | undefined, report: string, day: string): DayState | undefined {
  if (told?.report !== report || day < told.first || day > told.last) return undefined;
  return told.days.get(day)?.state ?? 'missing';
}

/**
 * The days of a report that hold events, as they stand now, for the caller; undefined where the service does not tell.
 *
 * @param first,last days, `YYYY-MM-DD`, both among them; at most MAX_STATE_DAYS
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
    return answer.days.map(({ day, state, version }) => ({ day, state, version }));
  } catch {
    return undefined;
  }
}

/**
 * Asks how the report's days stand for the chosen caller. If that fails, their states are not known. The answer is
 * dropped if another caller or report was chosen while it was on its way.
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
