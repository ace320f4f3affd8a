/** A query is stopped only where it takes too long, by Athena's clock; the time in Athena's queue is not its own. */
import type { EngineQuery } from '../modelled-athena.ts';
import type { Parts } from './parts.ts';

/** The service may stop a query a little early: `LIMIT_TOLERANCE` in lib/delivery/judge-execution.ts, and whole seconds. */
const TOLERANCE = 0.9;

export const stoppedRule =
  ({ world }: Parts) =>
  ({ id, submittedAt, runsSince }: EngineQuery): void => {
    const now = world.time.now();
    const limitMs = TOLERANCE * world.plan.settings.longestQueryMs - 1_000;
    if (now - submittedAt < limitMs) world.violate('stopped-early', `${id} after ${now - submittedAt} ms`);
    else if (now - (runsSince ?? now) < limitMs)
      world.violate('stopped-for-its-queue', `${id}, which has run for ${now - (runsSince ?? now)} ms`);
  };
