/**
 * Rules: if nothing goes wrong, a report over unchanged data is queried once, however many callers request it. A failed
 * query is run again once at most, whatever goes wrong, unless a caller comes that has not waited for the failure. No
 * query is started for a caller whose time is up.
 */
import type { EngineQuery } from '../modelled-athena.ts';
import { statesDuring, versionOf } from '../modelled-lake.ts';
import type { Parts, Pull } from '../parts.ts';
import { hasFailedWrite } from '../troubles.ts';
import { BEGINNING } from '../world.ts';
import { isSeenSoon, queriesFor } from './calm.ts';
import { judge } from './judge.ts';
import { entriesOf } from './refusals.ts';
import { CALLER_LIMITS, TOO_LATE_LIMITS } from './unavailable.ts';

/** A request may have listed the lake up to this long before it starts a query. */
const LISTED_BEFORE_MS = 30_000;
/** A query's end is recorded, and the lake listed again, within this time. */
const RECORDED_LATE_MS = 20_000;
const GIVEN_AGAIN_MS = 5.9 * 86_400_000;

export function queriedOnceRule({ world, athena, lake, pulls }: Parts): (started: EngineQuery) => void {
  const isAnswer = (earlier: EngineQuery, started: EngineQuery): boolean => {
    const { endedAt, state, cause, stopAskedAt } = earlier;
    if (earlier === started || stopAskedAt !== undefined) return false;
    // The limit may have been raised since then.
    if (cause === 'scan limit' && world.plan.settings.raisesLimit && world.deployedAt !== undefined)
      return false;
    const isYoung = started.submittedAt - earlier.submittedAt < GIVEN_AGAIN_MS;
    const wasSeen =
      endedAt === undefined || ((state === 'SUCCEEDED' || cause === 'scan limit') && isSeenSoon(earlier));
    // The files that the world writes at its beginning are no change of the lake.
    const from = Math.max(earlier.submittedAt - LISTED_BEFORE_MS, BEGINNING + 1);
    const to = Math.min(started.submittedAt, (endedAt ?? started.submittedAt) + RECORDED_LATE_MS);
    const stoodStill = statesDuring(lake.states, { from, to }).length === 1;
    // After that, a marker that comes and files that are written again are no other data.
    const versions = statesDuring(lake.states, { from, to: started.submittedAt }).map((state) =>
      versionOf(state, started.report.days),
    );
    return isYoung && wasSeen && stoodStill && new Set(versions).size === 1;
  };
  return (started) => {
    const { startedBy, submittedAt } = started;
    const pull = pulls.findLast(({ caller }) => startedBy.id.startsWith(`${caller.id}.`));
    const from = (pull?.startedAt ?? 0) - LISTED_BEFORE_MS;
    const states = statesDuring(lake.states, { from, to: submittedAt });
    const earlier = queriesFor(athena, started).find((each) => isAnswer(each, started));
    const findings = {
      'started-without-table': states.every(({ files }) => files.size === 0),
      'queried-twice': earlier !== undefined,
    };
    judge(world, findings, () => `${started.id}, though there is ${earlier?.id ?? 'no file'}`);
  };
}

/** A caller that comes this long before a query's end may be treated as one that came after it. */
const COARSE_MS = 3_000;

/**
 * A query is charged each time it runs. Excused are failures that Athena has forgotten, and callers whose companies
 * change, because for the new companies they are new callers. If the lake can't be listed, no two callers share a query,
 * and a caller that has waited for a slot begins anew.
 */
export function retriedOnceRule({ world, athena, lake, pulls }: Parts): (started: EngineQuery) => void {
  const { isListed, queriesPerPartner } = world.plan.settings;
  const callerOf = ({ startedBy }: Pick<EngineQuery, 'startedBy'>) => startedBy.id.split('.')[0];
  return (started) => {
    const failed = queriesFor(athena, started).filter(
      ({ cause, startedBy, forgottenAt, endedAt = Number.POSITIVE_INFINITY }) =>
        cause === 'engine' &&
        forgottenAt === undefined &&
        endedAt <= started.submittedAt &&
        (isListed || callerOf({ startedBy }) === callerOf(started)),
    );
    const [first, second] = failed.slice(-2);
    if (!first?.endedAt || !second || second.submittedAt < first.endedAt) return;
    if (!isListed && queriesPerPartner > 0 && first.startedBy !== second.startedBy) return;
    const isStarter = ({ caller, startedAt }: Pull) =>
      caller.id === callerOf(first) && startedAt <= first.submittedAt;
    const since = first.endedAt - COARSE_MS;
    const isOfReport = ({ caller }: Pull) => caller.days.join() === started.report.days.join();
    const hasNewCaller = pulls.some(
      (pull) => pull.startedAt >= since && isOfReport(pull) && !isStarter(pull),
    );
    // A caller that waits may have listed the lake long before, and starts over if its query fails and files changed.
    const listedAt = Math.min(...pulls.map(({ startedAt }) => startedAt)) - LISTED_BEFORE_MS;
    const from = Math.max(listedAt, BEGINNING + 1);
    const isSame =
      statesDuring(lake.states, { from, to: started.submittedAt }).length === 1 &&
      world.plan.operator.every(({ atMs }) => BEGINNING + atMs > started.submittedAt);
    const findings = { 'retried-again': isSame && !hasNewCaller };
    judge(world, findings, () => `${started.id} after ${first.id} and ${second.id} had failed`);
  };
}

/** Failing calls of the caller's last request may take this long. */
const HELD_UP_MS = 35_000;

export function startedInTimeRule(parts: Parts): (started: EngineQuery) => void {
  const { world, athena, lake, pulls } = parts;
  return (started) => {
    const { id, startedBy, submittedAt } = started;
    const pull = pulls.findLast(({ caller }) => startedBy.id.startsWith(`${caller.id}.`));
    // The time of a write that fails is not in the ticket that is written.
    const isHeldUp =
      startedBy.faults.length > 0 ||
      world.troubles.kinds.has('outage') ||
      hasFailedWrite(world.troubles, pull?.caller.id);
    const lateMs = isHeldUp ? HELD_UP_MS : 2 * COARSE_MS;
    // After a query that this request has stopped, another is started only if enough time is left. It is always started
    // if files have changed, or the caller's companies: a stop then counts as that of earlier callers.
    const before = queriesFor(athena, started).findLast((each) => each !== started);
    const isAfterStop =
      before?.stopAskedAt !== undefined &&
      before.stoppedBy === startedBy &&
      !(pull && entriesOf(parts, pull, submittedAt).length > 1) &&
      statesDuring(lake.states, { from: before.submittedAt, to: submittedAt }).length === 1;
    const limits = isAfterStop ? TOO_LATE_LIMITS : CALLER_LIMITS;
    const mostMs = limits * world.plan.settings.longestQueryMs + lateMs;
    const findings = { 'started-for-nobody': pull && submittedAt - pull.startedAt > mostMs };
    judge(world, findings, () => `${id} by ${startedBy.id}, whose caller's time is up`);
  };
}
