/** What a data version promises: the report counts exactly the files that the lake held at that version. */
import type { EngineQuery } from '../modelled-athena.ts';
import { type Clicks, clicksIn, isMarkerMoved, versionOf } from '../modelled-lake.ts';
import type { Parts } from './parts.ts';

/** Whether a query's numbers are not those of a version. */
export function versionFault(
  { lake, world }: Pick<Parts, 'lake' | 'world'>,
  query: EngineQuery,
  version: string,
): string | undefined {
  const { days } = query.asked;
  const state = lake.states.find((each) => versionOf(each, days) === version);
  if (!state) return 'no-such-version';
  const isRight = query.clicks && equal(clicksIn(state, days, query.companies), query.clicks);
  return isRight || isNamedHole({ lake, world }, query) ? undefined : 'version-with-other-numbers';
}

/** The lake is listed again at most 10 s after the query's end, by times in whole seconds. */
const LAST_LISTING_MS = 12_000;
/** Calls that go wrong may delay that listing. */
const DELAYED_MS = 28_000;

/**
 * Whether a query read, or missed, a file that came and went between the two listings while no day marker changed: the
 * gap that docs/decisions/0042 accepts. The gap ends with the time in which the second listing may follow the query's
 * end; a file that goes later is no excuse.
 */
export const isNamedHole = (
  { lake, world }: Pick<Parts, 'lake' | 'world'>,
  { read, missed, submittedAt, endedAt = submittedAt }: EngineQuery,
): boolean =>
  [...read, ...(missed ? [missed] : [])].some(({ isPassing, day, key, lastModified }) => {
    const gone = lake.states.find(({ from, files }) => from > lastModified && !files.has(key));
    const isInTime =
      gone !== undefined && gone.from <= endedAt + LAST_LISTING_MS + (isDelayed(world) ? DELAYED_MS : 0);
    return isPassing && isInTime && !isMarkerMoved(lake.states, day, { from: submittedAt, to: endedAt });
  });

const isDelayed = ({ plan, troubles }: Parts['world']): boolean =>
  plan.outages.length > 0 || troubles.happened.some((each) => /ListObjects|GetQueryExecution/.test(each));

export const equal = (one: Clicks, other: Clicks): boolean =>
  one.size === other.size && [...one].every(([day, clicks]) => other.get(day) === clicks);
