import type { CompiledQuery } from '../report/compile-query.ts';

/** One execution of a query. All times are by Athena's clock, in milliseconds since 1970. */
export type Execution = RunningExecution | EndedExecution | ForgottenExecution;

export interface RunningExecution {
  readonly state: 'under-way';
  readonly id: string;
  readonly submittedAt: number;
  /** When Athena gave this answer. */
  readonly observedAt: number;
  /** Whether the query waits in Athena's queue. */
  readonly isQueued: boolean;
  /** The bytes scanned until this answer. */
  readonly bytesScanned: number;
}

/**
 * An execution that Athena no longer knows. Athena keeps executions for 45 days, and the id may come from an older
 * record.
 */
interface ForgottenExecution {
  readonly state: 'forgotten';
  readonly id: string;
}

interface EndFacts {
  readonly id: string;
  readonly submittedAt: number;
  readonly completedAt: number;
  /** When Athena gave this answer. */
  readonly observedAt: number;
  readonly bytesScanned: number;
  readonly engineMs: number;
}

export type EndedExecution = SucceededExecution | FailedExecution | ScanLimitExceeded;

export interface SucceededExecution extends EndFacts {
  readonly state: 'succeeded';
  /**
   * `s3://bucket/key` of the result, as Athena reports it. Never compute this location: a result that Athena reuses has
   * another one.
   */
  readonly location: string;
}

/** An execution that the engine could not run, or that somebody cancelled. */
export interface FailedExecution extends EndFacts {
  readonly state: 'failed';
  /** The reason in the engine's words, for the log. */
  readonly reason: string;
  /** Whether the engine says that the same query may succeed if it is run again. */
  readonly isRetryable: boolean;
}

/** An execution that the engine stopped at the workgroup's limit for scanned bytes. */
export interface ScanLimitExceeded extends EndFacts {
  readonly state: 'scan-limit-exceeded';
}

/** The query engine, with the calls that the service needs. */
export interface QueryService {
  /**
   * Starts a query. Resolves to the execution's id.
   * @param token 32 to 128 characters; the same token with the same query gives the same execution
   */
  start(query: CompiledQuery, token: string): Promise<string>;
  get(id: string): Promise<Execution>;
  stop(id: string): Promise<void>;
}
