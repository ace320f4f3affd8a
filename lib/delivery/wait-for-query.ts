import { setTimeout as delay } from 'node:timers/promises';
import type { Execution, QueryService } from '../aws/query-execution.ts';

/**
 * Asks at intervals that grow with the query's age: a short query is noticed within milliseconds, a longer one
 * loses at most this share of its time, and none more than the longest interval. Athena answers 100 such calls a
 * second for an account: beyond 25 long queries at a time it throttles, and the calls are repeated more slowly.
 */
const FIRST_INTERVAL_MS = 20;
const INTERVAL_SHARE = 0.045;
const LONGEST_INTERVAL_MS = 250;

/** Waits until the execution has ended or the deadline has come; resolves to what it is then. */
export async function waitForQuery(
  queries: QueryService,
  execution: Execution,
  deadline: number,
): Promise<Execution> {
  let latest = execution;
  while (latest.state === 'under-way') {
    const now = Date.now();
    if (now >= deadline) break;
    const interval = Math.max(FIRST_INTERVAL_MS, (now - latest.submittedAt) * INTERVAL_SHARE);
    await delay(Math.min(interval, LONGEST_INTERVAL_MS, deadline - now));
    latest = (await queries.get(latest.id)) ?? latest;
  }
  return latest;
}
