/**
 * Rules: a query is stopped if it runs for too long, and only then. Its time in Athena's queue does not count, nor does
 * the time that it ran before Athena put it back into the queue. Excused is only who can't know better. Athena answers
 * few questions a second: who starts a query does not ask about it at once.
 */
import { LIMIT_TOLERANCE } from '../../../lib/delivery/execution.ts';
import type { Invocation } from '../invocation.ts';
import type { EngineQuery } from '../modelled-athena.ts';
import type { Parts } from '../parts.ts';
import { judge } from './judge.ts';
import { CALLER_LIMITS } from './unavailable.ts';

/** A stop may follow Athena's answer by this much. */
const TOLD_LATELY_MS = 2_000;
/** A query counts as overdue only this long after its limit, because Athena gives its times in whole seconds. */
const LATE_MS = 2_500;

/**
 * Whether an invocation has surely stored what it had learnt about a query by a time: it has not died, no call to S3
 * failed, and it has written a record since then. Who has lost its lease can't, nor who ends in an error because it may
 * not ask Athena. Release 1.0.0 stores nothing if its lease ends while Athena refuses to stop the query.
 */
const hasStored = ({ isDead, faults, written, machine, line }: Invocation, at: number): boolean =>
  !isDead &&
  line?.['status'] !== 500 &&
  faults.every(({ operation }) => operation.startsWith('Athena') && !machine.isOfReleaseBefore) &&
  [...written].some(([key, { lastModified }]) => key.startsWith('jobs/') && lastModified >= at);

/** Whether a query is stopped early. Called when a query that has not ended is stopped. */
export const stoppedRule =
  ({ world }: Parts) =>
  (query: EngineQuery, by: Invocation): void => {
    const { id, state, submittedAt, toldQueuedAt = 0, toldQueuedTo, toldRunning, toldRunningTo } = query;
    // Athena may refuse the stop at first. What others learn meanwhile, this invocation does not know.
    const now = query.stopTriedBy.get(by) ?? world.time.now();
    const { longestQueryMs: limitMs } = world.plan.settings;
    const isEarly = (since: number, ms: number) => now - since < (1 - LIMIT_TOLERANCE) * ms - 1_000;
    const isSeenRunning = toldRunning !== undefined && toldRunning.at <= now;
    // If Athena reported the query as queued a moment ago, the service can't know yet that it runs.
    const isQueued = state === 'QUEUED' || now - toldQueuedAt < TOLD_LATELY_MS || !isSeenRunning;
    // Release 1.0.0 doesn't know that a query which is queued has run before.
    const isPutBack =
      !by.machine.isOfReleaseBefore &&
      [...toldRunningTo].some(([each, at]) => at <= now && (each === by || hasStored(each, at)));
    const isOwnEarly = isQueued
      ? isPutBack || isEarly(submittedAt, limitMs)
      : isEarly(toldRunning.at, limitMs);
    // Perhaps the invocation that learnt that the query is queued again could not say so.
    const isUnsaid = [...toldQueuedTo].some(([each, at]) => each !== by && !hasStored(each, at));
    const findings = { 'stopped-early': isOwnEarly && !isUnsaid && isEarly(submittedAt, 2 * limitMs) };
    const since = () => (isQueued ? 'queued' : `running for ${now - toldRunning.at} ms`);
    judge(world, findings, () => `${id} after ${now - submittedAt} ms, ${since()}`);
  };

/** Athena is asked two to four seconds after a query's start at the earliest, unless its caller's time is up. */
const FIRST_ASK_MS = 1_900;
/** Who takes an attempt over asks at once if its answer is due, or its caller's time is up, within this time. */
const DUE_MS = 5_000;

/** Called when an invocation learns from Athena that a query is under way. */
export function noteUnderWay(parts: Parts, query: EngineQuery, by: Invocation, isQueued: boolean): void {
  const { world, pulls } = parts;
  const now = world.time.now();
  const pull = pulls.findLast(({ caller }) => by.id.startsWith(`${caller.id}.`));
  const leftMs = (pull?.startedAt ?? 0) + CALLER_LIMITS * world.plan.settings.longestQueryMs - now;
  const hasTime = now - by.startedAt < DUE_MS && leftMs > DUE_MS;
  const isAtOnce = hasTime && !query.endedAt && now - query.submittedAt < FIRST_ASK_MS;
  const findings = { 'asked-at-once': query.startedBy === by ? isAtOnce : undefined };
  judge(world, findings, () => `${by.id} asks about ${query.id} after ${now - query.submittedAt} ms`);
  const limitMs = world.plan.settings.longestQueryMs;
  const noteOverdue = () => {
    if (!query.toldOverdueTo.has(by)) query.toldOverdueTo.set(by, now);
  };
  // Queue and run together have a limit too, however often Athena puts the query back.
  if (now - query.submittedAt >= 2 * limitMs + LATE_MS) noteOverdue();
  if (isQueued) {
    query.toldQueuedAt = now;
    query.toldQueuedTo.set(by, now);
    query.toldRunning = undefined;
    return;
  }
  if (!query.toldRunningTo.has(by)) query.toldRunningTo.set(by, now);
  query.toldRunning ??= { by, at: now };
  const { by: first, at } = query.toldRunning;
  if (now - at >= limitMs + LATE_MS && (first === by || hasStored(first, at))) noteOverdue();
}

/** Who learns that a query is overdue must call Athena to stop it within this time. */
const STOPPED_WITHIN_MS = 3_000;

/**
 * Whether an invocation, at its end, has left a query running that it knew to be overdue, or has called Athena late to
 * stop it. Its running time goes on if the invocation before tried to stop it in vain. An invocation that has lost its
 * lease leaves the query to the next one.
 */
export const leavesOverdue = ({ athena }: Parts, invocation: Invocation): boolean =>
  [...athena.queries.values()].some(
    ({ toldOverdueTo, stopTriedBy, recordedBy }) =>
      [...recordedBy].at(-1) === invocation &&
      (stopTriedBy.get(invocation) ?? Number.POSITIVE_INFINITY) >
        (toldOverdueTo.get(invocation) ?? Number.POSITIVE_INFINITY) + STOPPED_WITHIN_MS,
  );
