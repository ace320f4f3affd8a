import {
  type AthenaClient,
  AthenaServiceException,
  GetQueryExecutionCommand,
  type GetQueryExecutionCommandOutput,
  StartQueryExecutionCommand,
  type StartQueryExecutionOutput,
  StopQueryExecutionCommand,
  TooManyRequestsException,
} from '@aws-sdk/client-athena';
import { RESULTS_PREFIX } from '../../lib/names.ts';
import { tokenBucket } from '../../local/token-bucket.ts';
import type { VirtualTime } from '../../test/worlds/virtual-time.ts';
import type { ModelledS3 } from './modelled-s3.ts';
import type { Quotas } from './quotas.ts';

/** A query as the engine runs it. Times are milliseconds since 1970. */
export interface EngineQuery {
  readonly report: number;
  readonly submittedAt: number;
  startedAt?: number;
  endedAt?: number;
  isCancelled?: boolean;
}

export interface ModelledAthena {
  /** Takes the place of the SDK's client. */
  readonly client: AthenaClient;
  readonly queries: ReadonlyMap<string, EngineQuery>;
  /** How often each operation was called, and how often it was refused. */
  readonly calls: Map<string, number>;
}

/** These figures are assumed. */
const LATENCY = { callMs: [30, 90], shownAfterMs: 100 } as const;

export interface AthenaLatency {
  /** The shortest and the longest time of a call. */
  readonly callMs: readonly [number, number];
  /** The time from a query's result to the moment at which its state shows the end. */
  readonly shownAfterMs: number;
}

/** How long the engine takes for a report, and the size of its result. */
export interface EngineWork {
  readonly queryMs: number;
  readonly resultBytes: number;
}

/** Models Athena's protocol and quotas. It runs queries in the order of their start, each for its planned time. */
export function modelledAthena(
  time: VirtualTime,
  { athena: quotas }: Pick<Quotas, 'athena'>,
  s3: Pick<ModelledS3, 'putResult'>,
  workOf: (report: number) => EngineWork,
  { callMs, shownAfterMs }: AthenaLatency = LATENCY,
): ModelledAthena {
  const queries = new Map<string, EngineQuery>();
  const byToken = new Map<string, string>();
  const calls = new Map<string, number>();
  const count = (name: string) => calls.set(name, (calls.get(name) ?? 0) + 1);
  const admits = { start: tokenBucket(quotas.start, time.now), get: tokenBucket(quotas.get, time.now) };
  const queue: string[] = [];
  let running = 0;

  const runNext = (): void => {
    while (running < quotas.slots && queue.length > 0) {
      const id = queue.shift() as string;
      running += 1;
      void runOne(id, queries.get(id) as EngineQuery);
    }
  };
  const runOne = async (id: string, query: EngineQuery): Promise<void> => {
    query.startedAt = time.now();
    const { queryMs, resultBytes } = workOf(query.report);
    await time.delay(queryMs);
    if (!query.isCancelled) {
      s3.putResult(`${RESULTS_PREFIX.athena}${id}.csv`, resultBytes);
      query.endedAt = time.now() + shownAfterMs;
    }
    running -= 1;
    runNext();
  };
  const activeQueries = () => running + queue.length;

  const start = ({ input }: StartQueryExecutionCommand): StartQueryExecutionOutput => {
    if (!admits.start()) throw refused('StartQueryExecution');
    const token = input.ClientRequestToken ?? '';
    const known = byToken.get(token);
    if (known !== undefined) return { QueryExecutionId: known };
    if (activeQueries() >= quotas.activeQueries) {
      count('StartQueryExecution refused');
      throw new TooManyRequestsException({ message: 'active queries', $metadata: { httpStatusCode: 400 } });
    }
    const id = `q${queries.size + 1}`;
    byToken.set(token, id);
    // Each report filters by its own id as `PlacementId`, so this literal says which report the query makes.
    queries.set(id, { report: Number(input.ExecutionParameters?.at(-1)), submittedAt: time.now() });
    queue.push(id);
    runNext();
    return { QueryExecutionId: id };
  };
  const get = ({ input }: GetQueryExecutionCommand): GetQueryExecutionCommandOutput => {
    if (!admits.get()) throw refused('GetQueryExecution');
    const id = input.QueryExecutionId ?? '';
    const query = queries.get(id) as EngineQuery;
    const hasEnded = query.endedAt !== undefined && query.endedAt <= time.now();
    const state = hasEnded ? 'SUCCEEDED' : query.startedAt === undefined ? 'QUEUED' : 'RUNNING';
    return {
      $metadata: {},
      QueryExecution: {
        Status: {
          State: query.isCancelled ? 'CANCELLED' : state,
          SubmissionDateTime: new Date(query.submittedAt),
          ...(query.endedAt !== undefined && hasEnded && { CompletionDateTime: new Date(query.endedAt) }),
        },
        ResultConfiguration: { OutputLocation: `s3://results/${RESULTS_PREFIX.athena}${id}.csv` },
      },
    };
  };
  const stop = ({ input }: StopQueryExecutionCommand) => {
    const query = queries.get(input.QueryExecutionId ?? '') as EngineQuery;
    // A query that is stopped while it runs keeps its slot for its planned time. Athena would free the slot sooner.
    query.isCancelled = true;
    query.endedAt = time.now();
    const at = queue.indexOf(input.QueryExecutionId ?? '');
    if (at >= 0) queue.splice(at, 1);
    return {};
  };
  const refused = (operation: string) => {
    count(`${operation} refused`);
    return new AthenaServiceException({
      name: 'ThrottlingException',
      message: 'Rate exceeded',
      $fault: 'client',
      $metadata: { httpStatusCode: 400 },
    });
  };

  const send = async (command: unknown): Promise<unknown> => {
    const [least, most] = callMs;
    await time.delay(least + Math.random() * (most - least));
    if (command instanceof StartQueryExecutionCommand) {
      count('StartQueryExecution');
      return start(command);
    }
    if (command instanceof GetQueryExecutionCommand) {
      count('GetQueryExecution');
      return get(command);
    }
    if (command instanceof StopQueryExecutionCommand) return stop(command);
    throw new Error('an unplanned call of Athena');
  };
  return { client: { send } as unknown as AthenaClient, queries, calls };
}
