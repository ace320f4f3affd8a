import * as v from 'valibot';
import { InvalidRequest } from './protocol.ts';

/** A StartQueryExecution that is within the documented limits. */
export interface StartRequest {
  readonly token: string;
  readonly sql: string;
  readonly parameters: readonly string[];
  readonly workgroup: string;
  readonly database: string | undefined;
  readonly catalog: string | undefined;
}

const constraint = (member: string, rule: string): string =>
  `1 validation error detected: Value at '${member}' failed to satisfy constraint: Member must have length ${rule}`;

const text = (member: string, shortest: number, longest: number) =>
  v.pipe(
    v.string(`${member} is null or empty`),
    v.minLength(shortest, constraint(member, `greater than or equal to ${shortest}`)),
    v.maxLength(longest, constraint(member, `less than or equal to ${longest}`)),
  );

const startInput = v.object({
  ClientRequestToken: text('clientRequestToken', 32, 128),
  QueryString: text('queryString', 1, 262_144),
  ExecutionParameters: v.optional(
    v.pipe(
      v.array(text('executionParameters', 1, 1024)),
      v.minLength(1, constraint('executionParameters', 'greater than or equal to 1')),
    ),
  ),
  QueryExecutionContext: v.optional(
    v.object({ Database: v.optional(v.string()), Catalog: v.optional(v.string()) }),
  ),
  // ResultConfiguration is not read: the workgroup enforces its own, so Athena would ignore the caller's.
  WorkGroup: v.optional(v.string(), 'primary'),
});

/** Reads the input of StartQueryExecution. Throws InvalidRequest for the first fault, in Athena's words. */
export function parseStartRequest(input: unknown, workgroup: string): StartRequest {
  const parsed = v.safeParse(startInput, input, { abortEarly: true });
  if (!parsed.success) throw new InvalidRequest(parsed.issues[0].message);
  const { ClientRequestToken, QueryString, ExecutionParameters, QueryExecutionContext, WorkGroup } =
    parsed.output;
  if (WorkGroup !== workgroup) throw new InvalidRequest('WorkGroup is not found.');
  return {
    token: ClientRequestToken,
    sql: QueryString,
    parameters: ExecutionParameters ?? [],
    workgroup: WorkGroup,
    database: QueryExecutionContext?.Database,
    catalog: QueryExecutionContext?.Catalog,
  };
}
