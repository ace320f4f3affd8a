import { setTimeout as delay } from 'node:timers/promises';
import { type AthenaClient, GetQueryExecutionCommand, type QueryExecution } from '@aws-sdk/client-athena';
import { ReportTooLarge } from '../problem.ts';

/** A query that ended well. */
export interface QueryResult {
  /** `s3://bucket/key` of the result file. */
  readonly location: string;
  readonly bytesScanned: number;
  readonly engineMs: number;
}

/** The query failed or was cancelled: an opaque 500 for the caller, the engine's reason for the log. */
export class QueryFailed extends Error {
  readonly queryExecutionId: string;

  constructor(queryExecutionId: string, state: string, reason: string | undefined) {
    super(`query ${queryExecutionId} ${state.toLowerCase()}: ${reason ?? 'no reason given'}`);
    this.queryExecutionId = queryExecutionId;
  }
}

/**
 * Asks at intervals that grow with the time waited: a short query is noticed within milliseconds, a long one
 * loses at most this share of its time, and costs a few dozen calls of the account's 100 a second.
 */
const FIRST_INTERVAL_MS = 20;
const INTERVAL_SHARE = 0.1;
const LONGEST_INTERVAL_MS = 2_000;

/**
 * Waits until the query has ended. Resolves to undefined if it is still under way at the deadline. Throws
 * ReportTooLarge if the workgroup's limit stopped it and QueryFailed if anything else did.
 *
 * @param deadline in milliseconds since 1970
 */
export async function waitForQuery(
  athena: AthenaClient,
  queryExecutionId: string,
  deadline: number,
): Promise<QueryResult | undefined> {
  const began = Date.now();
  for (;;) {
    const { QueryExecution: execution } = await athena.send(
      new GetQueryExecutionCommand({ QueryExecutionId: queryExecutionId }),
    );
    const result = execution && ended(queryExecutionId, execution);
    if (result) return result;
    const now = Date.now();
    if (now >= deadline) return undefined;
    const interval = Math.max(FIRST_INTERVAL_MS, (now - began) * INTERVAL_SHARE);
    await delay(Math.min(interval, LONGEST_INTERVAL_MS, deadline - now));
  }
}

function ended(
  id: string,
  { Status, Statistics, ResultConfiguration }: QueryExecution,
): QueryResult | undefined {
  const reason = Status?.StateChangeReason;
  switch (Status?.State) {
    case 'SUCCEEDED':
      // Read, never built: a reused result lies elsewhere.
      if (!ResultConfiguration?.OutputLocation)
        throw new QueryFailed(id, 'succeeded', 'without a result file');
      return {
        location: ResultConfiguration.OutputLocation,
        bytesScanned: Statistics?.DataScannedInBytes ?? 0,
        engineMs: Statistics?.EngineExecutionTimeInMillis ?? 0,
      };
    case 'CANCELLED':
      // Athena gives the workgroup's cut-off no code of its own, just this sentence.
      if (reason?.includes('Bytes scanned limit was exceeded')) throw new ReportTooLarge();
      throw new QueryFailed(id, 'cancelled', reason);
    case 'FAILED':
      throw new QueryFailed(id, 'failed', reason);
    default:
      return undefined;
  }
}
