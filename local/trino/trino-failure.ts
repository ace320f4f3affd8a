import { QueryFailure } from '../athena/query-failure.ts';

/** An error in Trino's protocol. */
export interface TrinoError {
  readonly message: string;
  readonly errorName: string;
  readonly errorType: string;
}

/** The failure that Athena would report for an error of Trino's, in one line: it keeps Trino's names and words. */
export function failureOf({ message, errorName, errorType }: TrinoError): QueryFailure {
  const [summary = ''] = message.split('\n', 1);
  return new QueryFailure(errorName, summary, {
    fault: errorType === 'USER_ERROR' ? 'user' : 'system',
    retryable: errorType === 'INSUFFICIENT_RESOURCES',
  });
}
