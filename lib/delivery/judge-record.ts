import { REPORT_KEPT_DAYS } from '../names.ts';
import type { DeliveryTerms } from './delivery.ts';
import {
  type EndedRecord,
  isOpen,
  type JobRecord,
  type OpenRecord,
  type RefusedRecord,
  type SucceededRecord,
} from './job-record.ts';
import { isWorthAnother } from './judge-execution.ts';
import type { StoredDocument } from './results.ts';

/** What a request does with what is stored of its job. */
export type RecordVerdict =
  /** No attempt answers the job: start the next one. */
  | { readonly next: 'start' }
  /** Somebody else asks Athena: watch what becomes of it. */
  | { readonly next: 'watch'; readonly record: OpenRecord }
  /** Nobody asks Athena any more: do it. */
  | { readonly next: 'take-over'; readonly record: OpenRecord }
  /** Files changed under the query: look at the lake again. */
  | { readonly next: 'look-again' }
  | { readonly next: 'deliver'; readonly record: SucceededRecord }
  | { readonly next: 'refuse'; readonly record: RefusedRecord };

/** What is stored of a job, as it was read. */
export interface JudgedRecord {
  /** Absent where the record is one of the release before. */
  readonly stored?: StoredDocument | undefined;
  /** Undefined where nothing is stored that can be read. */
  readonly record: JobRecord | undefined;
  /** How long ago it was written. */
  readonly ageMs: number;
}

export interface RequestFacts {
  /** Whether this request's caller waits already for what becomes of the job's attempts. */
  readonly isWaiting: boolean;
  /** The scan limit in bytes; undefined where it is not known. */
  readonly scanLimit: number | undefined;
  /** Whether the caller has time for another query. */
  readonly isWorthAnother: boolean;
  /** How long a query may be queued and run together, in milliseconds. */
  readonly longestMs: number;
}

/** A report is not given out on the last day that its files are kept, so that no link outlives its file. */
export const LONGEST_KEPT_MS = (REPORT_KEPT_DAYS - 1) * 86_400_000;

/** What a request that comes now knows of itself. */
export const requestFacts = (
  { scanLimit, giveUpAt, longestQueueMs, longestQueryMs }: DeliveryTerms,
  isWaiting: boolean,
): RequestFacts => ({
  isWaiting,
  scanLimit,
  isWorthAnother: isWorthAnother({ callerLeftMs: giveUpAt - Date.now(), longestQueueMs, longestQueryMs }),
  longestMs: longestQueueMs + longestQueryMs,
});

/** S3 tells ages to the second: the difference of two truncated times is wrong by less than this. */
const AGE_ERROR_MS = 1_000;

/** Judges what is stored of a job for a request that saw the lake with the same listing fingerprint. */
export function judgeRecord({ record, ageMs }: JudgedRecord, facts: RequestFacts): RecordVerdict {
  if (!record) return { next: 'start' };
  if (!isOpen(record)) return judgeEnded(record, ageMs, facts);
  if (leaseLeftMs(record, ageMs) > 0) return { next: 'watch', record };
  // If it was started at all, its query has ended, unseen. Athena may still give that execution for its token: days old.
  if (record.state === 'starting' && ageMs >= facts.longestMs) return { next: 'start' };
  return { next: 'take-over', record };
}

/** How long the writer of a record still asks Athena, in milliseconds. */
export const leaseLeftMs = ({ leaseMs }: OpenRecord, ageMs: number): number =>
  leaseMs === undefined ? 0 : leaseMs + AGE_ERROR_MS - ageMs;

function judgeEnded(
  record: EndedRecord,
  ageMs: number,
  { isWaiting, scanLimit, isWorthAnother }: RequestFacts,
): RecordVerdict {
  switch (record.state) {
    case 'succeeded': {
      const isCached = record.isOfVersion && ageMs < LONGEST_KEPT_MS;
      const isGood = record.goodForMs !== undefined && ageMs < record.goodForMs;
      return isWaiting || isCached || isGood ? { next: 'deliver', record } : { next: 'start' };
    }
    case 'scan-limit-exceeded':
      // The limit has changed since: under a higher one, the query may succeed.
      return isWaiting || record.limit === scanLimit ? { next: 'refuse', record } : { next: 'start' };
    case 'failed':
      if (!isWaiting) return { next: 'start' };
      if (record.cause === 'data-changed') return { next: 'look-again' };
      // It was stopped for taking too long, but this caller came late.
      if (record.cause === 'took-too-long' && isWorthAnother) return { next: 'start' };
      return { next: 'refuse', record };
  }
}
