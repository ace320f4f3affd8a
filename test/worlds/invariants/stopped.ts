/** A query is stopped only where it takes too long, by Athena's clock; the time in Athena's queue is not its own. */
import type { Invocation } from '../invocation.ts';
import type { EngineQuery } from '../modelled-athena.ts';
import type { Parts } from './parts.ts';

/** The service may stop a query a little early: `LIMIT_TOLERANCE` in lib/delivery/judge-execution.ts, and whole seconds. */
const TOLERANCE = 0.9;

/** Who leaves an attempt writes down that it was queued, unless it dies or its calls go wrong. */
const hasHandedOn = ({ isDead, faults }: Invocation): boolean => !isDead && faults.length === 0;

export const stoppedRule =
  ({ world }: Parts) =>
  ({ id, state, submittedAt, toldQueued }: EngineQuery, by: Invocation): void => {
    const now = world.time.now();
    const limitMs = TOLERANCE * world.plan.settings.longestQueryMs - 1_000;
    if (now - submittedAt < limitMs) world.violate('stopped-early', `${id} after ${now - submittedAt} ms`);
    // Athena tells no start of running: it counts from the last time that the stopper saw it queued.
    // One that is queued for too long is stopped too.
    else if (
      state !== 'QUEUED' &&
      toldQueued !== undefined &&
      (toldQueued.by === by || hasHandedOn(toldQueued.by)) &&
      toldQueued.at - submittedAt < limitMs &&
      now - toldQueued.at < limitMs
    )
      world.violate('stopped-for-its-queue', `${id}, which was queued ${now - toldQueued.at} ms ago`);
  };
