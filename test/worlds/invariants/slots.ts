/** Rule: a partner never has more queries under way than its limit, except in the cases of docs/decisions/0042. */
import type { EngineQuery } from '../modelled-athena.ts';
import type { Parts } from '../parts.ts';
import { judge } from './judge.ts';

export function slotsRule({ world, athena }: Parts): (started: EngineQuery) => void {
  const most = world.plan.settings.queriesPerPartner;
  const { longestQueryMs } = world.plan.settings;
  // The time in the queue and the time to run, less what Athena's and S3's whole seconds may hide.
  const mostMs = Math.min(1.9 * longestQueryMs, 2 * longestQueryMs - 2_000);
  // A query holds its slot until it is stopped or its time is over. A second attempt keeps the slot of the first, so it
  // loses the slot when the time of the first attempt is over, even if its own query still runs.
  const hasOutlivedItsSlot = (query: EngineQuery): boolean =>
    [query, ...athena.queries.values()].some(
      (earlier) =>
        (earlier === query || isPredecessor(earlier, query)) &&
        (earlier.stopAskedAt !== undefined || world.time.now() - earlier.submittedAt >= mostMs),
    );
  return (started) => {
    if (most === 0) return;
    const client = clientOf(started);
    const counted = athena.active().filter((query) => {
      if (clientOf(query) !== client) return false;
      if (hasOutlivedItsSlot(query)) return false;
      // Release 1.0.0 can't see that a further attempt goes on in the slot of the one that failed.
      const isFurther = [...athena.queries.values()].some((earlier) => isPredecessor(earlier, query));
      if (isOfBefore(started) && !isOfBefore(query) && isFurther) return false;
      // If no request has received the answer to the query's start, the query holds its slot for about a minute only.
      if (query.heardOfBy.size === 0 && world.time.now() - query.submittedAt >= UNHEARD_MS) return false;
      // If the function died or one of its calls had a fault, perhaps no request knows that the query was started.
      return !query.startedBy.isDead && query.startedBy.faults.length === 0;
    });
    const ids = () => counted.map(({ id }) => id).join(', ');
    const findings = { 'too-many-under-way': counted.length > most };
    judge(world, findings, () => `${client} has ${ids()} under way, and may have ${most}`);
  };
}

const UNHEARD_MS = 55_000;

const isOfBefore = ({ startedBy }: EngineQuery): boolean => startedBy.machine.isOfReleaseBefore;

/** The partner for whom a query was started. */
const clientOf = ({ startedBy }: EngineQuery): string | undefined => startedBy.partner;

const isPredecessor = (earlier: EngineQuery, query: EngineQuery): boolean =>
  earlier.asked.days === query.asked.days &&
  earlier.companies === query.companies &&
  earlier.endedAt !== undefined &&
  earlier.endedAt <= query.submittedAt &&
  (earlier.state !== 'SUCCEEDED' || Boolean(earlier.isJunk || earlier.isGone || earlier.forgottenAt));
