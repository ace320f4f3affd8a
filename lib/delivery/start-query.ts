import { type AthenaClient, StartQueryExecutionCommand } from '@aws-sdk/client-athena';
import type { CompiledQuery } from '../report/compile-query.ts';

/** Where queries run. The workgroup says where results go, and how much a query may scan. */
export interface QueryPlace {
  readonly database: string;
  readonly workgroup: string;
}

/**
 * Starts a query; resolves to its execution id.
 *
 * @param token 32 to 128 characters; the same token with the same query gives the same execution
 */
export async function startQuery(
  athena: AthenaClient,
  { sql, parameters }: CompiledQuery,
  { database, workgroup }: QueryPlace,
  token: string,
): Promise<string> {
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
}
