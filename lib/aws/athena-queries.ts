import {
  type AthenaClient,
  AthenaServiceException,
  GetQueryExecutionCommand,
  InvalidRequestException,
  type QueryExecution,
  StartQueryExecutionCommand,
  StopQueryExecutionCommand,
} from '@aws-sdk/client-athena';
import type { Execution, QueryService } from '../delivery/execution.ts';
import { dateOf, metadataOf, undefinedIf, withoutValues } from './answers.ts';
import { call } from './call.ts';

/**
 * Athena as the service's query engine. Every call ends by `until`, in milliseconds since 1970.
 * @param onThrottledStart called each time that Athena throttles the start of a query, also if it is then tried again
 */
export function athenaQueries(
  athena: AthenaClient,
  { database, workgroup }: { readonly database: string; readonly workgroup: string },
  until: number,
  onThrottledStart: () => void = () => {},
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
      const started = await call('Athena StartQueryExecution', { until }, (abortSignal) =>
        athena.send(command, { abortSignal }).catch((error: unknown) => {
          if (isRefusal(error, TOKEN_OF_ANOTHER_QUERY)) return undefined;
          if (isThrottle(error)) onThrottledStart();
          throw error;
        }),
      );
      if (started && !started.QueryExecutionId) throw new Error('Athena started a query without an id');
      return started?.QueryExecutionId;
    },
    get: (id) =>
      call('Athena GetQueryExecution', { until }, async (abortSignal): Promise<Execution> => {
        const answer = await athena
          .send(new GetQueryExecutionCommand({ QueryExecutionId: id }), { abortSignal })
          .catch(undefinedIf((error) => isRefusal(error, NOT_FOUND)));
        return answer ? executionOf(id, answer.QueryExecution, dateOf(answer)) : { state: 'forgotten', id };
      }),
    async stop(id) {
      await call('Athena StopQueryExecution', { until }, (abortSignal) =>
        athena
          .send(new StopQueryExecutionCommand({ QueryExecutionId: id }), { abortSignal })
          // The query has ended meanwhile, or Athena has forgotten it.
          .catch(undefinedIf((error) => error instanceof InvalidRequestException)),
      );
    },
  };
}

/** Athena's code for an execution that it does not know. It refuses requests as invalid for other reasons, too. */
const NOT_FOUND = 'QUERY_EXECUTION_NOT_FOUND';
/** Athena's code for a token that it has seen with another text, database or workgroup. */
const TOKEN_OF_ANOTHER_QUERY = 'IDEMPOTENT_PARAMETER_MISMATCH';

const isRefusal = (error: unknown, code: string): boolean =>
  error instanceof InvalidRequestException && error.AthenaErrorCode === code;

const isThrottle = (error: unknown): boolean =>
  error instanceof AthenaServiceException &&
  (/^(Throttling|TooManyRequests)/.test(error.name) || metadataOf(error).httpStatusCode === 429);

/** Athena's text when it stopped a query at the workgroup's scan limit. There is no error code for that. */
const SCAN_LIMIT_EXCEEDED = 'Bytes scanned limit was exceeded';

/**
 * Translates Athena's answer about an execution into one of the service's states. An answer without a status or a
 * submission time is `forgotten`. A success without a result's location is `failed`, because waiting would not help.
 * @param observedAt the time of the answer, in milliseconds since 1970
 */
export function executionOf(
  id: string,
  execution: QueryExecution | undefined,
  observedAt: number,
): Execution {
  const { Status, Statistics, ResultConfiguration } = execution ?? {};
  const submittedAt = Status?.SubmissionDateTime?.getTime();
  if (!Status || submittedAt === undefined) return { state: 'forgotten', id };
  const bytesScanned = Statistics?.DataScannedInBytes ?? 0;
  const common = { id, submittedAt, observedAt, bytesScanned };
  const facts = {
    ...common,
    completedAt: Status.CompletionDateTime?.getTime() ?? observedAt,
    engineMs: Statistics?.EngineExecutionTimeInMillis ?? 0,
  };
  const isCancelled = Status.State === 'CANCELLED';
  const failed = (reason: string, isRetryable = false) =>
    ({ state: 'failed', ...facts, reason, isRetryable, ...(isCancelled && { isCancelled }) }) as const;
  const reason = Status.StateChangeReason ?? 'no reason given';
  const location = ResultConfiguration?.OutputLocation;
  switch (Status.State) {
    case 'SUCCEEDED':
      return location ? { state: 'succeeded', ...facts, location } : failed('SUCCEEDED without a result');
    case 'CANCELLED':
    case 'FAILED':
      if (reason.includes(SCAN_LIMIT_EXCEEDED)) return { state: 'scan-limit-exceeded', ...facts };
      return failed(`${Status.State}: ${withoutValues(reason)}`, Status.AthenaError?.Retryable);
    default:
      return { state: 'under-way', ...common, isQueued: Status.State === 'QUEUED' };
  }
}
