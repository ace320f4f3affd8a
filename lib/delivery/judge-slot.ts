import { isOpen, type JobRecord } from '../results/job-record.ts';
import type { Slot } from '../results/slots-document.ts';

export type SlotVerdict =
  /** Another request of the client has taken a slot for this job's next query, whose attempt is not created yet. */
  | { readonly next: 'share'; readonly slot: Slot }
  /** The client may take `slot`, and keeps `others`. */
  | { readonly next: 'take'; readonly slot: Slot; readonly others: readonly Slot[] }
  | { readonly next: 'wait' };

/**
 * Whether a client may have one more query started.
 *
 * @param held the client's slots
 * @param latest the record of the wanted slot's job; undefined where there is none
 * @param limits how many slots a client has, and after how long one is free, whatever the record says
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
  // A job has one query under way at the most: the query of its earlier slot has ended.
  const others = live.filter(({ record }) => record !== wanted.record);
  if (others.length >= count) return { next: 'wait' };
  // If another request takes over an attempt that is still `starting`, the slot keeps its id: the request that created
  // the attempt may still start its query.
  const isStarting = latest?.state === 'starting';
  const created = live.find(({ id, record }) => isStarting && record === wanted.record && latest.slot === id);
  return { next: 'take', slot: { ...wanted, id: created?.id ?? wanted.id }, others };
}

/** How long a slot counts before its attempt is created. No request lives longer, so a later attempt never comes. */
const MAX_UNCLAIMED_MS = 30_000;

/**
 * How long after the lease the slot of a `starting` attempt still counts, unless another request takes the attempt
 * over. Athena may have started the query although its answer was lost.
 */
const START_MS = 60_000;

const isWithoutAttempt = ({ id, heldMs }: Slot, record: JobRecord | undefined): boolean =>
  record?.slot !== id && heldMs < MAX_UNCLAIMED_MS;

/**
 * Whether the query of a slot is under way, or about to be.
 *
 * @param record what is stored of its job
 * @param ageMs how long ago that was written
 */
export function isUnderWay(slot: Slot, record: JobRecord | undefined, ageMs: number): boolean {
  if (isWithoutAttempt(slot, record)) return true;
  if (!record || !isOpen(record) || record.slot !== slot.id) return false;
  // A created attempt that was not started in time counts as not running. A request that takes it over takes the slot
  // first.
  return (
    record.state !== 'starting' || slot.heldMs < MAX_UNCLAIMED_MS || ageMs < (record.leaseMs ?? 0) + START_MS
  );
}
