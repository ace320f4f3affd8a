/** A client never has more queries under way than it may, beyond what docs/decisions/0040 says. */
import type { EngineQuery } from '../modelled-athena.ts';
import type { Parts } from './parts.ts';

/** A lease that was taken and not claimed counts for this long: calls that take longer may be overtaken. */
export function slotsRule({ world, athena }: Parts): (started: EngineQuery) => void {
  const most = world.plan.settings.queriesPerPartner;
  const { longestQueryMs } = world.plan.settings;
  return (started) => {
    if (most === 0) return;
    const client = clientOf(started);
    const counted = athena.active().filter((query) => {
      if (clientOf(query) !== client) return false;
      // Stopped for taking too long, or left alone so long that its slot has lapsed.
      if (query.stopAskedAt !== undefined) return false;
      if (world.time.now() - query.submittedAt >= longestQueryMs * 0.9) return false;
      // Its start was lost with its function, or with an answer: nobody could know of it.
      return !query.startedBy.isDead && query.startedBy.faults.length === 0;
    });
    if (counted.length > most)
      world.violate(
        'too-many-under-way',
        `${client} has ${counted.map(({ id }) => id).join(', ')} under way, and may have ${most}`,
      );
  };
}

/** The partner for whom a query was started. */
const clientOf = ({ startedBy }: EngineQuery): string | undefined => startedBy.partner;
