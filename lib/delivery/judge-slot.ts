import { isOpen, type JobRecord } from '../results/job-record.ts';
import type { Slot } from '../results/slots-document.ts';

export type SlotVerdict =
  /** Another request of the client has taken a slot for this job's next query, and has not created the attempt yet. */
  | { readonly next: 'share'; readonly slot: Slot }
  /** The client may take `slot`, and keeps `others`. */
  | { readonly next: 'take'; readonly slot: Slot; readonly others: readonly Slot[] }
  | { readonly next: 'wait' };

/**
 * Decides whether one more query may be started for a client.
 *
 * @param held the client's slots
 * @param latest the record of the wanted slot's job; undefined if there is none
 * @param limits `count`: the number of a client's slots; `longestMs`: the longest time that a slot can be held
 */
export function judgeSlot(
  held: readonly Slot[],
  wanted: Slot,
  latest: JobRecord | undefined,
  { count, longestMs }: { readonly count: number; readonly longestMs: number },
): SlotVerdict {
  const live = held.filter(({ heldMs }) => heldMs < longestMs);
  const shared = live.find((slot) => slot.record === wanted.record && isWithoutAttempt(slot, latest));
  if (shared) return { next: 'share', slot: shared };
  // A job has at most one query under way, so the query of the job's earlier slot has ended.
  const others = live.filter(({ record }) => record !== wanted.record);
  if (others.length >= count) return { next: 'wait' };
  // If another request takes over an attempt that is still `starting`, the slot keeps its id. The request that created
  // the attempt may still start the query, and then writes this id into the record. If the slot had a new id, it would
  // soon count as free, although the query runs.
  const isStarting = latest?.state === 'starting';
  const created = live.find(({ id, record }) => isStarting && record === wanted.record && latest.slot === id);
  return { next: 'take', slot: { ...wanted, id: created?.id ?? wanted.id }, others };
}

/**
 * How long a slot without an attempt counts as taken. No request lives longer than this, so no request creates an
 * attempt for the slot after this time.
 */
const MAX_UNCLAIMED_MS = 30_000;

/**
 * How long the slot of a `starting` attempt still counts as taken after the lease has ended, unless another request
 * takes the attempt over. Perhaps Athena has started the query, but the answer was lost.
 */
const START_MS = 60_000;

const isWithoutAttempt = ({ id, heldMs }: Slot, record: JobRecord | undefined): boolean =>
  record?.slot !== id && heldMs < MAX_UNCLAIMED_MS;

/**
 * Whether the query of a slot is under way, or may soon be started.
 *
 * @param record the record of the slot's job; undefined if there is none
 * @param ageMs how long ago the record was written, in milliseconds
 */
export function isUnderWay(slot: Slot, record: JobRecord | undefined, ageMs: number): boolean {
  if (isWithoutAttempt(slot, record)) return true;
  if (!record || !isOpen(record) || record.slot !== slot.id) return false;
  // An attempt that was created but not started in time counts as not running. A request that takes over such an
  // attempt takes a slot first.
  return (
    record.state !== 'starting' || slot.heldMs < MAX_UNCLAIMED_MS || ageMs < (record.leaseMs ?? 0) + START_MS
  );
}
