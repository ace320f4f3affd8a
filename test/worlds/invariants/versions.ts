/** Rule: a report with a data version counts exactly the files that the lake had at that version. */
import type { EngineQuery } from '../modelled-athena.ts';
import { type Clicks, clicksIn, markersDuring, statesDuring, versionOf } from '../modelled-lake.ts';
import type { Parts } from '../parts.ts';
import type { Findings } from './judge.ts';

/** Whether a version exists, and has the numbers of a query's report. */
export function versionFindings(parts: Parts, query: EngineQuery, version: string): Findings {
  const { days } = query.report;
  const state = parts.lake.states.find((each) => versionOf(each, days) === version);
  const isRight = state && query.clicks && equal(clicksIn(state, days, query.companies), query.clicks);
  return {
    'no-such-version': !state,
    'version-with-other-numbers': state && !isRight && !isNamedHole(parts, query),
  };
}

/** The service lists the lake again at most 10 s after the query's end. Two more allow for times in whole seconds. */
const LAST_LISTING_MS = 12_000;
/** Failing calls may delay that listing by this much. */
const DELAYED_MS = 28_000;

/**
 * Whether a query read, or missed, a file that came and went between the two listings, while both listings show the
 * same marker of the file's day, or none. docs/decisions/0042 accepts this hole. If the file was still there at the
 * latest moment of the second listing, that listing shows the file, so this is no such hole.
 */
export const isNamedHole = (
  { lake, world }: Parts,
  { read, missed, submittedAt, endedAt = submittedAt, toldEndTo, startedBy }: EngineQuery,
): boolean =>
  [...read, ...(missed ? [missed] : [])].some(({ isPassing, day, key, lastModified }) => {
    const gone = lake.states.find(({ from, files }) => from > lastModified && !files.has(key));
    const isInTime =
      gone !== undefined && gone.from <= endedAt + LAST_LISTING_MS + (isDelayed(world) ? DELAYED_MS : 0);
    const shown = markersDuring(lake.states, day, { from: submittedAt, to: submittedAt });
    const to = Math.max(endedAt, ...toldEndTo.map(({ at }) => at));
    const shownAgain = markersDuring(lake.states, day, { from: endedAt, to });
    const before = statesDuring(lake.states, { from: startedBy.startedAt, to: endedAt });
    const isBetween = isPassing || before.some(({ files }) => !files.has(key));
    return isBetween && isInTime && !shown.isDisjointFrom(shownAgain);
  });

const isDelayed = ({ troubles }: Parts['world']): boolean =>
  troubles.kinds.has('outage') ||
  troubles.happened.some((each) => /ListObjects|GetQueryExecution/.test(each));

export const equal = (one: Clicks, other: Clicks): boolean =>
  one.size === other.size && [...one].every(([day, clicks]) => other.get(day) === clicks);
