/**
 * Rules: a partner never has more queries under way than its limit (docs/decisions/0042). In the document of its slots, a
 * job has one slot, which keeps its id while its attempt is open, and its age at each write.
 */
import { slotsKey } from '../../../lib/results/keys.ts';
import { running } from '../invocation.ts';
import type { EngineQuery } from '../modelled-athena.ts';
import { clientOf } from '../modelled-register.ts';
import { type Parts, recordOf, stateOf } from '../parts.ts';
import { judge } from './judge.ts';

export type Slot = { readonly id: string; readonly record: string; readonly heldMs: number };

/** The age of a slot may lose this much at one write: a pause between the reading and the write, and whole seconds. */
const LOST_AGE_MS = 7_000;

/** Checks each document of slots. Gives when the slot with an id was last taken in a document. */
function documentRules({ world, s3 }: Parts): (key: string, id: string | undefined) => number | undefined {
  const takenAt = new Map<string, number>();
  const latest = new Map<string, { readonly at: number; readonly slots: readonly Slot[] }>();
  s3.onCreated.push((key, { document }) => {
    if (!key.startsWith('slots/')) return;
    const at = world.time.now();
    const { slots } = document as { readonly slots: readonly Slot[] };
    const was = latest.get(key) ?? { at, slots: [] };
    latest.set(key, { at, slots });
    for (const { id, heldMs } of slots) if (heldMs === 0) takenAt.set(`${key} ${id}`, at);
    const hasChangedId = was.slots.some(({ id, record }) => {
      const now = slots.find((each) => each.record === record);
      const { state, slot } = (s3.objects.get(record)?.document ?? {}) as { state?: string; slot?: string };
      const isOpen = state === 'starting' || state === 'under-way';
      const isYoung = at - (takenAt.get(`${key} ${id}`) ?? 0) < world.plan.settings.longestQueryMs;
      return now !== undefined && now.id !== id && isOpen && slot === id && isYoung;
    });
    const isOlder = ({ id, heldMs }: Slot) =>
      slots.some((now) => now.id === id && now.heldMs > 0 && now.heldMs < heldMs + at - was.at - LOST_AGE_MS);
    const findings = {
      'two-slots-of-a-job': new Set(slots.map(({ record }) => record)).size < slots.length,
      'slot-changes-its-id': hasChangedId,
      'slot-forgets-its-age': running.getStore()?.faults.length ? undefined : was.slots.some(isOlder),
    };
    judge(world, findings, () => `${JSON.stringify(was.slots)}, then ${JSON.stringify(slots)}`);
  });
  return (key, id) => takenAt.get(`${key} ${id}`);
}

export function slotsRule(parts: Parts): (started: EngineQuery) => void {
  const { world, athena, s3 } = parts;
  const takenAt = documentRules(parts);
  const { queriesPerPartner: most, longestQueryMs } = world.plan.settings;
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
  /** Whether a query, of which perhaps no request knows, has the slot of a `starting` attempt. */
  const isOfStartingAttempt = ({ token, startedBy, number }: EngineQuery): boolean => {
    const record = recordOf(s3, token, 'attempt');
    const { slot, leaseMs = 0 } = (record?.document ?? {}) as { slot?: string; leaseMs?: number };
    const slotAt = takenAt(slotsKey(clientOf(startedBy.partner ?? '')), slot) ?? 0;
    const now = world.time.now();
    const isLatest = [...athena.queries.values()].findLast((each) => each.token === token)?.number === number;
    const isLeft = stateOf(record) === 'starting' && now - (record?.lastModified ?? 0) < leaseMs + UNHEARD_MS;
    return isLeft && isLatest && now - slotAt < mostMs && !world.plan.isMixed;
  };
  return (started) => {
    if (most === 0) return;
    const { partner } = started.startedBy;
    const counted = athena.active().filter((query) => {
      if (query.startedBy.partner !== partner) return false;
      if (hasOutlivedItsSlot(query)) return false;
      // Release 1.0.0 can't see that a further attempt goes on in the slot of the one that failed.
      const isFurther = [...athena.queries.values()].some((earlier) => isPredecessor(earlier, query));
      const isOfBefore = ({ startedBy }: EngineQuery) => startedBy.machine.isOfReleaseBefore;
      if (isOfBefore(started) && !isOfBefore(query) && isFurther) return false;
      // If no request has received the answer to the query's start, the query holds its slot for about a minute only.
      if (query.heardOfBy.size === 0 && world.time.now() - query.submittedAt >= UNHEARD_MS) return false;
      // If the function died or one of its calls had a fault, perhaps no request knows that the query was started.
      const isKnown = !query.startedBy.isDead && query.startedBy.faults.length === 0;
      return isKnown || isOfStartingAttempt(query);
    });
    const findings = { 'too-many-under-way': counted.length > most };
    judge(world, findings, () => `${partner} has ${counted.map(({ id }) => id)} under way, not ${most}`);
  };
}

const UNHEARD_MS = 55_000;

const isPredecessor = (earlier: EngineQuery, query: EngineQuery): boolean =>
  earlier.report.days === query.report.days &&
  earlier.companies === query.companies &&
  earlier.endedAt !== undefined &&
  earlier.endedAt <= query.submittedAt &&
  (earlier.state !== 'SUCCEEDED' || Boolean(earlier.isJunk || earlier.isGone || earlier.forgottenAt));
