import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ObjectStore } from '../object-store/object-store.ts';
import { InvalidRequest, TooManyQueries } from './protocol.ts';
import { type QueryEngine, QueryFailure, QueryScanLimitExceeded } from './query-engine.ts';

/** A StartQueryExecution that is within the documented limits. */
export interface StartRequest {
  readonly token: string;
  readonly sql: string;
  readonly parameters: readonly string[];
  readonly workgroup: string;
  readonly database: string | undefined;
  readonly catalog: string | undefined;
}

/** How an execution ended. It ends only once: later events do not change its state. */
type Ending =
  | { readonly state: 'SUCCEEDED' }
  | { readonly state: 'FAILED'; readonly failure: QueryFailure }
  | { readonly state: 'CANCELLED'; readonly reason: string };

/** One execution: QUEUED until `startedAt`, then RUNNING until `ended`. Times are milliseconds since 1970. */
export interface Execution {
  readonly id: string;
  readonly request: StartRequest;
  /** `s3://bucket/key` */
  readonly outputLocation: string;
  readonly submittedAt: number;
  startedAt?: number;
  ended?: Ending & { readonly at: number };
  bytesScanned: number;
  engineMs: number;
}

export type Executions = ReturnType<typeof createExecutions>;

export interface ExecutionOptions {
  /** `engine.maxRunning` queries are RUNNING at a time; the others stay QUEUED. */
  readonly engine: QueryEngine;
  /** The only database. */
  readonly database: string;
  readonly results: ResultStore;
  /** The workgroup's location for results: `s3://bucket/prefix/`. */
  readonly resultsUri: string;
}

type ResultStore = Pick<ObjectStore, 'putFile'>;

/** How many ended executions are kept. Athena keeps each for 45 days. */
const REMEMBERED = 1_000;

/**
 * Keeps executions from their start, and runs those that wait, the oldest first.
 *
 * @param maxActive the maximum number of queries that are queued or running; a further query is refused
 * @param queuedMs the minimum time that a query stays QUEUED, in milliseconds
 */
export function createExecutions(
  options: ExecutionOptions,
  maxActive: number,
  queuedMs: (request: StartRequest) => number,
) {
  const byId = new Map<string, Execution>();
  const byToken = new Map<string, Execution>();
  /** The ended executions. The one that ended first comes first. */
  const ended = new Set<Execution>();
  const waiting = new Set<Execution>();
  const running = new Map<Execution, { readonly abort: AbortController; readonly done: Promise<void> }>();

  const end = (execution: Execution, ending: Ending): void => {
    if (execution.ended) return;
    execution.ended = { ...ending, at: Date.now() };
    ended.add(execution);
    const [oldest] = ended;
    if (!oldest || ended.size <= REMEMBERED) return;
    ended.delete(oldest);
    byId.delete(oldest.id);
    byToken.delete(oldest.request.token);
  };

  const runWaiting = (): void => {
    for (const execution of waiting) {
      if (running.size >= options.engine.maxRunning) return;
      waiting.delete(execution);
      const abort = new AbortController();
      running.set(execution, { abort, done: runOne(execution, abort.signal) });
    }
  };

  const runOne = async (execution: Execution, signal: AbortSignal): Promise<void> => {
    execution.startedAt = Date.now();
    try {
      await runQuery(options, execution, signal);
      end(execution, { state: 'SUCCEEDED' });
    } catch (error) {
      if (error instanceof QueryScanLimitExceeded) execution.bytesScanned = error.bytesScanned;
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
    /** How many executions wait for the engine. */
    queued: () => waiting.size,
    /** The executions that were started last, the newest first. */
    latest: (most: number) => [...byId.values()].reverse().slice(0, most),
    /**
     * Starts an execution. If the same request came before with the same token, returns the execution of the earlier
     * request, even if that execution has ended. Throws if another request came with this token, or if the maximum
     * number of queries is queued or running.
     */
    start(request: StartRequest): Execution {
      const earlier = byToken.get(request.token);
      if (earlier) {
        // Athena is said not to compare the parameters. Here they are compared, to find a client that uses one token
        // for different parameters.
        if (isDeepStrictEqual(earlier.request, request)) return earlier;
        throw new InvalidRequest('Idempotent parameters do not match', 'IDEMPOTENT_PARAMETER_MISMATCH');
      }
      if (byId.size - ended.size >= maxActive) throw new TooManyQueries(maxActive);
      const id = randomUUID();
      const outputLocation = `${options.resultsUri}${id}.csv`;
      const execution: Execution = {
        ...{ id, request, outputLocation },
        ...{ submittedAt: Date.now(), bytesScanned: 0, engineMs: 0 },
      };
      byId.set(id, execution);
      byToken.set(request.token, execution);
      const enqueue = () => {
        if (!execution.ended) waiting.add(execution);
        runWaiting();
      };
      const waitMs = queuedMs(request);
      if (waitMs > 0) setTimeout(enqueue, waitMs).unref();
      else enqueue();
      return execution;
    },
    /** Ends an execution as CANCELLED, unless it has ended already. */
    stop: (id: string) => cancel(find(id)),
    /** Stops everything. Resolves when no query is running any more. */
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

/** Runs the query, notes its figures and puts its result in S3. Rejects as the engine does, or with a QueryFailure. */
async function runQuery(
  { engine, database, results }: ExecutionOptions,
  execution: Execution,
  signal: AbortSignal,
): Promise<void> {
  const { id, request, outputLocation } = execution;
  const { sql, parameters, database: schema } = request;
  if (schema === undefined)
    throw new QueryFailure('SCHEMA_NOT_FOUND', 'Schema must be specified when session schema is not set');
  if (schema !== database) throw new QueryFailure('SCHEMA_NOT_FOUND', `Schema '${schema}' does not exist`);
  const startedAt = performance.now();
  const { csvPath, bytesScanned } = await engine.run({ id, sql, parameters, signal });
  const engineMs = performance.now() - startedAt;
  try {
    signal.throwIfAborted();
    putResult(results, id, csvPath, outputLocation);
    Object.assign(execution, { bytesScanned, engineMs });
  } finally {
    for (const path of [csvPath, `${csvPath}.metadata`]) await rm(path, { force: true });
  }
}

/** Puts a query's result at its location, and beside it the binary `.metadata` file, as Athena does. */
function putResult(results: ResultStore, id: string, csvPath: string, outputLocation: string): void {
  const { hostname: bucket, pathname } = new URL(outputLocation);
  const key = pathname.slice(1);
  try {
    // Athena's file is a Protocol Buffers message that begins with the query's id as field 1.
    writeFileSync(`${csvPath}.metadata`, Buffer.from(`\n${String.fromCharCode(id.length)}${id}`));
    results.putFile({ bucket, key }, csvPath);
    results.putFile({ bucket, key: `${key}.metadata` }, `${csvPath}.metadata`);
  } catch (cause) {
    throw new QueryFailure('RESULT_WRITE_ERROR', `Failed to write ${outputLocation}: ${cause}`, { cause });
  }
}
