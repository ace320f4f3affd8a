import { type AthenaClient, AthenaServiceException, TooManyRequestsException } from '@aws-sdk/client-athena';
import { resultKey } from '../../lib/results/keys.ts';
import { tokenBucket } from '../../local/token-bucket.ts';
import {
  type AthenaCalls,
  answerTo,
  type MemoryQuery,
  memoryAthena,
} from '../../test/athena/memory-athena.ts';
import type { VirtualTime } from '../../test/worlds/virtual-time.ts';
import type { ModelledS3 } from './modelled-s3.ts';
import type { Quotas } from './quotas.ts';

/** A query, and the report that it makes. */
export interface EngineQuery extends MemoryQuery {
  readonly report: number;
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

/** Athena in memory with its quotas. It runs queries in the order of their start, each for its planned time. */
export function modelledAthena(
  time: VirtualTime,
  { athena: quotas }: Pick<Quotas, 'athena'>,
  s3: Pick<ModelledS3, 'putResult'>,
  workOf: (report: number) => EngineWork,
  { callMs: [least, most], shownAfterMs }: AthenaLatency = LATENCY,
): ModelledAthena {
  const calls = new Map<string, number>();
  const count = (name: string) => calls.set(name, (calls.get(name) ?? 0) + 1);
  const admits = new Map([
    ['StartQueryExecution', tokenBucket(quotas.start, time.now)],
    ['GetQueryExecution', tokenBucket(quotas.get, time.now)],
  ]);
  const athena = memoryAthena<EngineQuery>(time.now, quotas, (query) => {
    const { queryMs, resultBytes } = workOf(query.report);
    time.silentlyAfter(queryMs, () => {
      if (query.state !== 'RUNNING') return;
      s3.putResult(resultKey(query.id), resultBytes);
      athena.end(query, 'SUCCEEDED', shownAfterMs);
    });
  });

  const start: AthenaCalls<void>['start'] = (compiled, token) => {
    const earlier = athena.queryOf(token);
    if (earlier) return earlier.id;
    if (athena.active().length >= quotas.activeQueries) {
      count('StartQueryExecution refused');
      throw new TooManyRequestsException({ message: 'active queries', $metadata: { httpStatusCode: 400 } });
    }
    // Each report filters by its own id as `PlacementId`, so this literal says which report the query makes.
    const query = athena.submit(compiled, token, { report: Number(compiled.parameters.at(-1)) });
    athena.enqueue(query);
    return query.id;
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
  const send = async (command: object): Promise<object> => {
    await time.delay(least + Math.random() * (most - least));
    const operation = command.constructor.name.replace('Command', '');
    count(operation);
    if (admits.get(operation)?.() === false) throw refused(operation);
    return { ...answerTo({ ...athena, start }, command, undefined), $metadata: {} };
  };
  return { client: { send } as unknown as AthenaClient, queries: athena.queries, calls };
}
