import { signal } from '@preact/signals';
import { API_VERSIONS } from '../../lib/report/parse-request.ts';
import { daysPath } from '../../lib/routes.ts';
import { accessToken } from './caller.ts';
import { addDays } from './presets.ts';
import { serviceAddress } from './service-address.ts';
import { newestDay, today } from './state.ts';

/** How a day's events stand. A day that the service does not list has none. */
export type DayState = 'final' | 'open' | 'unknown' | 'missing';

/** The most days that the service tells of in one answer. */
const MAX_DAYS = 400;

interface Told {
  readonly report: string;
  readonly first: string;
  readonly last: string;
  readonly states: ReadonlyMap<string, DayState>;
}

/** What the service has told of a report's days; undefined where it has told nothing. */
export const toldDays = signal<Told | undefined>(undefined);

/** How a day stands, if the service has told. */
export function stateOf(told: Told | undefined, report: string, day: string): DayState | undefined {
  if (told?.report !== report || day < told.first || day > told.last) return undefined;
  return told.states.get(day) ?? 'missing';
}

/** Asks how the days of a report stand that the caller can see. If that fails, their states stay unknown. */
export async function askDays(report: string): Promise<void> {
  const first = addDays(today.value, 1 - MAX_DAYS);
  const last = today.value;
  const query = new URLSearchParams({
    startInclusive: `${first}T00:00:00Z`,
    endExclusive: `${addDays(last, 1)}T00:00:00Z`,
    'api-version': API_VERSIONS.at(-1) ?? '',
  });
  try {
    const response = await fetch(
      `${serviceAddress.replace(/\/$/, '')}${daysPath({ name: report })}?${query}`,
      {
        headers: { Authorization: `Bearer ${await accessToken()}` },
        cache: 'no-store',
      },
    );
    if (!response.ok) return;
    const answer = (await response.json()) as { days: { day: string; state: DayState }[] };
    const states = new Map(answer.days.map(({ day, state }) => [day, state]));
    toldDays.value = { report, first, last, states };
    const newest = [...states.keys()].sort().at(-1);
    if (newest !== undefined) newestDay.value = newest;
  } catch {
    // The window can be chosen without the states of its days.
  }
}
