import * as v from 'valibot';
import { InvalidRequest } from './api-error.ts';
import type { Executions } from './executions.ts';
import { executionDocument } from './executions.ts';
import type { Operation } from './protocol.ts';
import { parseStartRequest } from './start-request.ts';

/** Athena's page size. This stand-in serves only the first page. */
const MAX_LISTED = 50;

const idInput = v.object({ QueryExecutionId: v.string() });

function idOf(input: unknown): string {
  const parsed = v.safeParse(idInput, input);
  if (!parsed.success) throw new InvalidRequest('queryExecutionId is null or empty');
  return parsed.output.QueryExecutionId;
}

/** The operations of Athena that the service uses, for the queries of one workgroup. */
export const athenaOperations = (
  executions: Executions,
  workgroup: string,
): Readonly<Record<string, Operation>> => ({
  StartQueryExecution: (input) => ({
    QueryExecutionId: executions.start(parseStartRequest(input, workgroup)).id,
  }),
  GetQueryExecution: (input) => ({ QueryExecution: executionDocument(executions.find(idOf(input))) }),
  ListQueryExecutions: () => ({ QueryExecutionIds: executions.latest(MAX_LISTED).map(({ id }) => id) }),
  StopQueryExecution: (input) => {
    executions.stop(idOf(input));
    return {};
  },
});
