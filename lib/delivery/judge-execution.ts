import type {
  EndedExecution,
  Execution,
  FailedExecution,
  RunningExecution,
  ScanLimitExceeded,
  SucceededExecution,
} from './execution.ts';

/** What comes next for an execution. */
export type ExecutionVerdict =
  /** This request's time is up. The query goes on, and the caller waits with its next request. */
  | { readonly next: 'wait' }
  /** Its result is the report. */
  | { readonly next: 'deliver'; readonly execution: SucceededExecution }
  /**
   * This caller can't use the execution: start the next attempt. The execution is counted, unless Athena has forgotten
   * it.
   */
  | { readonly next: 'start-next'; readonly isRetry?: true; readonly execution?: EndedExecution }
  /** It takes too long: stop it. Then start the next attempt if the caller has time for one, or tell it to come back. */
  | { readonly next: 'stop'; readonly hasTimeForAnother: boolean; readonly execution: RunningExecution }
  /** The caller's time is up, and the query goes on for others. */
  | { readonly next: 'give-up' }
  /** It was stopped because it took too long, and the caller has no time for another. */
  | { readonly next: 'took-too-long'; readonly execution: FailedExecution }
  /** Files changed under it: start over with the data as they are now. */
  | { readonly next: 'data-changed'; readonly execution: FailedExecution }
  | { readonly next: 'refuse'; readonly execution: FailedExecution | ScanLimitExceeded };

export interface ExecutionFacts {
  /** How long a query may run, in milliseconds. */
  readonly longestQueryMs: number;
  /** How long it may wait in Athena's queue, in milliseconds. */
  readonly longestQueueMs: number;
  /** When Athena first said that it is running, by Athena's clock; undefined where nobody has seen that. */
  readonly runningAt: number | undefined;
  /** How long this request's caller still waits, in milliseconds. */
  readonly callerLeftMs: number;
  /** How long it has waited. */
  readonly callerWaitedMs: number;
  /** Whether the attempt was created for this caller. */
  readonly isForThisCaller: boolean;
  readonly isRetry: boolean;
  /** Whether the lake has changed since the listing for which it was started. */
  readonly isDataChanged: boolean;
}

/**
 * A stopped query ends a little before or after its limit: a time within this share of the limit counts as reaching it.
 */
export const LIMIT_TOLERANCE = 0.05;

/** Athena's `Date` is truncated to the second. */
export const DATE_ERROR_MS = 1_000;

/** Judges an execution, for the request that asks Athena about it. Undefined: Athena has not answered. */
export function judgeExecution(execution: Execution | undefined, facts: ExecutionFacts): ExecutionVerdict {
  switch (execution?.state) {
    case 'forgotten':
      return { next: 'start-next' };
    case 'succeeded':
      return { next: 'deliver', execution };
    case 'scan-limit-exceeded':
      return isStale(execution, facts) ? { next: 'start-next', execution } : { next: 'refuse', execution };
    case 'failed':
      return judgeFailed(execution, facts);
    case undefined:
      return { next: facts.callerLeftMs <= 0 ? 'give-up' : 'wait' };
    case 'under-way':
      if (limitLeftMs(execution, facts) <= 0)
        return { next: 'stop', hasTimeForAnother: hasTimeForAnother(facts), execution };
      return { next: facts.callerLeftMs <= 0 ? 'give-up' : 'wait' };
  }
}

function judgeFailed(execution: FailedExecution, facts: ExecutionFacts): ExecutionVerdict {
  if (isStale(execution, facts)) return { next: 'start-next', execution };
  if (facts.isDataChanged) return { next: 'data-changed', execution };
  // Another request has stopped it.
  if (tookTooLong(execution, facts))
    return hasTimeForAnother(facts)
      ? { next: 'start-next', execution }
      : { next: 'took-too-long', execution };
  if (execution.isRetryable && !facts.isRetry) return { next: 'start-next', isRetry: true, execution };
  return { next: 'refuse', execution };
}

/**
 * Whether an execution is stale: it ended before this caller's first request. Its result may be used. Its failure may
 * not: it belongs to callers who have left.
 */
export const isStale = (
  { observedAt, completedAt }: EndedExecution,
  { callerWaitedMs, isForThisCaller }: Pick<ExecutionFacts, 'callerWaitedMs' | 'isForThisCaller'>,
) => !isForThisCaller && observedAt - completedAt + DATE_ERROR_MS > callerWaitedMs;

/**
 * How long an execution may still be queued or run, in milliseconds. Athena does not say when a query starts to run, so
 * running time counts from when it was first seen running. Queue and run together have a limit too.
 */
export function limitLeftMs(
  { observedAt, submittedAt, isQueued }: RunningExecution,
  {
    longestQueryMs,
    longestQueueMs,
    runningAt,
  }: Pick<ExecutionFacts, 'longestQueryMs' | 'longestQueueMs' | 'runningAt'>,
): number {
  const queueLeftMs = submittedAt + longestQueueMs - observedAt;
  if (isQueued) return queueLeftMs;
  return longestQueryMs + Math.min((runningAt ?? observedAt) - observedAt, queueLeftMs);
}

function tookTooLong(
  { completedAt, submittedAt, engineMs }: FailedExecution,
  { longestQueryMs, longestQueueMs, runningAt }: ExecutionFacts,
): boolean {
  const reaches = (ms: number, limitMs: number) => ms >= (1 - LIMIT_TOLERANCE) * limitMs;
  const allMs = completedAt - submittedAt;
  if (engineMs === 0) return reaches(allMs, longestQueueMs);
  const ranMs = runningAt === undefined ? engineMs : completedAt - runningAt;
  return reaches(ranMs, longestQueryMs) || reaches(allMs, longestQueueMs + longestQueryMs);
}

/**
 * Whether a caller has time for another attempt: the queue limit and half the running limit. With less, it would most
 * likely take too long again.
 */
export const hasTimeForAnother = ({
  callerLeftMs,
  longestQueueMs,
  longestQueryMs,
}: Pick<ExecutionFacts, 'callerLeftMs' | 'longestQueueMs' | 'longestQueryMs'>): boolean =>
  callerLeftMs >= longestQueueMs + longestQueryMs / 2;
