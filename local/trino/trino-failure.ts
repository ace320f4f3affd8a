import { QueryFailure } from '../athena/query-failure.ts';
import { QueryScanLimitExceeded } from '../athena/run-query.ts';

/**
 * The types of errors that the cluster causes and not the query: a node is lost, or memory is short. The same query may
 * succeed a moment later. If Trino itself retries queries (`retry-policy=QUERY`), it retries after such errors too.
 */
const RETRYABLE: readonly string[] = ['INTERNAL_ERROR', 'INSUFFICIENT_RESOURCES'];

/** An error in Trino's protocol. */
export interface TrinoError {
  readonly message: string;
  readonly errorName: string;
  readonly errorType: string;
}

/**
 * The failure that Athena would report for an error of Trino, in one line. It keeps Trino's name and message. The
 * cluster's scan limit is the exception: Athena calls such a query cancelled, not failed.
 */
export function failureOf(
  { message, errorName, errorType }: TrinoError,
  bytesScanned: number,
): QueryFailure | QueryScanLimitExceeded {
  if (errorName === 'EXCEEDED_SCAN_LIMIT') return new QueryScanLimitExceeded(bytesScanned);
  const [summary = ''] = message.split('\n', 1);
  return new QueryFailure(errorName, summary, {
    fault: errorType === 'USER_ERROR' ? 'user' : 'system',
    retryable: RETRYABLE.includes(errorType),
  });
}
