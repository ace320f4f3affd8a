/** Rule: a query is stopped if it runs for too long, and only then. Its time in Athena's queue does not count. */
import { LIMIT_TOLERANCE } from '../../../lib/delivery/judge-execution.ts';
import type { Invocation } from '../invocation.ts';
import type { EngineQuery } from '../modelled-athena.ts';
import type { Parts } from '../parts.ts';

export const stoppedRule =
  ({ world }: Parts) =>
  ({ id, state, submittedAt, runsSince = submittedAt, toldQueuedAt = 0 }: EngineQuery): void => {
    const now = world.time.now();
    const isEarly = (since: number, limitMs: number) => now - since < (1 - LIMIT_TOLERANCE) * limitMs - 1_000;
    const { longestQueryMs: limitMs } = world.plan.settings;
    if (
      // If Athena reported the query as queued a moment ago, the service can't know yet that it runs.
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

/** The request that learns that a query is overdue must stop it within this time. */
const STOPPED_WITHIN_MS = 10_000;
/** A query counts as overdue only this long after its limit, because Athena gives its times in whole seconds. */
const LATE_MS = 5_000;

/**
 * Whether an invocation has surely recorded Athena's answer and acted on it: it has not died, and none of its calls had
 * a fault.
 */
const isSound = ({ isDead, faults }: Invocation): boolean => !isDead && faults.length === 0;

/**
 * Called when an invocation learns from Athena that a query is under way. The first invocation that sees the query run
 * must record this for later invocations.
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
