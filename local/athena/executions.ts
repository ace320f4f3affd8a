import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { QueryExecutionState } from '@aws-sdk/client-athena';
import { InvalidRequest, TooManyQueries } from './protocol.ts';
import { QueryFailure } from './query-engine.ts';
import { type QueryRun, QueryScanLimitExceeded, type RunFigures, type RunQuery } from './run-query.ts';
import type { StartRequest } from './start-request.ts';

/** How an execution ended. It ends only once: later events do not change its state. */
type Ending =
  | { readonly state: 'SUCCEEDED' }
  | { readonly state: 'FAILED'; readonly failure: QueryFailure }
  | { readonly state: 'CANCELLED'; readonly reason: string };

/** One execution: QUEUED until `startedAt`, then RUNNING until `ended`. Times are milliseconds since 1970. */
export interface Execution extends QueryRun {
  readonly submittedAt: number;
  startedAt?: number;
  ended?: Ending & { readonly at: number };
  figures: RunFigures;
}

export interface Executions {
  /**
   * Starts an execution. If the same request came before with the same token, returns the execution of the earlier
   * request, even if that execution has ended. Throws if another request came with this token, or if the maximum
   * number of queries is queued or running.
   */
  start(request: StartRequest): Execution;
  find(id: string): Execution;
  /** The executions that were started last, the newest first. */
  latest(most: number): readonly Execution[];
  /** How many executions wait for the engine. */
  queued(): number;
  /** Ends an execution as CANCELLED, unless it has ended already. */
  stop(id: string): void;
  /** Stops everything. Resolves when no query is running any more. */
  close(): Promise<void>;
}

const NO_FIGURES: RunFigures = { bytesScanned: 0, planningMs: 0, engineMs: 0, publishingMs: 0 };

export interface Queue {
  /** `s3://bucket/prefix/` for the result files. */
  readonly resultsUri: string;
  readonly maxRunning: number;
  /** The maximum number of queries that are queued or running. A further query is refused. */
  readonly maxActive?: number;
  /** The minimum time that a query stays QUEUED, in milliseconds. */
  readonly queuedMs?: (request: StartRequest) => number;
}

/** How many ended executions are kept. Athena keeps each for 45 days. */
const REMEMBERED = 1_000;

/** Keeps executions from their start, and runs those that wait, the oldest first. */
export function createExecutions(
  run: RunQuery,
  { resultsUri, maxRunning, maxActive = Number.POSITIVE_INFINITY, queuedMs = () => 0 }: Queue,
): Executions {
  const byId = new Map<string, Execution>();
  const byToken = new Map<string, Execution>();
  const active = new Set<Execution>();
  /** The ended executions. The one that ended first comes first. */
  const ended = new Set<Execution>();
  const waiting = new Set<Execution>();
  const running = new Map<Execution, { readonly abort: AbortController; readonly done: Promise<void> }>();

  const end = (execution: Execution, ending: Ending): void => {
    if (execution.ended) return;
    execution.ended = { ...ending, at: Date.now() };
    active.delete(execution);
    ended.add(execution);
    const [oldest] = ended;
    if (!oldest || ended.size <= REMEMBERED) return;
    ended.delete(oldest);
    byId.delete(oldest.id);
    byToken.delete(oldest.request.token);
  };

  const runWaiting = (): void => {
    for (const execution of waiting) {
      if (running.size >= maxRunning) return;
      waiting.delete(execution);
      const abort = new AbortController();
      running.set(execution, { abort, done: runOne(execution, abort.signal) });
    }
  };

  const runOne = async (execution: Execution, signal: AbortSignal): Promise<void> => {
    execution.startedAt = Date.now();
    try {
      execution.figures = await run(execution, signal);
      end(execution, { state: 'SUCCEEDED' });
    } catch (error) {
      if (error instanceof QueryScanLimitExceeded)
        execution.figures = { ...NO_FIGURES, bytesScanned: error.bytesScanned };
      end(execution, endingOf(error));
    }
    running.delete(execution);
    runWaiting();
  };

  const cancel = (execution: Execution): void => {
    end(execution, { state: 'CANCELLED', reason: 'Query cancelled by user' });
    waiting.delete(execution);
    running.get(execution)?.abort.abort();
  };

  const find = (id: string): Execution => {
    const execution = byId.get(id);
    if (!execution)
      throw new InvalidRequest(`QueryExecution ${id} was not found`, 'QUERY_EXECUTION_NOT_FOUND');
    return execution;
  };

  return {
    find,
    queued: () => waiting.size,
    latest: (most) => [...byId.values()].reverse().slice(0, most),
    start(request) {
      const known = byToken.get(request.token);
      if (known) {
        // Athena is said not to compare the parameters. Here they are compared, to find a client that uses one token
        // for different parameters.
        if (isDeepStrictEqual(known.request, request)) return known;
        throw new InvalidRequest('Idempotent parameters do not match', 'IDEMPOTENT_PARAMETER_MISMATCH');
      }
      if (active.size >= maxActive) throw new TooManyQueries(maxActive);
      const id = randomUUID();
      const outputLocation = `${resultsUri}${id}.csv`;
      const execution: Execution = {
        id,
        request,
        outputLocation,
        submittedAt: Date.now(),
        figures: NO_FIGURES,
      };
      byId.set(id, execution);
      active.add(execution);
      byToken.set(request.token, execution);
      const enqueue = () => {
        if (!execution.ended) waiting.add(execution);
        runWaiting();
      };
      const held = queuedMs(request);
      if (held > 0) setTimeout(enqueue, held).unref();
      else enqueue();
      return execution;
    },
    stop: (id) => cancel(find(id)),
    async close() {
      for (const execution of byId.values()) cancel(execution);
      await Promise.all([...running.values()].map(({ done }) => done));
    },
  };
}

