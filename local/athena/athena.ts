import * as v from 'valibot';
import { createFaults, type Faults } from '../faults/faults.ts';
import { faultyQueries, queryText } from '../faults/faulty-queries.ts';
import { type Listener, serve } from '../serve.ts';
import type { Executions } from './executions.ts';
import { createExecutions, executionDocument } from './executions.ts';
import type { Operation } from './protocol.ts';
import {
  type AthenaCall,
  type AthenaQuotas,
  answerProtocol,
  callLimiter,
  createCallLog,
  InvalidRequest,
  NEW_ACCOUNT,
  UNLIMITED,
} from './protocol.ts';
import { limitEngine } from './query-engine.ts';
import { queryRunner, type RunnerOptions } from './run-query.ts';
import { parseStartRequest } from './start-request.ts';

export interface AthenaOptions extends RunnerOptions {
  /** The workgroup's location for results: `s3://bucket/prefix/`. */
  readonly resultsUri: string;
  /** The only workgroup. */
  readonly workgroup: string;
  /**
   * How many queries are RUNNING at a time; the others stay QUEUED. Defaults to the engine's own number. A higher
   * number shows more queries as RUNNING, but the engine still runs no more than its own number.
   */
  readonly maxRunning?: number | undefined;
  /** Defaults to the quotas of a new AWS account; `false` turns them off. */
  readonly quotas?: Partial<AthenaQuotas> | false | undefined;
  /** The clock for the quotas of calls, in milliseconds. */
  readonly now?: () => number;
  readonly faults?: Faults;
}

export interface Athena extends Listener {
  /** The latest calls, the oldest first. */
  calls(): readonly AthenaCall[];
  /** How many queries wait for the engine. */
  queued(): number;
  /** Stops every query and the server. The engine stays open: the program that opened the engine closes it. */
  close(): Promise<void>;
}

/**
 * Starts Athena's wire protocol on a free port of 127.0.0.1. It has the operations of operations.ts, and runs queries
 * on `options.engine`. A query is SUCCEEDED only once its result is in S3.
 */
export async function startAthena(options: AthenaOptions): Promise<Athena> {
  const { resultsUri, workgroup, faults = createFaults() } = options;
  const quotas = options.quotas === false ? UNLIMITED : { ...NEW_ACCOUNT, ...options.quotas };
  const log = createCallLog();
  const engine = faultyQueries(limitEngine(options.engine), faults);
  const executions = createExecutions(queryRunner({ ...options, engine }), {
    resultsUri,
    maxRunning: options.maxRunning ?? engine.maxRunning,
    maxActive: quotas.activeQueries,
    queuedMs: ({ sql, parameters }) => faults.queuedMs(queryText(sql, parameters)),
  });
  const terms = { faults, log, admit: callLimiter(quotas, options.now) };
  const listener = await serve(answerProtocol(athenaOperations(executions, workgroup), terms));
  return {
    url: listener.url,
    calls: log.calls,
    queued: executions.queued,
    async close() {
      await listener.close();
      await executions.close();
    },
  };
}

/** Athena's page size. This stand-in serves only the first page. */
const MAX_LISTED = 50;

const idInput = v.object({ QueryExecutionId: v.string() });

function idOf(input: unknown): string {
  const parsed = v.safeParse(idInput, input);
  if (!parsed.success) throw new InvalidRequest('queryExecutionId is null or empty');
  return parsed.output.QueryExecutionId;
}

/** The operations of Athena that the service uses, for the queries of one workgroup. */
const athenaOperations = (
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
