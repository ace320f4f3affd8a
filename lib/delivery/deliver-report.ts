import { ReportTooLarge, Unavailable } from '../answers/problem.ts';
import { patiently } from '../aws/patiently.ts';
import type { Execution, QueryService } from '../aws/query-execution.ts';
import type { ResultsBucket } from '../aws/results-bucket.ts';
import type { Config } from '../config.ts';
import { type Claim, claimQuery } from './claim-query.ts';
import { isFresh } from './copy-freshness.ts';
import { awaitPublication } from './large-publication.ts';
import { publishReport, queriedAt } from './publish-report.ts';
import { QueryFailed } from './query-failed.ts';
import type { ReportOrder } from './report-order.ts';
import { waitForQuery } from './wait-for-query.ts';

export interface DeliveryParts {
  readonly config: Config;
  readonly queries: QueryService;
  readonly results: ResultsBucket;
}

/** How the answer relates to earlier ones, in the words of RFC 9211. */
export type CacheStatus = 'hit' | 'miss' | 'collapsed';

/** A report on its way: what one request leaves to the next. */
export interface Progress {
  readonly executionId: string;
  readonly cacheStatus: CacheStatus;
  /** A failed query is tried once more, not twice. */
  readonly retried: boolean;
}

/** Where a delivery stands when its request must be answered, and what the log says of it. */
export interface Delivery {
  readonly isPublished: boolean;
  readonly cacheStatus: CacheStatus;
  /** Set where there is, or was, a query. */
  readonly progress?: Progress;
  readonly execution?: Execution;
}

/** What a report's function re-types while the caller waits: a second's work. */
const INLINE_BYTES = 16 * 1024 * 1024;

/** Long enough for a 10-minute query to be over when the caller comes back. */
const RETRY_AFTER_SECONDS = 60;

/**
 * Sees to it that the order's report is published, as far as that can be done by the deadline (contract 4.2): from
 * its copy if that is fresh, else by a query that is joined or started. Throws ReportTooLarge, Unavailable or
 * QueryFailed.
 *
 * @param deadline in milliseconds since 1970
 * @param progress what an earlier request left, if there was one
 */
export async function deliverReport(
  parts: DeliveryParts,
  order: ReportOrder,
  deadline: number,
  progress?: Progress,
): Promise<Delivery> {
  const { config, queries, results } = parts;
  const arrivedAt = Date.now();
  const { reportMaxAgeMs: maxAgeMs, longestQueryMs } = config;

  if (!progress && maxAgeMs > 0) {
    const copied = await queriedAt(results, order);
    if (copied !== undefined && isFresh(copied, order.windowEnd, maxAgeMs, arrivedAt))
      return { isPublished: true, cacheStatus: 'hit' };
  }

  const claim = (after?: string): Promise<Claim> =>
    patiently(deadline, () =>
      claimQuery(parts, order, { arrivedAt, maxAgeMs, longestQueryMs, ...(after && { after }) }),
    );
  let execution: Execution;
  let { cacheStatus, retried } = progress ?? { cacheStatus: 'miss', retried: false };
  if (progress) execution = await patiently(deadline, () => theOneOf(queries, progress));
  else {
    const claimed = await claim();
    execution = claimed.execution;
    if (claimed.joined) cacheStatus = 'collapsed';
  }

  for (;;) {
    const giveUpAt = execution.submittedAt + config.longestQueryMs;
    execution = await patiently(deadline, () =>
      waitForQuery(queries, execution, Math.min(deadline, giveUpAt)),
    );
    const delivery = (isPublished: boolean): Delivery => ({
      isPublished,
      cacheStatus,
      execution,
      progress: { executionId: execution.id, cacheStatus, retried },
    });
    if (execution.state === 'succeeded')
      return delivery(
        await patiently(deadline, () => publish(results, order, execution, cacheStatus, deadline)),
      );
    if (execution.state === 'under-way' && Date.now() < giveUpAt) return delivery(false);
    if (execution.state !== 'failed' && Date.now() >= giveUpAt) {
      // Of several who wait, the first stops it and the others see it cancelled.
      if (execution.state === 'under-way') await patiently(deadline, () => queries.stop(execution.id));
      throw new Unavailable(
        'The report took too long and was given up. Narrow it, or request it later.',
        RETRY_AFTER_SECONDS,
      );
    }
    // Athena gives the workgroup's cut-off no code of its own, just this sentence.
    if (execution.reason.includes('Bytes scanned limit was exceeded')) throw new ReportTooLarge();
    if (!execution.retryable || retried)
      throw new QueryFailed(`query ${execution.id} ${execution.state}: ${execution.reason}`);
    retried = true;
    execution = (await claim(execution.id)).execution;
  }
}

async function theOneOf(queries: QueryService, { executionId }: Progress): Promise<Execution> {
  const execution = await queries.get(executionId);
  if (!execution) throw new QueryFailed(`query ${executionId} is not known to Athena any more`);
  return execution;
}

/** Publishes a small result here and now, and leaves a large one to the function with the time for it. */
async function publish(
  results: ResultsBucket,
  order: ReportOrder,
  execution: Execution,
  cacheStatus: CacheStatus,
  deadline: number,
): Promise<boolean> {
  // Of many who joined a query, most find that another has published its result.
  if (cacheStatus === 'collapsed' && ((await queriedAt(results, order)) ?? 0) >= execution.submittedAt)
    return true;
  return (
    (await publishReport(results, order, execution, INLINE_BYTES)) ||
    awaitPublication(results, { order, execution }, deadline)
  );
}
