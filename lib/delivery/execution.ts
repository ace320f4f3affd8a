import type { CompiledQuery } from '../report/compile-query.ts';

/** One execution of a query. All times are Athena's, in milliseconds since 1970: no other clock decides. */
export type Execution = RunningExecution | EndedExecution | ForgottenExecution;

export interface RunningExecution {
  readonly state: 'under-way';
  readonly id: string;
  readonly submittedAt: number;
  /** The time of this answer. */
  readonly observedAt: number;
  /** Whether it waits in Athena's queue. */
  readonly isQueued: boolean;
  /** So far. */
  readonly bytesScanned: number;
}

/** Athena keeps executions for 45 days, and an id may come from a record that is older. */
interface ForgottenExecution {
  readonly state: 'forgotten';
  readonly id: string;
}

interface EndFacts {
  readonly id: string;
  readonly submittedAt: number;
  readonly completedAt: number;
  /** The time of this answer. */
  readonly observedAt: number;
  readonly bytesScanned: number;
  readonly engineMs: number;
}

export type EndedExecution = SucceededExecution | FailedExecution | ScanLimitExceeded;

export interface SucceededExecution extends EndFacts {
  readonly state: 'succeeded';
  /** `s3://bucket/key` of the result, as Athena names it. Never compute it: a reused result is elsewhere. */
  readonly location: string;
}

/** The engine could not run it, or somebody cancelled it. */
export interface FailedExecution extends EndFacts {
  readonly state: 'failed';
  /** In the engine's words: for the log. */
  readonly reason: string;
  /** Whether the engine says that the same query may succeed another time. */
  readonly isRetryable: boolean;
}

/** The engine stopped it at the workgroup's limit of bytes scanned. */
export interface ScanLimitExceeded extends EndFacts {
  readonly state: 'scan-limit-exceeded';
}

/** The query engine: the calls that the service needs. */
export interface QueryService {
  /**
   * Resolves to the execution's id.
   * @param token 32 to 128 characters; the same token with the same query gives the same execution
   */
  start(query: CompiledQuery, token: string): Promise<string>;
  get(id: string): Promise<Execution>;
  stop(id: string): Promise<void>;
}
