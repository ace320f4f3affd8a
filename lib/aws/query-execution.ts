import {
  type AthenaClient,
  GetQueryExecutionCommand,
  InvalidRequestException,
  type QueryExecution,
  StartQueryExecutionCommand,
  StopQueryExecutionCommand,
} from '@aws-sdk/client-athena';
import type { CompiledQuery } from '../report/compile-query.ts';

/** One run of a query, as Athena tells of it. Times are milliseconds since 1970. */
export interface Execution {
  readonly id: string;
  readonly state: 'under-way' | 'succeeded' | 'failed' | 'cancelled';
  readonly submittedAt: number;
  /** 0 while it is under way. */
  readonly completedAt: number;
  /** `s3://bucket/key` of the result, once it succeeded. Read, never built: a reused result lies elsewhere. */
  readonly location: string;
  readonly bytesScanned: number;
  readonly engineMs: number;
  /** Why it failed or was cancelled, in the engine's words: for the log. */
  readonly reason: string;
  /** Whether Athena says that the same query may succeed another time. */
  readonly retryable: boolean;
}

/** Athena, as far as the service needs it. Calls throw the SDK's errors. */
export interface QueryService {
  /** @param token 32 to 128 characters; the same token with the same query gives the same execution */
  start(query: CompiledQuery, token: string): Promise<string>;
  /** Undefined where Athena doesn't know the id, or has forgotten it. */
  get(id: string): Promise<Execution | undefined>;
  stop(id: string): Promise<void>;
}

export function queryService(
  athena: AthenaClient,
  { database, workgroup }: { readonly database: string; readonly workgroup: string },
): QueryService {
  return {
    async start({ sql, parameters }, token) {
      const { QueryExecutionId } = await athena.send(
        new StartQueryExecutionCommand({
          QueryString: sql,
          QueryExecutionContext: { Database: database },
          WorkGroup: workgroup,
          ClientRequestToken: token,
          // Athena refuses an empty list.
          ...(parameters.length > 0 && { ExecutionParameters: [...parameters] }),
        }),
      );
      if (!QueryExecutionId) throw new Error('Athena started a query without an id');
      return QueryExecutionId;
    },
    async get(id) {
      try {
        const answer = await athena.send(new GetQueryExecutionCommand({ QueryExecutionId: id }));
        return answer.QueryExecution && executionOf(id, answer.QueryExecution);
      } catch (error) {
        if (error instanceof InvalidRequestException) return undefined;
        throw error;
      }
    },
    async stop(id) {
      await athena.send(new StopQueryExecutionCommand({ QueryExecutionId: id }));
    },
  };
}

const STATES: Partial<Record<string, Execution['state']>> = {
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
};

const executionOf = (id: string, { Status, Statistics, ResultConfiguration }: QueryExecution): Execution => ({
  id,
  state: STATES[Status?.State ?? ''] ?? 'under-way',
  submittedAt: Status?.SubmissionDateTime?.getTime() ?? 0,
  completedAt: Status?.CompletionDateTime?.getTime() ?? 0,
  location: ResultConfiguration?.OutputLocation ?? '',
  bytesScanned: Statistics?.DataScannedInBytes ?? 0,
  engineMs: Statistics?.EngineExecutionTimeInMillis ?? 0,
  reason: Status?.StateChangeReason ?? 'no reason given',
  retryable: Status?.AthenaError?.Retryable ?? false,
});
