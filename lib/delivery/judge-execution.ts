import type { CutOffExecution, Execution, FailedExecution, SucceededExecution } from './execution.ts';

/** What comes next for an execution. */
export type ExecutionVerdict =
  | { readonly next: 'wait' }
  /** Its result is the report. */
  | { readonly next: 'deliver'; readonly execution: SucceededExecution }
  /** It will never answer: start the next try. */
  | { readonly next: 'start-next' }
  /** It failed in a way that may pass: start the next try, once. */
  | { readonly next: 'retry'; readonly execution: FailedExecution }
  /** It takes too long, but this request's caller came late and has time left: stop it, and start the next try. */
  | { readonly next: 'stop-and-start-next' }
  /** It takes too long: stop it, and tell the caller to come back. */
  | { readonly next: 'stop-and-give-up' }
  /** The caller's time is up. */
  | { readonly next: 'give-up' }
  /** Files changed under it: start over with the data as they are now. */
  | { readonly next: 'look-again'; readonly execution: FailedExecution }
  | { readonly next: 'refuse'; readonly execution: FailedExecution | CutOffExecution };

/** Times are milliseconds since 1970. */
export interface ExecutionFacts {
  readonly now: number;
  /** How long an execution may take. */
  readonly longestQueryMs: number;
  /** Until when this request's caller waits. */
  readonly giveUpAt: number;
  /** Whether the execution is itself the second try of a query that failed. */
  readonly isRetry: boolean;
  /** Whether it had ended before this request's caller asked for it: then only its result can be used, no failure. */
  readonly isRemembered: boolean;
  /** Whether the lake has changed since the listing for which it was started. */
  readonly hasDataMoved: boolean;
}

/**
 * A query starts a moment after its caller came, and machines' clocks differ: times that differ by less than this share
 * of the limit count as equal.
 */
export const LIMIT_TOLERANCE = 0.05;

/** Judges an execution, for the request that asks the engine about it. */
export function judgeExecution(execution: Execution, facts: ExecutionFacts): ExecutionVerdict {
  const timeLeftMs = facts.giveUpAt - facts.now;
  // With less time than half the limit, the next try would most likely end as this one did.
  const isWorthAnother = timeLeftMs >= facts.longestQueryMs / 2;
  switch (execution.state) {
    case 'forgotten':
      return { next: 'start-next' };
    case 'succeeded':
      return { next: 'deliver', execution };
    case 'cut-off':
      return facts.isRemembered ? { next: 'start-next' } : { next: 'refuse', execution };
    case 'failed':
      if (facts.isRemembered) return { next: 'start-next' };
      if (facts.hasDataMoved) return { next: 'look-again', execution };
      // It took too long, and another request has stopped it.
      if (execution.completedAt >= execution.submittedAt + (1 - LIMIT_TOLERANCE) * facts.longestQueryMs)
        return { next: isWorthAnother ? 'start-next' : 'give-up' };
      return { next: execution.isRetryable && !facts.isRetry ? 'retry' : 'refuse', execution };
    case 'under-way': {
      const isTimeUp = timeLeftMs <= 0;
      const tolerance = isTimeUp ? LIMIT_TOLERANCE : 0;
      const isTooOld = facts.now >= execution.submittedAt + (1 - tolerance) * facts.longestQueryMs;
      if (isTooOld) return { next: isWorthAnother ? 'stop-and-start-next' : 'stop-and-give-up' };
      return { next: isTimeUp ? 'give-up' : 'wait' };
    }
  }
}
