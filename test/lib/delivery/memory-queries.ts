import type { Execution, QueryService } from '../../../lib/delivery/execution.ts';
import type { CompiledQuery } from '../../../lib/report/compile-query.ts';
import { type AwsClock, awsClock } from './aws-clock.ts';
import type { MemoryBucket } from './memory-bucket.ts';

/** How an execution runs and ends in the engine in memory. */
export interface Plan {
  readonly ends?: 'succeeded' | 'failed' | 'retryable' | 'scan-limit-exceeded' | 'forgotten' | 'never';
  /** How long the execution is queued before it runs, in milliseconds. */
  readonly queuedMs?: number;
  /** When the execution ends, in milliseconds after its start. */
  readonly afterMs?: number;
  /** The result's rows, as the engine writes them. */
  readonly csv?: string;
  /** The result's size, if it differs from that of `csv`. */
  readonly bytes?: number;
  /** Whether the result's file is gone. */
  readonly isLost?: boolean;
  /** The location that the engine reports for the result, if it is not the usual location. */
  readonly location?: string;
  /** Called when the execution starts. */
  readonly onStart?: () => void;
}

interface Started {
  readonly id: string;
  readonly token: string;
  readonly query: CompiledQuery;
  readonly submittedAt: number;
  readonly plan: Plan;
}

/** A query engine in memory, and the calls that it got. */
export interface MemoryQueries extends QueryService {
  /** Starts a query, as another process would. Returns the execution's id. */
  startNow(query: CompiledQuery, token: string): string;
  readonly started: Started[];
  readonly stopped: string[];
  /** How often each execution was asked about. */
  readonly asked: Map<string, number>;
  /** Called before an execution's state is returned. If it throws, `get` throws that error. */
  onGet: ((id: string) => void) | undefined;
}

/** The bytes scanned and the engine time of every execution in these tests. */
const FIGURES = { bytesScanned: 1_000, engineMs: 7 } as const;

/** An engine that runs one execution for each plan. A start for which no plan is left throws. */
export function memoryQueries(
  bucket: MemoryBucket,
  plans: readonly Plan[],
  clock: AwsClock = awsClock(),
): MemoryQueries {
  const started: Started[] = [];
  const stopped: string[] = [];
  const stoppedAt = new Map<string, number>();
  const asked = new Map<string, number>();
  function startNow(query: CompiledQuery, token: string): string {
    if (!/^[\w-]{32,128}$/.test(token)) throw new Error(`unplanned token: ${token}`);
    const known = started.find((each) => each.token === token);
    if (known) return known.id;
    const plan = plans[started.length];
    if (!plan) throw new Error('unplanned start');
    const id = `q${started.length + 1}`;
    started.push({ id, token, query, submittedAt: clock.now(), plan });
    plan.onStart?.();
    const { ends = 'succeeded', csv = '"Day","Clicks"\n"2026-01-01T00:00:00Z","1"\n', afterMs = 0 } = plan;
    const finish = () => {
      if (ends === 'succeeded' && !plan.isLost && !plan.location && !stoppedAt.has(id))
        bucket.putResult(`s3://results/athena/${id}.csv`, csv, plan.bytes);
    };
    if (afterMs === 0) finish();
    else setTimeout(finish, afterMs);
    return id;
  }

  return {
    started,
    stopped,
    asked,
    onGet: undefined,
    start: async (query, token) => startNow(query, token),
    startNow,
    async get(id) {
      asked.set(id, (asked.get(id) ?? 0) + 1);
      this.onGet?.(id);
      const execution = started.find((each) => each.id === id);
      if (!execution) throw new Error(`unplanned get of ${id}`);
      return stateOf(execution, stoppedAt.get(id), clock);
    },
    async stop(id) {
      stopped.push(id);
      stoppedAt.set(id, clock.now());
    },
  };
}

function stateOf(
  { id, submittedAt, plan }: Started,
  stoppedAt: number | undefined,
  clock: AwsClock,
): Execution {
  const { ends = 'succeeded', afterMs = 0, queuedMs = 0 } = plan;
  if (ends === 'forgotten') return { state: 'forgotten', id };
  const endsAt = ends === 'never' ? Number.POSITIVE_INFINITY : submittedAt + afterMs;
  const now = clock.now();
  const [observedAt, { bytesScanned, engineMs }] = [clock.date(), FIGURES];
  if (stoppedAt !== undefined && stoppedAt < endsAt) {
    const ranMs = Math.max(0, stoppedAt - submittedAt - queuedMs);
    const figures = { id, submittedAt, completedAt: stoppedAt, observedAt, bytesScanned, engineMs: ranMs };
    return { state: 'failed', ...figures, reason: 'CANCELLED: x', isRetryable: false, isCancelled: true };
  }
  if (now < endsAt)
    return {
      state: 'under-way',
      id,
      submittedAt,
      observedAt,
      isQueued: now < submittedAt + queuedMs,
      bytesScanned,
    };
  const figures = { id, submittedAt, completedAt: endsAt, observedAt, bytesScanned, engineMs };
  switch (ends) {
    case 'succeeded':
      return { state: 'succeeded', ...figures, location: plan.location ?? `s3://results/athena/${id}.csv` };
    case 'scan-limit-exceeded':
      return { state: 'scan-limit-exceeded', ...figures };
    default:
      return { state: 'failed', ...figures, reason: 'FAILED: boom', isRetryable: ends === 'retryable' };
  }
}
