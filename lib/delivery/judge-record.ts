import { REPORT_KEPT_DAYS } from '../names.ts';
import {
  type EndedRecord,
  isOpen,
  type OpenRecord,
  type RefusedRecord,
  readRecord,
  type SucceededRecord,
} from '../results/job-record.ts';
import type { StoredDocument } from '../results/results-bucket.ts';
import type { DeliveryTerms } from './delivery.ts';
import { hasTimeForAnother } from './judge-execution.ts';
import type { Following } from './phase.ts';

/** What a request does after it has read its job's record. */
export type RecordVerdict =
  /** No attempt so far can answer this request: start the next attempt. */
  | { readonly next: 'start' }
  /** Another request holds the lease: watch the record. */
  | { readonly next: 'watch'; readonly record: OpenRecord }
  /** The lease has ended: take the attempt over. */
  | { readonly next: 'take-over'; readonly record: OpenRecord }
  /** Files changed during the query: list the lake again. */
  | { readonly next: 'look-again' }
  | { readonly next: 'deliver'; readonly record: SucceededRecord }
  | { readonly next: 'refuse'; readonly record: RefusedRecord };

export interface RequestFacts {
  /**
   * Undefined if the caller has waited for no attempt yet. Otherwise: whether the attempt was created for this caller,
   * and how long this caller has waited, in milliseconds.
   */
  readonly waits: { readonly isForThisCaller: boolean; readonly forMs: number } | undefined;
  /** The scan limit in bytes; undefined if it is not known. */
  readonly scanLimit: number | undefined;
  /** Whether the caller has time for another query. */
  readonly hasTimeForAnother: boolean;
}

/** How long a report is delivered: one day less than its files are kept, so that no download URL outlives its file. */
export const LONGEST_KEPT_MS = (REPORT_KEPT_DAYS - 1) * 86_400_000;

/** The facts about a request at this moment. */
export const requestFacts = (
  { askedAt, scanLimit, giveUpAt, longestQueueMs, longestQueryMs }: DeliveryTerms,
  following?: Pick<Following, 'cacheStatus'>,
): RequestFacts => ({
  waits: following && { isForThisCaller: following.cacheStatus === 'miss', forMs: Date.now() - askedAt },
  scanLimit,
  hasTimeForAnother: hasTimeForAnother({
    callerLeftMs: giveUpAt - Date.now(),
    longestQueueMs,
    longestQueryMs,
  }),
});

/** S3 truncates times to the second, so the difference of two of its times is wrong by less than this. */
const AGE_ERROR_MS = 1_000;

/**
 * How long an attempt may stay `starting`. After this time its query has ended, if it was started at all: Athena runs
 * no query for more than half an hour. The next attempt gets a new token, because for the old token Athena may return
 * the old execution, even days later.
 */
const LONGEST_STARTING_MS = 3_600_000;

/**
 * Judges a job's stored record: the job's cached report, or its record for the listing fingerprint that the request
 * saw.
 */
export function judgeRecord(stored: StoredDocument | undefined, facts: RequestFacts): RecordVerdict {
  const record = readRecord(stored);
  if (!stored || !record) return { next: 'start' };
  const { ageMs } = stored;
  if (!isOpen(record)) return judgeEnded(record, ageMs, facts);
  if (leaseLeftMs(record, ageMs) > 0) return { next: 'watch', record };
  if (record.state === 'starting' && ageMs >= LONGEST_STARTING_MS) return { next: 'start' };
  return { next: 'take-over', record };
}

/** How much of a record's lease is left, in milliseconds. */
export const leaseLeftMs = ({ leaseMs }: OpenRecord, ageMs: number): number =>
  leaseMs === undefined ? 0 : leaseMs + AGE_ERROR_MS - ageMs;

function judgeEnded(
  record: EndedRecord,
  ageMs: number,
  { waits, scanLimit, hasTimeForAnother }: RequestFacts,
): RecordVerdict {
  switch (record.state) {
    case 'succeeded': {
      const isCached = record.isOfVersion && ageMs < LONGEST_KEPT_MS;
      const isGood = record.goodForMs !== undefined && ageMs < record.goodForMs;
      return waits || isCached || isGood ? { next: 'deliver', record } : { next: 'start' };
    }
    case 'scan-limit-exceeded':
      // If the limit has changed since then, the query may succeed now: start it again.
      return waits || record.limit === scanLimit ? { next: 'refuse', record } : { next: 'start' };
    case 'failed':
      if (!waits) return { next: 'start' };
      if (record.cause === 'data-changed') return { next: 'look-again' };
      // The query was stopped because it took too long. This caller came later and has time for another attempt.
      if (record.cause === 'took-too-long' && hasTimeForAnother) return { next: 'start' };
      if (record.cause === 'not-repeated') return { next: 'start' };
      // Perhaps the query ended before this caller came: then the failure was the answer for earlier callers.
      if (!waits.isForThisCaller && record.seenAfterMs + ageMs + AGE_ERROR_MS > waits.forMs)
        return { next: 'start' };
      return { next: 'refuse', record };
  }
}
