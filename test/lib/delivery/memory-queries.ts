import type { Execution, QueryService } from '../../../lib/delivery/execution.ts';
import type { CompiledQuery } from '../../../lib/report/compile-query.ts';
import { seconds } from '../../s3/memory-client.ts';
import type { MemoryBucket } from './memory-bucket.ts';

/** The usual result, as the engine writes it. */
export const ENGINE_CSV = '"Day","Clicks"\n"2026-01-01T00:00:00Z","1"\n';

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
}

interface Started {
  readonly id: string;
  readonly token: string;
  readonly query: CompiledQuery;
  readonly submittedAt: number;
  readonly plan: Plan;
  stoppedAt?: number;
}

/** A query engine in memory, and the calls that it got. */
export interface MemoryQueries extends QueryService {
  /** Starts a query, as another process would. Returns the execution's id. */
  startNow(query: CompiledQuery, token: string): string;
  readonly started: Started[];
  readonly stopped: string[];
  /** How often each execution was asked about. */
  readonly asked: Map<string, number>;
}

/** An engine that runs one execution for each plan. A start for which no plan is left throws. */
export function memoryQueries(bucket: MemoryBucket, plans: readonly Plan[]): MemoryQueries {
  const started: Started[] = [];
  const stopped: string[] = [];
  const asked = new Map<string, number>();
  const find = (id: string): Started => {
    const execution = started.find((each) => each.id === id);
    if (!execution) throw new Error(`unplanned call for ${id}`);
    return execution;
  };
  function startNow(query: CompiledQuery, token: string): string {
    if (!/^[\w-]{32,128}$/.test(token)) throw new Error(`unplanned token: ${token}`);
    const known = started.find((each) => each.token === token);
    if (known) return known.id;
    const plan = plans[started.length];
    if (!plan) throw new Error('unplanned start');
    const id = `q${started.length + 1}`;
    started.push({ id, token, query, submittedAt: Date.now(), plan });
    const { ends = 'succeeded', csv = ENGINE_CSV, afterMs = 0 } = plan;
    const finish = () => {
      if (ends === 'succeeded' && !plan.isLost && !plan.location && !stopped.includes(id))
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
    start: async (query, token) => startNow(query, token),
    startNow,
    async get(id) {
      asked.set(id, (asked.get(id) ?? 0) + 1);
      return stateOf(find(id));
    },
    async stop(id) {
      stopped.push(id);
      find(id).stoppedAt = Date.now();
    },
  };
}

function stateOf({ id, submittedAt, stoppedAt, plan }: Started): Execution {
  const { ends = 'succeeded', afterMs = 0, queuedMs = 0 } = plan;
  if (ends === 'forgotten') return { state: 'forgotten', id };
  const completedAt = ends === 'never' ? Number.POSITIVE_INFINITY : submittedAt + afterMs;
  const seen = { id, submittedAt, observedAt: seconds(Date.now()), bytesScanned: 1_000 };
  if (stoppedAt !== undefined && stoppedAt < completedAt) {
    const stopped = {
      ...seen,
      completedAt: stoppedAt,
      engineMs: Math.max(0, stoppedAt - submittedAt - queuedMs),
    };
    return { state: 'failed', ...stopped, reason: 'CANCELLED: x', isRetryable: false, isCancelled: true };
  }
  if (Date.now() < completedAt)
    return { state: 'under-way', ...seen, isQueued: Date.now() < submittedAt + queuedMs };
  const ended = { ...seen, completedAt, engineMs: 7 };
  if (ends === 'succeeded')
    return { state: ends, ...ended, location: plan.location ?? `s3://results/athena/${id}.csv` };
  if (ends === 'scan-limit-exceeded') return { state: ends, ...ended };
  return { state: 'failed', ...ended, reason: 'FAILED: boom', isRetryable: ends === 'retryable' };
}
