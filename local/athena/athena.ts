import * as v from 'valibot';
import { createFaults, type Faults, faultyQueries, queryText } from '../faults/faults.ts';
import { serve } from '../serve.ts';
import {
  createExecutions,
  type Execution,
  type ExecutionOptions,
  type Executions,
  type StartRequest,
} from './executions.ts';
import {
  type AthenaQuotas,
  answerProtocol,
  callLimiter,
  InvalidRequest,
  NEW_ACCOUNT,
  type Operation,
  UNLIMITED,
} from './protocol.ts';

export interface AthenaOptions extends ExecutionOptions {
  /** The only workgroup. */
  readonly workgroup: string;
  /** Defaults to the quotas of a new AWS account; `false` turns them off. */
  readonly quotas?: Partial<AthenaQuotas> | false | undefined;
  /** The clock for the quotas of calls, in milliseconds. */
  readonly now?: () => number;
  readonly faults?: Faults;
}

export type Athena = Awaited<ReturnType<typeof startAthena>>;

/**
 * Starts Athena's wire protocol on a free port of 127.0.0.1, with the operations below. Runs queries on
 * `options.engine`. A query is SUCCEEDED only once its result is in S3.
 */
export async function startAthena(options: AthenaOptions) {
  const { workgroup, faults = createFaults() } = options;
  const quotas = options.quotas === false ? UNLIMITED : { ...NEW_ACCOUNT, ...options.quotas };
  const executions = createExecutions(
    { ...options, engine: faultyQueries(options.engine, faults) },
    quotas.activeQueries,
    ({ sql, parameters }) => faults.queuedMs(queryText(sql, parameters)),
  );
  const admit = callLimiter(quotas, options.now);
  const listener = await serve(answerProtocol(athenaOperations(executions, workgroup), faults, admit));
  return {
    url: listener.url,
    /** How many queries wait for the engine. */
    queued: executions.queued,
    /** Stops every query and the server. The engine stays open: the program that opened the engine closes it. */
    async close() {
      await listener.close();
      await executions.close();
    },
  };
}

/** Athena's page size. This stand-in serves only the first page. */
const MAX_LISTED = 50;

type Operations = Readonly<Record<string, Operation>>;

/** The operations of Athena that the service uses, for the queries of one workgroup. */
const athenaOperations = (executions: Executions, workgroup: string): Operations => ({
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

function idOf(input: unknown): string {
  const parsed = v.safeParse(v.object({ QueryExecutionId: v.string() }), input);
  if (!parsed.success) throw new InvalidRequest('queryExecutionId is null or empty');
  return parsed.output.QueryExecutionId;
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
function parseStartRequest(input: unknown, workgroup: string): StartRequest {
  const parsed = v.safeParse(startInput, input, { abortEarly: true });
  if (!parsed.success) throw new InvalidRequest(parsed.issues[0].message);
  const { output } = parsed;
  if (output.WorkGroup !== workgroup) throw new InvalidRequest('WorkGroup is not found.');
  return {
    token: output.ClientRequestToken,
    sql: output.QueryString,
    parameters: output.ExecutionParameters ?? [],
    workgroup,
    database: output.QueryExecutionContext?.Database,
    catalog: output.QueryExecutionContext?.Catalog,
  };
}

/**
 * An execution as GetQueryExecution describes it, with the members that a program of this repository reads. Times are
 * seconds since 1970, as in JSON 1.1.
 */
function executionDocument(execution: Execution): object {
  const { id, request, outputLocation, submittedAt, startedAt, ended, bytesScanned, engineMs } = execution;
  return {
    QueryExecutionId: id,
    Query: request.sql,
    ResultConfiguration: { OutputLocation: outputLocation },
    QueryExecutionContext: { Database: request.database, Catalog: request.catalog },
    ...(request.parameters.length > 0 && { ExecutionParameters: request.parameters }),
    WorkGroup: request.workgroup,
    Status: {
      State: ended?.state ?? (startedAt === undefined ? 'QUEUED' : 'RUNNING'),
      SubmissionDateTime: submittedAt / 1000,
      ...(ended && { CompletionDateTime: ended.at / 1000 }),
      ...(ended?.state === 'CANCELLED' && { StateChangeReason: ended.reason }),
      ...(ended?.state === 'FAILED' && {
        StateChangeReason: ended.failure.message,
        AthenaError: {
          ErrorCategory: ended.failure.category,
          ErrorType: ended.failure.type,
          ErrorMessage: ended.failure.message,
          Retryable: ended.failure.retryable,
        },
      }),
    },
    Statistics: {
      DataScannedInBytes: bytesScanned,
      EngineExecutionTimeInMillis: Math.round(engineMs),
      TotalExecutionTimeInMillis: (ended?.at ?? Date.now()) - submittedAt,
    },
  };
}