function endingOf(error: unknown): Ending {
  if (error instanceof QueryScanLimitExceeded) return { state: 'CANCELLED', reason: error.message };
  const failure =
    error instanceof QueryFailure
      ? error
      : new QueryFailure('GENERIC_INTERNAL_ERROR', String(error), { cause: error });
  return { state: 'FAILED', failure };
}

/** An execution as GetQueryExecution describes it. Times are seconds since 1970, as in JSON 1.1. */
export function executionDocument({ id, request, outputLocation, ...progress }: Execution): object {
  return {
    QueryExecutionId: id,
    Query: request.sql,
    StatementType: 'DML',
    SubstatementType: 'SELECT',
    ResultConfiguration: { OutputLocation: outputLocation },
    ResultReuseConfiguration: { ResultReuseByAgeConfiguration: { Enabled: false } },
    QueryExecutionContext: { Database: request.database, Catalog: request.catalog },
    ...(request.parameters.length > 0 && { ExecutionParameters: request.parameters }),
    Status: statusOf(progress),
    Statistics: statisticsOf(progress),
    WorkGroup: request.workgroup,
    EngineVersion: {
      SelectedEngineVersion: 'AUTO',
      EffectiveEngineVersion: 'Athena engine version 3',
    },
  };
}

type Progress = Omit<Execution, 'id' | 'request' | 'outputLocation'>;

function statusOf({ submittedAt, startedAt, ended }: Progress): object {
  const state: QueryExecutionState = ended?.state ?? (startedAt === undefined ? 'QUEUED' : 'RUNNING');
  return {
    State: state,
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
  };
}

function statisticsOf({ submittedAt, startedAt, ended, figures }: Progress): object {
  const until = ended?.at ?? Date.now();
  return {
    DataScannedInBytes: figures.bytesScanned,
    EngineExecutionTimeInMillis: Math.round(figures.engineMs),
    QueryPlanningTimeInMillis: Math.round(figures.planningMs),
    QueryQueueTimeInMillis: (startedAt ?? until) - submittedAt,
    ServiceProcessingTimeInMillis: Math.round(figures.publishingMs),
    TotalExecutionTimeInMillis: until - submittedAt,
    ResultReuseInformation: { ReusedPreviousResult: false },
  };
}
