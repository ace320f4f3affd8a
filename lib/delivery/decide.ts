import { REPORT_KEPT_DAYS } from '../names.ts';
import {
  AGE_ERROR_MS,
  type EndedRecord,
  isOpen,
  type JobRecord,
  leaseLeftMs,
  type OpenRecord,
  type RecordIn,
} from '../results/job-record.ts';

/** What a request does next, after it has read its job's record. */
export type Decision =
  /** Nothing that is recorded can answer this request: start the next attempt. */
  | { readonly next: 'start'; readonly isRetry: boolean }
  /** Another request asks Athena: wait for the record to change. */
  | { readonly next: 'wait'; readonly record: OpenRecord }
  /** Nobody asks Athena any more: do it. */
  | { readonly next: 'take-over'; readonly record: OpenRecord }
  /** The files of a large result are being made: wait for them. */
  | { readonly next: 'publish'; readonly record: RecordIn<'publishing'> }
  | { readonly next: 'deliver'; readonly record: RecordIn<'done'> }
  /** Files changed during the query: list the lake again. */
  | { readonly next: 'list-again' }
  | { readonly next: 'refuse'; readonly record: RecordIn<'failed'> };

/** The facts about a request. */
export interface RequestFacts {
  /** Fingerprint of the listing that the request goes by. */
  readonly fingerprint: string;
  /** How long the caller has waited for an attempt, in milliseconds; undefined if it has waited for none. */
  readonly waitedMs: number | undefined;
  /** Whether the attempt that the caller waits for was created for this caller. */
  readonly isOwn: boolean;
  /** Whether the caller has time for another query. */
  readonly hasTimeForAnother: boolean;
  /** The scan limit in bytes; undefined if it is not known. */
  readonly scanLimit: number | undefined;
}

/** How long a report is delivered: one day less than its files are kept, so that no download URL outlives its file. */
export const LONGEST_KEPT_MS = (REPORT_KEPT_DAYS - 1) * 86_400_000;

/**
 * How long an attempt may stay `starting`. After this time its query has ended, if it was started at all: Athena runs
 * no query for more than half an hour. The next attempt gets a new token, because for the old token Athena may return
 * the old execution, even days later.
 */
const LONGEST_STARTING_MS = 3_600_000;

/** How long a publication may be under way: Lambda runs it three times, 15 minutes each, with pauses of 1 and 2 minutes. */
const LONGEST_PUBLICATION_MS = 50 * 60_000;

/** The most attempts that follow each other. If none of them left a readable result, the service has a fault. */
export const MAX_ATTEMPTS = 6;

/**
 * Decides by a job's record alone. A report of the data version is for everybody. Any other answer is for callers who
 * saw the listing that the attempt was started for: whoever saw another one waits until the attempt has ended, and then
 * starts the next.
 *
 * @param ageMs how long ago the record was written
 */
export function decide(record: JobRecord | undefined, ageMs: number, facts: RequestFacts): Decision {
  if (!record) return { next: 'start', isRetry: false };
  if (!isOpen(record)) return decideEnded(record, ageMs, facts);
  if (leaseLeftMs(record, ageMs) > 0) return { next: 'wait', record };
  if (record.state === 'starting' && ageMs >= LONGEST_STARTING_MS) return { next: 'start', isRetry: false };
  return { next: 'take-over', record };
}

function decideEnded(record: EndedRecord, ageMs: number, facts: RequestFacts): Decision {
  const { fingerprint, waitedMs } = facts;
  const start = { next: 'start', isRetry: false } as const;
  const isSame = record.fingerprint === fingerprint;
  if (record.state === 'failed')
    return isSame || record.isOfVersion ? decideFailed(record, ageMs, facts) : start;
  const isGood = record.goodForMs !== undefined && ageMs < record.goodForMs;
  const isForAll = record.isOfVersion && ageMs < LONGEST_KEPT_MS;
  if (!isForAll && !(isSame && (isGood || wasAwaited(ageMs, waitedMs)))) return start;
  if (record.state === 'done') return { next: 'deliver', record };
  return ageMs < LONGEST_PUBLICATION_MS ? { next: 'publish', record } : start;
}

/** Whether a record was written while the caller waited. */
const wasAwaited = (ageMs: number, waitedMs: number | undefined): boolean =>
  waitedMs !== undefined && ageMs <= waitedMs + AGE_ERROR_MS;

function decideFailed(record: RecordIn<'failed'>, ageMs: number, facts: RequestFacts): Decision {
  const { why, isRetry, attempts, seenAfterMs } = record;
  const { waitedMs, isOwn, hasTimeForAnother, scanLimit } = facts;
  const start = { next: 'start', isRetry: false } as const;
  if (why === 'too-large') {
    // If the limit has changed since then, the query may succeed now.
    const isKnown = record.isOfVersion && record.limit === scanLimit;
    return wasAwaited(ageMs, waitedMs) || isKnown ? { next: 'refuse', record } : start;
  }
  if (waitedMs === undefined) return start;
  if (why === 'data-changed') return { next: 'list-again' };
  // Perhaps the query ended before this caller came: then the failure was the answer for earlier callers.
  if (!isOwn && seenAfterMs + ageMs + AGE_ERROR_MS > waitedMs) return start;
  if (attempts >= MAX_ATTEMPTS) return { next: 'refuse', record };
  if (why === 'lost' || (why === 'too-long' && hasTimeForAnother)) return { next: 'start', isRetry };
  if (why === 'retryable' && !isRetry) return { next: 'start', isRetry: true };
  return { next: 'refuse', record };
}
