import { createHash } from 'node:crypto';
import { RESULTS_PREFIX } from '../names.ts';
import { isFresh } from './copy-freshness.ts';
import type { Execution, QueryService } from './query-execution.ts';
import type { ReportOrder } from './report-order.ts';
import type { ResultsBucket } from './results-bucket.ts';

/** A query execution that will answer an order, and whether another request had it started. */
export interface Claim {
  readonly execution: Execution;
  readonly joined: boolean;
}

interface LatestQuery {
  readonly queryExecutionId: string;
}

export interface ClaimTerms {
  /** When the request came, in milliseconds since 1970. */
  readonly arrivedAt: number;
  /** How old an answer may be. */
  readonly maxAgeMs: number;
  /** A failed execution: what is claimed must come after it. */
  readonly after?: string;
}

/** By how much the engine's clock may run behind ours. */
const CLOCK_SKEW_MS = 1_000;
const MOST_STARTS = 3;

/**
 * Joins the order's latest execution where its answer will do, else starts the next one. Whoever starts the
 * successor of one execution, on whatever machine, uses the same token, so that Athena starts it once.
 */
export async function claimQuery(
  { queries, results }: { readonly queries: QueryService; readonly results: ResultsBucket },
  order: ReportOrder,
  { arrivedAt, maxAgeMs, after }: ClaimTerms,
): Promise<Claim> {
  const key = `${RESULTS_PREFIX.queries}${order.id}.json`;
  const latest = await results.read(key);
  let previous = after ?? (latest?.document as LatestQuery | undefined)?.queryExecutionId;
  if (previous !== undefined && previous !== after) {
    const execution = await queries.get(previous);
    const willDo =
      execution &&
      (execution.state === 'under-way' ||
        execution.completedAt >= arrivedAt ||
        (execution.state === 'succeeded' &&
          isFresh(execution.submittedAt, order.windowEnd, maxAgeMs, arrivedAt)));
    if (willDo) return { execution, joined: true };
  }
  for (let start = 1; ; start++) {
    const id = await queries.start(order.query, tokenAfter(order, previous));
    const execution = await queries.get(id);
    if (!execution) throw new Error(`Athena doesn't know query ${id}, which it has just started`);
    const isOld = execution.completedAt > 0 && execution.completedAt < arrivedAt - CLOCK_SKEW_MS;
    if (!isOld || start === MOST_STARTS) {
      const written = await results.writeIfStill(latest, key, { queryExecutionId: id } satisfies LatestQuery);
      return { execution, joined: !written };
    }
    // Athena remembers tokens for a while, and whoever used this one did not get to record its execution.
    previous = id;
  }
}

/** 64 hexadecimal digits; Athena takes 32 to 128 characters. */
const tokenAfter = (order: ReportOrder, previous: string | undefined): string =>
  createHash('sha256')
    .update(`${order.id} ${previous ?? ''}`)
    .digest('hex');
