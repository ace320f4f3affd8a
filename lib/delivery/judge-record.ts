import type { EndedRecord, OpenRecord, OrderRecord, SucceededRecord } from './order-record.ts';

/** What a request does with what is stored of its order. */
export type RecordVerdict =
  /** No try answers the order: start the next one. `after` is the token of the last one, if there was one. */
  | { readonly next: 'start'; readonly after?: string }
  /** Somebody else asks the engine: watch what becomes of it. */
  | { readonly next: 'watch'; readonly record: OpenRecord }
  /** Nobody asks the engine any more: do it. */
  | { readonly next: 'ask'; readonly record: OpenRecord }
  /** Files changed under the query: look at the lake again. */
  | { readonly next: 'look-again' }
  | { readonly next: 'deliver'; readonly record: SucceededRecord }
  | { readonly next: 'refuse'; readonly record: Exclude<EndedRecord, SucceededRecord> };

export interface RequestFacts {
  /** Whether this request waits already for what becomes of the order's tries. */
  readonly isWaiting: boolean;
  /** The limit of bytes scanned; 0 where it is not known. */
  readonly maxBytesScanned: number;
  /** In milliseconds since 1970. */
  readonly now: number;
  /** How long a file may be given after its query, which is shorter than S3 keeps it. */
  readonly longestKeptMs: number;
}

/**
 * Judges what is stored of an order for a request that saw the lake with the same trace. Undefined: nothing is stored.
 */
export function judgeRecord(
  record: OrderRecord | undefined,
  { isWaiting, maxBytesScanned, now, longestKeptMs }: RequestFacts,
): RecordVerdict {
  if (!record) return { next: 'start' };
  const startNext: RecordVerdict = { next: 'start', after: record.token };
  switch (record.state) {
    case 'starting':
    case 'under-way':
      return { next: record.askedUntil > now ? 'watch' : 'ask', record };
    case 'succeeded':
      return isWaiting || mayBeGivenAgain(record, { now, longestKeptMs })
        ? { next: 'deliver', record }
        : startNext;
    case 'cut-off':
      // The limit has changed since: under a higher one, the query may succeed.
      return isWaiting || record.limit === maxBytesScanned ? { next: 'refuse', record } : startNext;
    case 'failed':
      if (!isWaiting) return startNext;
      return record.hasDataMoved ? { next: 'look-again' } : { next: 'refuse', record };
  }
}

const mayBeGivenAgain = (
  { isCopy, goodUntil, completedAt }: SucceededRecord,
  { now, longestKeptMs }: Pick<RequestFacts, 'now' | 'longestKeptMs'>,
): boolean => (isCopy && now < completedAt + longestKeptMs) || now < goodUntil;
