import {
  type AthenaClient,
  GetQueryExecutionCommand,
  InvalidRequestException,
  type QueryExecution,
  StartQueryExecutionCommand,
  StopQueryExecutionCommand,
} from '@aws-sdk/client-athena';
import type { Execution, QueryService } from '../delivery/execution.ts';
import { call } from './call.ts';

/**
 * Athena as the service's query engine. Every call ends by `until`, and one that stops a query by `stopUntil`, in
 * milliseconds since 1970.
 */
export function athenaQueries(
  athena: AthenaClient,
  { database, workgroup }: { readonly database: string; readonly workgroup: string },
  { until, stopUntil }: { readonly until: number; readonly stopUntil: number },
): QueryService {
  return {
    async start({ sql, parameters }, token) {
      const command = new StartQueryExecutionCommand({
        QueryString: sql,
        QueryExecutionContext: { Database: database },
        WorkGroup: workgroup,
        ClientRequestToken: token,
        // Athena refuses an empty list.
        ...(parameters.length > 0 && { ExecutionParameters: [...parameters] }),
      });
      const { QueryExecutionId } = await call('Athena StartQueryExecution', until, (abortSignal) =>
        athena.send(command, { abortSignal }),
      );
      if (!QueryExecutionId) throw new Error('Athena started a query without an id');
      return QueryExecutionId;
    },
    get: (id) =>
      call('Athena GetQueryExecution', until, async (abortSignal): Promise<Execution> => {
        try {
          const command = new GetQueryExecutionCommand({ QueryExecutionId: id });
          return executionOf(id, (await athena.send(command, { abortSignal })).QueryExecution ?? {});
        } catch (error) {
          if (error instanceof InvalidRequestException) return { state: 'forgotten', id };
          throw error;
        }
      }),
    async stop(id) {
      await call('Athena StopQueryExecution', stopUntil, async (abortSignal) => {
        try {
          await athena.send(new StopQueryExecutionCommand({ QueryExecutionId: id }), { abortSignal });
        } catch (error) {
          // It has ended meanwhile, or Athena has forgotten it.
          if (!(error instanceof InvalidRequestException)) throw error;
        }
      });
    },
  };
}

/** Athena stopped the query at the workgroup's scan limit. There is no error code for that, only this text. */
const CUT_OFF = 'Bytes scanned limit was exceeded';

/** What Athena tells of an execution, as one of the states that there are. */
export function executionOf(
  id: string,
  { Status, Statistics, ResultConfiguration }: QueryExecution,
): Execution {
  const submittedAt = Status?.SubmissionDateTime?.getTime() ?? 0;
  const figures = {
    id,
    submittedAt,
    completedAt: Status?.CompletionDateTime?.getTime() ?? submittedAt,
    bytesScanned: Statistics?.DataScannedInBytes ?? 0,
    engineMs: Statistics?.EngineExecutionTimeInMillis ?? 0,
  };
  const reason = Status?.StateChangeReason ?? 'no reason given';
  switch (Status?.State) {
    case 'SUCCEEDED':
      return { state: 'succeeded', ...figures, location: ResultConfiguration?.OutputLocation ?? '' };
    case 'CANCELLED':
    case 'FAILED':
      if (reason.includes(CUT_OFF)) return { state: 'cut-off', ...figures };
      return {
        state: 'failed',
        ...figures,
        reason: `${Status.State}: ${reason}`,
        isRetryable: Status.AthenaError?.Retryable ?? false,
      };
    default:
      return { state: 'under-way', id, submittedAt };
  }
}
