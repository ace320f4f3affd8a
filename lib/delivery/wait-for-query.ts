import { setTimeout as delay } from 'node:timers/promises';
import type { Execution, QueryService } from './query-execution.ts';

/**
 * Asks at intervals that grow with the query's age: a short one is noticed within milliseconds, a long one loses
 * at most this share of its time, and costs a few dozen calls of the account's 100 a second.
 */
const FIRST_INTERVAL_MS = 20;
const INTERVAL_SHARE = 0.08;
const LONGEST_INTERVAL_MS = 2_000;

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
