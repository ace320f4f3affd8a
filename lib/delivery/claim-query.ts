import { createHash } from 'node:crypto';
import type { Execution, QueryService } from '../aws/query-execution.ts';
import type { ResultsBucket } from '../aws/results-bucket.ts';
import { RESULTS_PREFIX } from '../names.ts';
import { isFresh } from './copy-freshness.ts';
import type { ReportOrder } from './report-order.ts';

/** A query execution that will answer an order, and whether another request had it started. */
export interface Claim {
  readonly execution: Execution;
  readonly joined: boolean;
}

interface LatestQuery {
  readonly queryExecutionId: string;
  /** In milliseconds since 1970. */
  readonly submittedAt: number;
}

export interface ClaimTerms {
  /** When the request came, in milliseconds since 1970. */
  readonly arrivedAt: number;
  /** How old an answer may be. */
  readonly maxAgeMs: number;
  /** How long a query may be under way. */
  readonly longestQueryMs: number;
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
  terms: ClaimTerms,
): Promise<Claim> {
  const { arrivedAt, after } = terms;
  const key = `${RESULTS_PREFIX.queries}${order.id}.json`;
  const stored = await results.read(key);
  const latest = stored?.document as LatestQuery | undefined;
  if (latest && latest.queryExecutionId !== after && mayDo(latest, order, terms)) {
    const execution = await queries.get(latest.queryExecutionId);
    if (execution && willDo(execution, order, terms)) return { execution, joined: true };
  }
  let previous = after ?? latest?.queryExecutionId;
  for (let start = 1; ; start++) {
    const id = await queries.start(order.query, tokenAfter(order, previous));
    const execution = await queries.get(id);
    if (!execution) throw new Error(`Athena doesn't know query ${id}, which it has just started`);
    const isOld = execution.completedAt > 0 && execution.completedAt < arrivedAt - CLOCK_SKEW_MS;
    if (!isOld || start === MOST_STARTS) {
      const record: LatestQuery = { queryExecutionId: id, submittedAt: execution.submittedAt };
      return { execution, joined: !(await results.writeIfStill(stored, key, record)) };
    }
    // Athena remembers tokens for a while, and whoever used this one did not get to record its execution.
    previous = id;
  }
}

/** Whether it is worth asking Athena: this morning's request need not ask after yesterday's query. */
const mayDo = ({ submittedAt }: LatestQuery, { windowEnd }: ReportOrder, terms: ClaimTerms): boolean =>
  terms.arrivedAt - submittedAt <= terms.longestQueryMs ||
  isFresh(submittedAt, windowEnd, terms.maxAgeMs, terms.arrivedAt);

const willDo = (execution: Execution, { windowEnd }: ReportOrder, terms: ClaimTerms): boolean =>
  execution.state === 'under-way' ||
  execution.completedAt >= terms.arrivedAt ||
  (execution.state === 'succeeded' &&
    isFresh(execution.submittedAt, windowEnd, terms.maxAgeMs, terms.arrivedAt));

/** 64 hexadecimal digits; Athena takes 32 to 128 characters. */
const tokenAfter = (order: ReportOrder, previous: string | undefined): string =>
  createHash('sha256')
    .update(`${order.id} ${previous ?? ''}`)
    .digest('hex');
