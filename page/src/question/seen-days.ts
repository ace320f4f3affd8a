import { serviceAddress } from '../service-facts.ts';
import { listedDays } from './day-states.ts';

/** The versions of days, by day, and when they were seen: milliseconds since 1970. */
interface Seen {
  readonly at: number;
  readonly versions: Readonly<Record<string, string>>;
}

/** What this browser keeps for a client and a report: what the visit now has seen, and what the visit before had. */
interface Kept {
  readonly now: Seen;
  readonly before?: Seen;
}

/** The days that have been restated since the last visit. */
export interface Restated {
  /** When the visit before was, milliseconds since 1970. */
  readonly since: number;
  readonly days: readonly string[];
}

/** After this time without an answer, the next answer begins another visit. */
const VISIT_MS = 30 * 60_000;

/**
 * Keeps the versions of the days that an answer shows, in this browser alone, and returns the days whose version differs
 * from the one of the last visit. An open day is not kept: that it changes is expected. Undefined if nothing was
 * restated, or if the page does not know the client or the versions.
 *
 * @param client the client's id; empty if it is not known
 * @param shown the days that the answer shows
 */
export function restatedSince(
  client: string,
  report: string,
  shown: readonly string[],
): Restated | undefined {
  const told = listedDays.value;
  if (client === '' || told?.report !== report) return undefined;
  const versions = Object.fromEntries(
    [...told.days.values()].flatMap(({ day, state, version }) => (state === 'open' ? [] : [[day, version]])),
  );
  const key = `seen ${serviceAddress} ${report} ${client}`;
  const now = Date.now();
  const kept = read(key);
  const isSameVisit = kept !== undefined && now - kept.now.at < VISIT_MS;
  const before = isSameVisit ? kept.before : kept?.now;
  const seen = Object.fromEntries(shown.flatMap((day) => (versions[day] ? [[day, versions[day]]] : [])));
  // Drops days that the service no longer lists.
  const older = Object.entries(kept?.now.versions ?? {}).filter(([day]) => told.days.has(day));
  write(key, {
    now: { at: now, versions: { ...Object.fromEntries(older), ...seen } },
    ...(before && { before }),
  });
  const days = Object.entries(before?.versions ?? {}).flatMap(([day, version]) =>
    versions[day] !== undefined && versions[day] !== version ? [day] : [],
  );
  return before && days.length > 0 ? { since: before.at, days: days.sort() } : undefined;
}

/** Reads what this browser keeps; undefined if it keeps nothing, or keeps nothing for this page. */
function read(key: string): Kept | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? 'null');
    return typeof kept?.now?.at === 'number' ? kept : undefined;
  } catch {
    return undefined;
  }
}

function write(key: string, kept: Kept): void {
  try {
    localStorage.setItem(key, JSON.stringify(kept));
  } catch {
    // A browser may forbid storage. Then no visit has a visit before.
  }
}
