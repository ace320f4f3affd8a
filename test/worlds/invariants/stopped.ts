/** A query is stopped where it takes too long, and only there; the time in Athena's queue is not its own. */
import type { Invocation } from '../invocation.ts';
import type { EngineQuery } from '../modelled-athena.ts';
import type { Parts } from './parts.ts';

/** The service may stop a query a little early: `LIMIT_TOLERANCE` in lib/delivery/judge-execution.ts, and whole seconds. */
const TOLERANCE = 0.9;

export const stoppedRule =
  ({ world }: Parts) =>
  ({ id, state, submittedAt, runsSince = submittedAt, toldQueuedAt = 0 }: EngineQuery): void => {
    const now = world.time.now();
    const isEarly = (since: number, limitMs: number) => now - since < TOLERANCE * limitMs - 1_000;
    const { longestQueryMs: limitMs } = world.plan.settings;
    if (
      // It may have begun to run since somebody was told that it is queued.
      state === 'QUEUED' || now - toldQueuedAt < TOLD_LATELY_MS
        ? isEarly(submittedAt, limitMs)
        : isEarly(runsSince, limitMs) && isEarly(submittedAt, 2 * limitMs)
    )
      world.violate(
        'stopped-early',
        `${id} after ${now - submittedAt} ms, ${now - runsSince} of them running`,
      );
  };

const TOLD_LATELY_MS = 2_000;

/** An overdue query is stopped at once by who is told of it; the next one comes later than that. */
const STOPPED_WITHIN_MS = 10_000;
/** A query's time is told in whole seconds. */
const LATE_MS = 5_000;

/**
 * Whether an invocation has surely recorded what Athena told it, and acted on it: it has not died, and none of its calls
 * has failed.
 */
const isSound = ({ isDead, faults }: Invocation): boolean => !isDead && faults.length === 0;

/**
 * Called when Athena tells an invocation that a query is under way. The first invocation that was told that the query
 * runs must have recorded that for the others.
 */
export function checkOverdue(
  { world }: Pick<Parts, 'world'>,
  query: EngineQuery,
  by: Invocation,
  isQueued: boolean,
): void {
  const now = world.time.now();
  if (isQueued) query.toldQueuedAt = now;
  query.toldRunning = isQueued ? undefined : (query.toldRunning ?? { by, at: now });
  const { toldRunning: first, toldOverdue: before, stopAskedAt } = query;
  const isKnown = first !== undefined && (first.by === by || isSound(first.by));
  if (!isKnown || now - first.at < world.plan.settings.longestQueryMs + LATE_MS || stopAskedAt !== undefined)
    return;
  if (before && before.by !== by && isSound(before.by) && now - before.at > STOPPED_WITHIN_MS)
    world.violate('not-stopped', `${query.id}, though ${before.by.id} knew that it had run for too long`);
  query.toldOverdue = { by, at: now };
}
