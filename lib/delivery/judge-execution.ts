import type {
  EndedExecution,
  Execution,
  FailedExecution,
  RunningExecution,
  ScanLimitExceeded,
  SucceededExecution,
} from './execution.ts';

/** What a request does next with an execution. */
export type ExecutionVerdict =
  /** The query goes on: this request's time is up, or its caller's. */
  | { readonly next: 'wait' }
  /** The execution's result is the report. */
  | { readonly next: 'deliver'; readonly execution: SucceededExecution }
  /**
   * This caller can't use the execution: start the next attempt. The ended execution is counted in the metrics, unless
   * Athena has forgotten it. `cause`: another request has stopped it because it took too long.
   */
  | {
      readonly next: 'start-next';
      readonly isRetry?: true;
      readonly cause?: 'took-too-long';
      readonly execution?: FailedExecution;
    }
  /**
   * The query takes too long: stop it. Then start the next attempt if the caller has time for one; otherwise tell the
   * caller to come back.
   */
  | { readonly next: 'stop'; readonly hasTimeForAnother: boolean; readonly execution: RunningExecution }
  /** The query was stopped because it took too long, and the caller has no time for another query. */
  | { readonly next: 'took-too-long'; readonly execution: FailedExecution }
  /** Files changed during the query: start again with the data as they are now. */
  | { readonly next: 'data-changed'; readonly execution: FailedExecution }
  | { readonly next: 'refuse'; readonly execution: FailedExecution | ScanLimitExceeded };

export interface ExecutionFacts {
  /** How long a query may run, in milliseconds. */
  readonly longestQueryMs: number;
  /** How long a query may wait in Athena's queue, in milliseconds. */
  readonly longestQueueMs: number;
  /** When Athena first reported the query as running, by Athena's clock; undefined if no request has seen that. */
  readonly runningAt: number | undefined;
  /** Whether Athena has reported the query as running before, even if it is queued again. */
  readonly hasRun: boolean;
  /** How long this request's caller still waits, in milliseconds. */
  readonly callerLeftMs: number;
  /** How long this request's caller has waited, in milliseconds. */
  readonly callerWaitedMs: number;
  /** Whether the attempt was created for this caller. */
  readonly isForThisCaller: boolean;
  readonly isRetry: boolean;
  /** Set if a request has decided to stop the query because it took too long. */
  readonly isStopped?: boolean | undefined;
  /** Whether the lake has changed since the listing for which the query was started. */
  readonly isDataChanged: boolean;
}

/** A query that is stopped at its limit ends up to this share of the limit before or after it. */
export const LIMIT_TOLERANCE = 0.05;

/** The largest error of the times in Athena's `Date` header, which is truncated to the second. */
export const DATE_ERROR_MS = 1_000;

/**
 * Judges an execution, for the request that asks Athena about it. `execution` is undefined if Athena has not answered.
 */
export function judgeExecution(execution: Execution | undefined, facts: ExecutionFacts): ExecutionVerdict {
  switch (execution?.state) {
    case 'forgotten':
      return { next: 'start-next' };
    case 'succeeded':
      return { next: 'deliver', execution };
    case 'scan-limit-exceeded':
      return { next: 'refuse', execution };
    case 'failed':
      return judgeFailed(execution, facts);
    case undefined:
      return { next: 'wait' };
    case 'under-way':
      if (limitLeftMs(execution, facts) <= 0)
        return { next: 'stop', hasTimeForAnother: hasTimeForAnother(facts), execution };
      return { next: 'wait' };
  }
}

function judgeFailed(execution: FailedExecution, facts: ExecutionFacts): ExecutionVerdict {
  if (isStale(execution, facts)) return { next: 'start-next', execution };
  if (facts.isDataChanged) return { next: 'data-changed', execution };
  // Another request has stopped the query because it took too long.
  if (execution.isCancelled && (facts.isStopped || tookTooLong(execution, facts)))
    return hasTimeForAnother(facts)
      ? { next: 'start-next', cause: 'took-too-long', execution }
      : { next: 'took-too-long', execution };
  if (execution.isRetryable && !facts.isRetry) return { next: 'start-next', isRetry: true, execution };
  return { next: 'refuse', execution };
}

/**
 * Whether an execution is stale, which means that it ended before this caller's first request. A stale result may be
 * used. A stale failure may not be used: it was the answer for earlier callers.
 */
export const isStale = (
  { observedAt, completedAt }: EndedExecution,
  { callerWaitedMs, isForThisCaller }: Pick<ExecutionFacts, 'callerWaitedMs' | 'isForThisCaller'>,
) => !isForThisCaller && observedAt - completedAt + DATE_ERROR_MS > callerWaitedMs;

/**
 * How long an execution may still be queued or run, in milliseconds. Athena does not say when a query starts to run, so
 * the running time counts from the first answer that reports the query as running. The time in the queue and the
 * running time together may also not exceed the sum of both limits. If Athena has put a query back into its queue, only
 * this sum limits its time there.
 */
export function limitLeftMs(
  { observedAt, submittedAt, isQueued }: RunningExecution,
  {
    longestQueryMs,
    longestQueueMs,
    runningAt,
    hasRun,
  }: Pick<ExecutionFacts, 'longestQueryMs' | 'longestQueueMs' | 'runningAt' | 'hasRun'>,
): number {
  const queueLeftMs = submittedAt + longestQueueMs - observedAt;
  if (isQueued) return hasRun ? longestQueryMs + queueLeftMs : queueLeftMs;
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
 * Whether a caller has time for another attempt: at least the queue limit plus half the running limit. With less time,
 * that attempt would most likely take too long again.
 */
export const hasTimeForAnother = ({
  callerLeftMs,
  longestQueueMs,
  longestQueryMs,
}: Pick<ExecutionFacts, 'callerLeftMs' | 'longestQueueMs' | 'longestQueryMs'>): boolean =>
  callerLeftMs >= longestQueueMs + longestQueryMs / 2;
