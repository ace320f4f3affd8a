import { expect } from 'vitest';
import { executionOf } from '../../../lib/aws/athena-queries.ts';
import type { QueryService } from '../../../lib/delivery/execution.ts';
import type { CompiledQuery } from '../../../lib/report/compile-query.ts';
import { resultKey } from '../../../lib/results/keys.ts';
import { type MemoryQuery, memoryAthena } from '../../athena/memory-athena.ts';
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

/** Acts after a time; at once if there is none. */
const after = (ms: number, act: () => void): void => void (ms === 0 ? act() : setTimeout(act, ms));

/** An engine that runs one execution for each plan, and its calls. A start for which no plan is left throws. */
export function memoryQueries(bucket: MemoryBucket, plans: readonly Plan[]) {
  const stopped: string[] = [];
  /** How often each execution was asked about. */
  const asked = new Map<string, number>();
  const now = () => Date.now();
  const athena = memoryAthena<MemoryQuery & { plan: Plan }>(now, { slots: plans.length }, (query) => {
    const { ends = 'succeeded', csv = ENGINE_CSV, afterMs = 0, queuedMs = 0, ...plan } = query.plan;
    if (ends === 'never') return;
    after(afterMs - queuedMs, () => {
      if (query.state !== 'RUNNING') return;
      const isSuccess = ends === 'succeeded';
      if (plan.location) query.location = plan.location;
      else if (isSuccess && !plan.isLost)
        bucket.putResult(`s3://results/${resultKey(query.id)}`, csv, plan.bytes);
      const reason = ends === 'scan-limit-exceeded' ? 'Bytes scanned limit was exceeded' : 'boom';
      if (!isSuccess) Object.assign(query, { reason, isRetryable: ends === 'retryable' });
      athena.end(query, isSuccess ? 'SUCCEEDED' : 'FAILED');
    });
  });
  /** Starts a query, as another process would. Returns the execution's id. */
  function startNow(compiled: CompiledQuery, token: string): string {
    const earlier = athena.queryOf(token);
    if (earlier) return earlier.id;
    const plan = plans[athena.queries.size];
    if (!plan) throw new Error('unplanned start');
    const query = athena.submit(compiled, token, { plan });
    if (plan.ends === 'forgotten') query.forgottenAt = now();
    after(plan.queuedMs ?? 0, () => athena.enqueue(query));
    return query.id;
  }
  const planned = (id: string) => (athena.queries.has(id) ? id : expect.unreachable(`unplanned: ${id}`));
  return {
    get started() {
      return [...athena.queries.values()];
    },
    stopped,
    asked,
    start: async (query, token): Promise<string | undefined> => startNow(query, token),
    startNow,
    async get(id) {
      asked.set(planned(id), (asked.get(id) ?? 0) + 1);
      return executionOf(id, athena.get(id), seconds(now()));
    },
    async stop(id) {
      stopped.push(planned(id));
      athena.stop(id);
    },
  } satisfies QueryService & Record<string, unknown>;
}
