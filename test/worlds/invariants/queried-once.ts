/**
 * Rules: if nothing goes wrong, a report over unchanged data is queried once, however many callers request it. A failed
 * query is run again once at most, whatever goes wrong, unless a caller comes that has not waited for the failure.
 */

import type { EngineQuery } from '../modelled-athena.ts';
import { statesDuring } from '../modelled-lake.ts';
import type { Parts } from '../parts.ts';
import { BEGINNING } from '../world.ts';

/**
 * A request must see the end of a query within this time. Otherwise new callers do not get the report
 * (docs/decisions/0042).
 */
const SEEN_SOON_MS = 8_000;
/** A request may have listed the lake up to this long before it starts a query. */
const LISTED_BEFORE_MS = 30_000;
const GIVEN_AGAIN_MS = 5.9 * 86_400_000;

/** Troubles that are no reason to query again. */
const HARMLESS = /^(query goes back|event comes|result lies elsewhere|result appears late)/;

export function queriedOnceRule({ world, athena, lake }: Parts): (started: EngineQuery) => void {
  const { listingSeconds, isListed } = world.plan.settings;
  const isAnswer = (earlier: EngineQuery, started: EngineQuery): boolean => {
    const { endedAt, state, toldEndTo, stopAskedAt } = earlier;
    if (earlier === started || stopAskedAt !== undefined || earlier.asked.days !== started.asked.days)
      return false;
    if (earlier.companies !== started.companies) return false;
    const isYoung = started.submittedAt - earlier.submittedAt < GIVEN_AGAIN_MS;
    const wasSeen =
      endedAt === undefined ||
      (state === 'SUCCEEDED' && toldEndTo.some(({ at }) => at - endedAt < SEEN_SOON_MS));
    // The files that the world writes at its beginning are no change of the lake.
    const from = Math.max(earlier.submittedAt - LISTED_BEFORE_MS, BEGINNING + 1);
    const stoodStill = statesDuring(lake.states, { from, to: started.submittedAt }).length === 1;
    return isYoung && wasSeen && stoodStill;
  };
  return (started) => {
    const isPlain =
      world.troubles.happened.every((each) => HARMLESS.test(each)) &&
      world.plan.outages.length === 0 &&
      !world.plan.clocks.wrong &&
      listingSeconds === 0 &&
      isListed;
    if (!isPlain) return;
    const earlier = [...athena.queries.values()].find((each) => isAnswer(each, started));
    if (earlier) world.violate('queried-twice', `${started.id} asks what ${earlier.id} answers`);
  };
}

/** A caller that comes this long before a query's end may be treated as one that came after it. */
const COARSE_MS = 3_000;

/**
 * A query is charged each time it runs. Excused are failures that Athena has forgotten; callers whose companies change,
 * because for the new companies they are new callers; and a lake that can't be listed, where no two callers share a
 * query.
 */
export function retriedOnceRule({ world, athena, lake, pulls }: Parts): (started: EngineQuery) => void {
  return (started) => {
    if (!world.plan.settings.isListed) return;
    const failed = [...athena.queries.values()].filter(
      ({ cause, asked, companies, forgottenAt, endedAt = Number.POSITIVE_INFINITY }) =>
        cause === 'engine' &&
        asked.days === started.asked.days &&
        companies === started.companies &&
        forgottenAt === undefined &&
        endedAt <= started.submittedAt,
    );
    const [first, second] = failed.slice(-2);
    if (!first?.endedAt || !second || second.submittedAt < first.endedAt) return;
    const from = first.endedAt - COARSE_MS;
    const hasNewCaller = pulls.some(({ startedAt }) => startedAt >= from);
    const isSame =
      statesDuring(lake.states, { from: first.submittedAt, to: started.submittedAt }).length === 1 &&
      world.plan.operator.every(({ atMs }) => BEGINNING + atMs > started.submittedAt);
    if (isSame && !hasNewCaller)
      world.violate('retried-again', `${started.id} after ${first.id} and ${second.id} had failed`);
  };
}
