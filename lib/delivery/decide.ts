import { REPORT_KEPT_DAYS } from '../names.ts';
import {
  AGE_ERROR_MS,
  isOpen,
  type JobRecord,
  leaseLeftMs,
  type OpenRecord,
  type RecordIn,
} from '../results/job-record.ts';
import type { CacheStatus, DeliveryTerms, Wait } from './delivery.ts';
import type { Limits } from './execution.ts';

/** What a request does next, after it has read its job's record. */
export type Decision =
  | { readonly next: 'start'; readonly isRetry: boolean; readonly attempts: number }
  /** Another request asks Athena: wait until the record changes. */
  | { readonly next: 'wait'; readonly record: OpenRecord }
  /** Nobody asks Athena any more: this request does. */
  | { readonly next: 'take-over'; readonly record: OpenRecord }
  /** The files of a large result are being made: wait for them. */
  | { readonly next: 'publish'; readonly record: RecordIn<'publishing'> }
  | {
      readonly next: 'deliver';
      readonly record: RecordIn<'done' | 'publishing'>;
      readonly encoding: 'gzip' | 'plain';
      readonly cacheStatus: CacheStatus;
    }
  /** Perhaps the data have changed while the caller waited: list the lake again. */
  | { readonly next: 'list-again' }
  | { readonly next: 'refuse'; readonly record: RecordIn<'failed'> };

export interface RequestFacts
  extends Limits,
    Pick<DeliveryTerms, 'acceptsGzip' | 'scanLimit'>,
    Pick<Wait, 'own'> {
  /** Fingerprint of the listing that the request goes by. */
  readonly fingerprint: string;
  /** Whether the lake was listed after the record was written, or can't be listed. */
  readonly hasListed: boolean;
  /** How long ago the caller came, in milliseconds; undefined if it has waited for no attempt. */
  readonly waitedMs: number | undefined;
  /** How long the caller may still wait for its query, in milliseconds. */
  readonly leftMs: number;
}

/** How long a report is delivered: one day less than its files are kept, so that no download URL outlives its file. */
export const LONGEST_KEPT_MS = (REPORT_KEPT_DAYS - 1) * 86_400_000;

/**
 * How long an attempt may stay `starting`. Athena runs no query for more than half an hour, so its query has ended. The
 * next attempt gets a new token, because for the old one Athena may return the old execution, even days later.
 */
const LONGEST_STARTING_MS = 3_600_000;

/** How long a publication may be under way: Lambda runs it three times, 15 minutes each, and pauses for 3 minutes. */
const LONGEST_PUBLICATION_MS = 50 * 60_000;

/** The most attempts that follow each other. If none of them left a readable result, the service has a fault. */
export const MAX_ATTEMPTS = 6;

/**
 * A report of the data version is for everybody. Any other end is for callers who saw the listing that the attempt was
 * started for, and who came before its end: anybody else waits until its files are made, and then starts the next.
 * @param ageMs how long ago the record was written
 */
export function decide(record: JobRecord | undefined, ageMs: number, facts: RequestFacts): Decision {
  const attempts = record && facts.waitedMs !== undefined ? record.attempts + 1 : 1;
  const start: Decision = { next: 'start', isRetry: false, attempts };
  const { waitedMs, fingerprint, hasListed } = facts;
  const startOrList: Decision = waitedMs === undefined || hasListed ? start : { next: 'list-again' };
  if (!record) return startOrList;
  if (isOpen(record)) {
    if (leaseLeftMs(record, ageMs) > 0) return { next: 'wait', record };
    // The files of a query that nobody has asked about for days would soon be removed.
    const isLost =
      record.state === 'starting'
        ? ageMs >= LONGEST_STARTING_MS
        : record.elapsedMs + ageMs >= LONGEST_KEPT_MS;
    return isLost ? start : { next: 'take-over', record };
  }
  const endedMs = ageMs + (record.endedForMs ?? 0);
  const isSame = record.fingerprint === fingerprint;
  if (record.state === 'failed')
    // The same query over the same files takes too long, whatever the listing that it was started for.
    return isSame || record.isOfVersion || record.why === 'too-long'
      ? decideFailed(record, endedMs, facts, start)
      : startOrList;
  const isForAll = record.isOfVersion && endedMs < LONGEST_KEPT_MS;
  const isGood = record.goodForMs !== undefined && endedMs < record.goodForMs;
  const isForCaller = isForAll || (isSame && (isGood || wasAwaited(endedMs, waitedMs)));
  const encoding = facts.acceptsGzip && record.files.gzip !== undefined ? 'gzip' : 'plain';
  if (isForCaller && record.files[encoding] !== undefined) {
    // By the record's own age: who came after the query's end, but waited for its files, has joined.
    const cacheStatus =
      record.attempt === facts.own ? 'miss' : wasAwaited(ageMs, waitedMs) ? 'collapsed' : 'hit';
    return { next: 'deliver', record, encoding, cacheStatus };
  }
  if (record.state === 'publishing')
    return endedMs < LONGEST_PUBLICATION_MS ? { next: 'publish', record } : start;
  return isSame ? start : startOrList;
}

/** Whether an attempt ended while the caller waited. */
const wasAwaited = (endedMs: number, waitedMs: number | undefined): boolean =>
  waitedMs !== undefined && endedMs <= waitedMs + AGE_ERROR_MS;

function decideFailed(
  record: RecordIn<'failed'>,
  endedMs: number,
  { waitedMs, own, hasListed, leftMs, scanLimit, longestQueueMs, longestQueryMs }: RequestFacts,
  start: Extract<Decision, { next: 'start' }>,
): Decision {
  const { why, isRetry, attempts, seenAfterMs } = record;
  if (why === 'too-large') {
    // If the limit has changed since, a query may succeed now: then only who waited when this one ended is refused.
    const isKnown = record.limit === scanLimit && (record.isOfVersion || wasAwaited(endedMs, waitedMs));
    return isKnown || wasAwaited(endedMs + seenAfterMs, waitedMs) ? { next: 'refuse', record } : start;
  }
  if (waitedMs === undefined) return start;
  // Perhaps the query ended before this caller came: then the failure was the answer for earlier callers.
  const isOfOthers = record.attempt !== own && seenAfterMs + endedMs + AGE_ERROR_MS > waitedMs;
  if (isOfOthers && why !== 'data-changed') return start;
  if (attempts >= MAX_ATTEMPTS) return { next: 'refuse', record };
  if (why === 'data-changed') return hasListed ? start : { next: 'list-again' };
  // With less time, another attempt would most likely take too long again.
  const hasTime = leftMs >= longestQueueMs + longestQueryMs / 2;
  if (why === 'lost' || (why === 'too-long' && hasTime)) return { ...start, isRetry };
  if (why === 'retryable' && !isRetry) return { ...start, isRetry: true };
  return { next: 'refuse', record };
}
