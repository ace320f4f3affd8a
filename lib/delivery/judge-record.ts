import type { EndedRecord, OpenRecord, OrderRecord, SucceededRecord } from './order-record.ts';

/** What a request does with what is stored of its order. */
export type RecordVerdict =
  /** No try answers it: start one, after the one that does not. */
  | { readonly next: 'start'; readonly after?: string }
  /** Somebody else asks the engine: watch what becomes of it. */
  | { readonly next: 'watch'; readonly record: OpenRecord }
  /** Nobody asks the engine any more: do it. */
  | { readonly next: 'ask'; readonly record: OpenRecord }
  /** What this request followed does not answer it any more: look at the lake again. */
  | { readonly next: 'look-again' }
  | { readonly next: 'deliver'; readonly record: SucceededRecord }
  | { readonly next: 'refuse'; readonly record: Exclude<EndedRecord, SucceededRecord> };

export interface RequestFacts {
  /** The token of the try that this request waits for already. */
  readonly follows: string | undefined;
  /** Of the request's listing. */
  readonly trace: string;
  /** The limit of bytes scanned; 0 where it is not known. */
  readonly maxBytesScanned: number;
  /** In milliseconds since 1970. */
  readonly now: number;
  /** How long a file may be given after its query, which is shorter than S3 keeps it. */
  readonly longestKeptMs: number;
}

/** Judges what is stored of an order, for one request. Undefined: nothing is stored. */
export function judgeRecord(record: OrderRecord | undefined, facts: RequestFacts): RecordVerdict {
  if (!record) return { next: 'start' };
  const { token } = record;
  const isFollowed = token === facts.follows;
  if (facts.follows !== undefined && !isFollowed) return { next: 'look-again' };
  const startNext: RecordVerdict = { next: 'start', after: token };
  switch (record.state) {
    case 'starting':
    case 'under-way':
      // With another trace, the query may have read what was no longer there when this request came.
      if (!isFollowed && record.trace !== facts.trace) return startNext;
      return { next: record.askedUntil > facts.now ? 'watch' : 'ask', record };
    case 'succeeded':
      return isFollowed || mayBeGivenAgain(record, facts) ? { next: 'deliver', record } : startNext;
    case 'cut-off':
      // A limit that has been raised since may let it through.
      return isFollowed || record.limit === facts.maxBytesScanned ? { next: 'refuse', record } : startNext;
    case 'failed':
      if (!isFollowed) return startNext;
      return record.hasDataMoved ? { next: 'look-again' } : { next: 'refuse', record };
  }
}

const mayBeGivenAgain = (
  { isCopy, goodUntil, completedAt }: SucceededRecord,
  { now, longestKeptMs }: RequestFacts,
): boolean => (isCopy && now < completedAt + longestKeptMs) || now < goodUntil;
