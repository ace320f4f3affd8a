import type { Execution, QueryService } from '../../../lib/delivery/execution.ts';
import type { CompiledQuery } from '../../../lib/report/compile-query.ts';
import type { MemoryBucket } from './memory-bucket.ts';

/** How an execution goes. */
export interface Plan {
  readonly ends?: 'succeeded' | 'failed' | 'retryable' | 'cut-off' | 'forgotten' | 'never';
  /** When it ends, after its start. */
  readonly afterMs?: number;
  /** The result's rows, as the engine writes them. */
  readonly csv?: string;
  /** The result's size, where it is not that of the rows. */
  readonly bytes?: number;
  /** Whether the result's file is gone. */
  readonly isLost?: boolean;
  /** Set where the engine ran it before: how long ago it ended. */
  readonly endedAgoMs?: number;
  /** Called when it is started. */
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
  readonly started: Started[];
  readonly stopped: string[];
  /** How often each execution was asked about. */
  readonly asked: Map<string, number>;
  /** Called before an execution's state is returned; an error of it is thrown by the call. */
  onGet: ((id: string) => void) | undefined;
}

/** An engine that runs one execution for each plan; a start beyond them fails the test. */
export function memoryQueries(bucket: MemoryBucket, plans: readonly Plan[]): MemoryQueries {
  const started: Started[] = [];
  const stopped: string[] = [];
  const stoppedAt = new Map<string, number>();
  const asked = new Map<string, number>();
  return {
    started,
    stopped,
    asked,
    onGet: undefined,
    async start(query, token) {
      if (!/^[\w-]{32,128}$/.test(token)) throw new Error(`unplanned token: ${token}`);
      const known = started.find((each) => each.token === token);
      if (known) return known.id;
      const plan = plans[started.length];
      if (!plan) throw new Error('unplanned start');
      const id = `q${started.length + 1}`;
      const submittedAt = Date.now() - (plan.endedAgoMs ?? 0) - (plan.endedAgoMs ? (plan.afterMs ?? 0) : 0);
      started.push({ id, token, query, submittedAt, plan });
      plan.onStart?.();
      const { ends = 'succeeded', csv = '"Day","Clicks"\n"2026-01-01T00:00:00Z","1"\n', afterMs = 0 } = plan;
      const finish = () => {
        if (ends === 'succeeded' && !plan.isLost)
          bucket.putResult(`s3://results/athena/${id}.csv`, csv, plan.bytes);
      };
      if (plan.endedAgoMs || afterMs === 0) finish();
      else setTimeout(finish, afterMs);
      return id;
    },
    async get(id) {
      asked.set(id, (asked.get(id) ?? 0) + 1);
      this.onGet?.(id);
      const execution = started.find((each) => each.id === id);
      if (!execution) throw new Error(`unplanned get of ${id}`);
      return stateOf(execution, stoppedAt.get(id));
    },
    async stop(id) {
      stopped.push(id);
      stoppedAt.set(id, Date.now());
    },
  };
}

function stateOf({ id, submittedAt, plan }: Started, stoppedAt: number | undefined): Execution {
  const { ends = 'succeeded', afterMs = 0 } = plan;
  const completedAt = stoppedAt ?? submittedAt + afterMs;
  const figures = { id, submittedAt, completedAt, bytesScanned: 1_000, engineMs: 7 };
  if (ends === 'forgotten') return { state: 'forgotten', id };
  if (stoppedAt) return { state: 'failed', ...figures, reason: 'CANCELLED: stopped', isRetryable: false };
  if (ends === 'never' || Date.now() < completedAt) return { state: 'under-way', id, submittedAt };
  switch (ends) {
    case 'succeeded':
      return { state: 'succeeded', ...figures, location: `s3://results/athena/${id}.csv` };
    case 'cut-off':
      return { state: 'cut-off', ...figures };
    default:
      return { state: 'failed', ...figures, reason: 'FAILED: boom', isRetryable: ends === 'retryable' };
  }
}
