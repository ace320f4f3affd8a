import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { RESULTS_PREFIX } from '../names.ts';
import type { OrderRecord } from './order-record.ts';
import type { StoredDocument } from './results.ts';

/** A query that counts against a client's share, from before it is claimed. Times are milliseconds since 1970. */
const lease = v.object({
  /** Where the order's tries are recorded: that record tells whether the query is under way. */
  record: v.string(),
  /** The token of the try before: as long as the record names it, the query has not been claimed. */
  after: v.optional(v.string()),
  takenAt: v.number(),
  /** When the lease ends by itself, whatever the record says. */
  until: v.number(),
});

const shareRecord = v.object({
  /** Version of the record's format. A record of another version counts as absent. */
  form: v.literal(1),
  leases: v.array(lease),
});

export type Lease = v.InferOutput<typeof lease>;
export type ShareRecord = v.InferOutput<typeof shareRecord>;

/** Where a client's leases are recorded. */
export const shareKey = (client: string): string =>
  `${RESULTS_PREFIX.shares}${createHash('sha256').update(client).digest('hex')}.json`;

/** The leases that a document holds; none where it holds none that can be read. */
export function readLeases(stored: StoredDocument | undefined): readonly Lease[] {
  const result = v.safeParse(shareRecord, stored?.document);
  return result.success ? result.output.leases : [];
}

export type ShareVerdict =
  /** Another request of the client's has taken this lease. */
  | { readonly next: 'start' }
  /** These are the client's leases then, the wanted one among them. */
  | { readonly next: 'take'; readonly leases: readonly Lease[] }
  | { readonly next: 'wait' };

/**
 * Whether a client may have one more query started at this time.
 *
 * @param held the client's leases
 * @param wanted the lease for it, taken at this time
 * @param most so many may be under way
 */
export function judgeShare(held: readonly Lease[], wanted: Lease, most: number): ShareVerdict {
  const live = held.filter(({ until }) => until > wanted.takenAt);
  if (live.some(({ record, after }) => record === wanted.record && after === wanted.after))
    return { next: 'start' };
  // An order has one query under way at the most: the query of its earlier lease has ended.
  const others = live.filter(({ record }) => record !== wanted.record);
  return others.length < most ? { next: 'take', leases: [...others, wanted] } : { next: 'wait' };
}

/** No request lives longer. By then, the request that took a lease has claimed the try, or never will. */
const CLAIM_MS = 30_000;

/**
 * How long after `askedUntil` a start may still become known: the request answers within 2.5 s, and its caller's next
 * one takes the try over.
 */
const START_MS = 5_000;

/**
 * Whether the query of a client's lease is under way, or about to be.
 *
 * @param record what is stored of its order now
 */
export function isUnderWay(
  { after, takenAt }: Lease,
  record: OrderRecord | undefined,
  client: string,
  now: number,
): boolean {
  if (record?.token === after) return now < takenAt + CLAIM_MS;
  if (record === undefined || !('claim' in record) || record.startedFor !== client) return false;
  // Claimed, but not started in time: until another request takes the try over, nothing runs.
  return record.state !== 'starting' || now < record.askedUntil + START_MS;
}
