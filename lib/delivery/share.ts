import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { RESULTS_PREFIX } from '../names.ts';
import type { OrderRecord } from './order-record.ts';
import type { StoredDocument } from './results.ts';

/** A query that a client has had started. Times are milliseconds since 1970. */
const lease = v.object({
  /** Where the order's tries are recorded: that record tells whether the query is under way. */
  record: v.string(),
  /** The token of the try before: as long as the record names it, the query has not been claimed. */
  after: v.optional(v.string()),
  takenAt: v.number(),
  /** When it ends by itself, whatever the record says. */
  until: v.number(),
});

const shareRecord = v.object({
  /** Of this form. A record of another one counts as absent. */
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
 * @param wanted taken at this time
 * @param most so many may be under way
 */
export function judgeShare(held: readonly Lease[], wanted: Lease, most: number): ShareVerdict {
  const live = held.filter(({ until }) => until > wanted.takenAt);
  if (live.some(({ record, after }) => record === wanted.record && after === wanted.after))
    return { next: 'start' };
  // An order has one query under way at the most: what it had before has ended.
  const others = live.filter(({ record }) => record !== wanted.record);
  return others.length < most ? { next: 'take', leases: [...others, wanted] } : { next: 'wait' };
}

/** No request lives longer: by then, who took a lease has claimed its try, or never will. */
const CLAIM_MS = 30_000;

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
  // The engine did not take it, or whoever would have asked is gone: until another request takes it over, nothing runs.
  return record.state !== 'starting' || now < record.askedUntil;
}
