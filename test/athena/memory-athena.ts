import {
  GetQueryExecutionCommand,
  InvalidRequestException,
  type QueryExecution,
  type QueryExecutionStatus,
  StartQueryExecutionCommand,
  StopQueryExecutionCommand,
} from '@aws-sdk/client-athena';
import type { CompiledQuery } from '../../lib/report/compile-query.ts';
import { resultKey } from '../../lib/results/keys.ts';

/** A query as Athena runs it. Times are milliseconds since 1970. */
export interface MemoryQuery {
  readonly id: string;
  readonly number: number;
  readonly token: string;
  readonly compiled: CompiledQuery;
  readonly submittedAt: number;
  /** No two queries scan the same number of bytes, so the metric shows which query it counts. */
  readonly bytesScanned: number;
  state: 'QUEUED' | 'RUNNING' | EndState;
  /** When the query began to run; if Athena has put it back into its queue, when it began to run again. */
  runsSince?: number | undefined;
  endedAt?: number;
  /** When Athena shows the end. Until then, it shows the state before. */
  shownAt?: number;
  reason?: string;
  isRetryable?: boolean;
  /** Where the result lies, if not in the usual place. */
  location?: string;
  forgottenAt?: number;
}

export type EndState = 'SUCCEEDED' | 'FAILED' | 'CANCELLED';

type Answer = QueryExecution & { readonly Status: QueryExecutionStatus };

/**
 * Athena in memory: its queue, running slots, tokens, states and answers. It has no timers and no faults. The code
 * that uses it adds them, and decides when a query is queued and how it ends.
 *
 * @param run called when a query begins to run, or to run again
 */
export function memoryAthena<Query extends MemoryQuery>(
  now: () => number,
  { slots, tokensKeptMs = Number.POSITIVE_INFINITY }: { slots: number; tokensKeptMs?: number },
  run: (query: Query, isAgain: boolean) => void,
) {
  const queries = new Map<string, Query>();
  const byToken = new Map<string, Query>();
  const queue = new Set<Query>();
  const running = new Set<Query>();

  const begin = (query: Query, isAgain = false): void => {
    queue.delete(query);
    running.add(query);
    Object.assign(query, { state: 'RUNNING', runsSince: now() });
    run(query, isAgain);
  };
  const runNext = (): void => {
    for (const query of queue) if (running.size < slots) begin(query);
  };
  /** Takes a query out of the queue, or frees its slot. */
  const leave = (query: Query, facts: Partial<MemoryQuery>): void => {
    queue.delete(query);
    running.delete(query);
    Object.assign(query, facts);
    runNext();
  };
  const end = (query: Query, state: EndState, shownAfterMs = 0): void =>
    leave(query, { state, endedAt: now(), shownAt: now() + shownAfterMs });

  return {
    queries,
    active: () => [...queries.values()].filter(({ endedAt }) => endedAt === undefined),
    /** The query that a token stands for. Athena forgets tokens after a time. */
    queryOf(token: string): Query | undefined {
      const query = byToken.get(token);
      return query && query.submittedAt + tokensKeptMs > now() ? query : undefined;
    },
    /** Starts a query, which is not in the queue yet. `more`: what the user keeps of it. */
    submit(compiled: CompiledQuery, token: string, more: Omit<Query, keyof MemoryQuery>): Query {
      if (!/^[\w-]{32,128}$/.test(token)) throw new Error(`no token: ${token}`);
      const number = queries.size + 1;
      const facts = { id: `q${number}`, number, token, compiled, bytesScanned: number * 1_000_003 };
      const query = { ...facts, submittedAt: now(), state: 'QUEUED', ...more } as unknown as Query;
      queries.set(query.id, query);
      byToken.set(token, query);
      return query;
    },
    /** Puts a submitted query into the queue, unless it has ended. */
    enqueue(query: Query): void {
      if (query.state === 'QUEUED') queue.add(query);
      runNext();
    },
    /** Puts a running query back. It then waits for `runAgain`, even if slots are free. */
    putBack: (query: Query) => leave(query, { state: 'QUEUED', runsSince: undefined }),
    runAgain(query: Query): void {
      if (query.state === 'QUEUED') begin(query, true);
    },
    end,
    /** Stops a query at once, unless it has ended. */
    stop(id: string): void {
      const query = queries.get(id);
      if (query && query.endedAt === undefined) end(query, 'CANCELLED');
    },
    /** The execution as Athena describes it; undefined if Athena does not know the id. */
    get(id: string): Answer | undefined {
      const query = queries.get(id);
      if (!query || (query.forgottenAt ?? Number.POSITIVE_INFINITY) <= now()) return undefined;
      const { state, submittedAt, endedAt = 0, runsSince, reason, isRetryable, bytesScanned } = query;
      const isShown = (query.shownAt ?? Number.POSITIVE_INFINITY) <= now();
      return {
        QueryExecutionId: id,
        Status: {
          State: isShown ? state : runsSince === undefined ? 'QUEUED' : 'RUNNING',
          SubmissionDateTime: new Date(submittedAt),
          ...(isShown && {
            CompletionDateTime: new Date(endedAt),
            ...(reason !== undefined && { StateChangeReason: reason }),
            ...(isRetryable !== undefined && { AthenaError: { Retryable: isRetryable } }),
          }),
        },
        Statistics: {
          DataScannedInBytes: bytesScanned,
          ...(isShown && { EngineExecutionTimeInMillis: endedAt - (runsSince ?? endedAt) }),
        },
        ResultConfiguration: { OutputLocation: query.location ?? `s3://results/${resultKey(id)}` },
      };
    },
  };
}

/** The calls of Athena, each with its effect. `by`: who makes the call. */
export interface AthenaCalls<By> {
  /** Gives the execution's id. */
  start(query: CompiledQuery, token: string, by: By): string;
  get(id: string): Answer | undefined;
  stop(id: string, by: By): void;
}

/** Athena's answer to a command of the SDK. Throws the errors that Athena throws. */
export function answerTo<By>({ start, get, stop }: AthenaCalls<By>, command: object, by: By) {
  if (command instanceof StartQueryExecutionCommand) {
    const { QueryString: sql = '', ExecutionParameters: parameters = [], ClientRequestToken } = command.input;
    return { QueryExecutionId: start({ sql, parameters }, ClientRequestToken ?? '', by) };
  }
  const { QueryExecutionId: id = '' } = (command as GetQueryExecutionCommand).input;
  if (command instanceof GetQueryExecutionCommand) return { QueryExecution: get(id) ?? unknownExecution() };
  if (!(command instanceof StopQueryExecutionCommand))
    throw new Error(`unplanned: ${command.constructor.name}`);
  return stop(id, by);
}

/** Athena knows no such execution. */
function unknownExecution(): never {
  throw new InvalidRequestException({
    message: 'QueryExecution was not found',
    AthenaErrorCode: 'QUERY_EXECUTION_NOT_FOUND',
    $metadata: { httpStatusCode: 400 },
  });
}
