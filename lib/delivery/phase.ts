import type { DataState } from '../lake/data-version.ts';
import type { OpenRecord, StoredRecord } from '../results/job-record.ts';
import type { StoredDocument } from '../results/results-bucket.ts';
import type { Progress } from '../results/ticket.ts';
import type {
  CacheStatus,
  Delivery,
  DeliveryBackends,
  DeliveryFacts,
  DeliveryTerms,
  Wanted,
} from './delivery.ts';
import { type Job, makeJob } from './job.ts';

/** Everything that one request needs to make a report. */
export interface Run {
  readonly backends: DeliveryBackends;
  readonly wanted: Wanted;
  readonly terms: DeliveryTerms;
  /** Takes facts for the log and the metrics. */
  readonly note: (facts: DeliveryFacts) => void;
}

/** What the request wants: a job, over one state of the data. */
export interface Target {
  readonly data: DataState;
  readonly job: Job;
  /** How often this request and the caller's earlier ones started again because files changed during the query. */
  readonly dataChanges: number;
}

/** How far a request has come. */
export type Phase = { readonly target: Target } & (
  | {
      /** The request has not read its job's record yet. */
      readonly at: 'arrived';
      /** Whether the client had no free slot when the request looked last. */
      readonly waitsForSlot: boolean;
      /** The attempt that the caller has waited for until now; absent if it has waited for none. */
      readonly waited?: Following | undefined;
    }
  | {
      /** The request waits for one of the job's attempts to end. */
      readonly at: 'following';
      readonly cacheStatus: Exclude<CacheStatus, 'hit'>;
      /** The record as it was read last; absent if the record has yet to be read. */
      readonly seen?: StoredDocument | undefined;
    }
  | {
      /** The request holds the lease of an attempt: it asks Athena for all the requests that wait. */
      readonly at: 'leading';
      readonly held: StoredRecord<OpenRecord>;
      /** Whether this request has created the attempt, and so has taken the attempt's slot for its own client. */
      readonly isCreator: boolean;
      /**
       * `miss`: the attempt was created for this caller; `collapsed`: this caller has joined another caller's attempt.
       */
      readonly cacheStatus: Exclude<CacheStatus, 'hit'>;
    }
);

export type Arrived = Extract<Phase, { readonly at: 'arrived' }>;
export type Following = Extract<Phase, { readonly at: 'following' }>;
export type Leading = Extract<Phase, { readonly at: 'leading' }>;

/** The outcome of a step: the next phase, an answer, or an error for the caller. */
export type Step = Phase | { readonly delivery: Delivery } | { readonly refusal: Error };

export const targetOf = ({ request, entitlement }: Wanted, data: DataState, dataChanges = 0): Target => ({
  data,
  job: makeJob(request, entitlement, data),
  dataChanges,
});

/** A request's first phase: `following` if the caller's previous request waited for an attempt, otherwise `arrived`. */
export function firstPhase(wanted: Wanted, data: DataState, left: Progress | undefined): Phase {
  const target = targetOf(wanted, data, left?.dataChanges);
  const waited = left?.cacheStatus && ({ at: 'following', target, cacheStatus: left.cacheStatus } as const);
  if (waited && left.waitsFor === 'attempt') return waited;
  return { at: 'arrived', target, waitsForSlot: left !== undefined, waited };
}

/** What the caller's next request must know; undefined if there is nothing to pass on. */
export function progressOf(
  phase: Following | Leading | (Arrived & { readonly waitsForSlot: true }),
): Progress;
export function progressOf(phase: Phase): Progress | undefined;
export function progressOf(phase: Phase): Progress | undefined {
  const { dataChanges, data } = phase.target;
  if (phase.at === 'arrived') {
    const { waitsForSlot, waited } = phase;
    if (waitsForSlot)
      return { waitsFor: 'slot', dataChanges, ...(waited && { cacheStatus: waited.cacheStatus }) };
    return waited && progressOf(waited);
  }
  // `listedAt` is by this machine's clock, so another machine can't use it.
  const { listedAt: _, ...known } = data;
  return { waitsFor: 'attempt', data: known, cacheStatus: phase.cacheStatus, dataChanges };
}

/** The answer of a request whose own time is up: the caller goes on waiting. */
export const waiting = (progress: Progress): { readonly delivery: Delivery } => ({
  delivery: {
    state: 'waiting',
    progress,
    cacheStatus: progress.cacheStatus ?? 'miss',
  },
});

/**
 * Prevents an unhandled rejection of a promise that may fail before it is awaited. A later `await` of this promise
 * still throws the error.
 */
export function begun<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
