import { setTimeout as delay } from 'node:timers/promises';
import { Unavailable } from '../answers/problem.ts';
import { RESULTS_PREFIX } from '../names.ts';
import type { Execution, QueryService, RunningExecution } from './execution.ts';
import { askAgainMs, nextAskMs, nextResultLookMs } from './pace.ts';
import type { ResultsBucket } from './results.ts';

/** What is watched. */
export interface WatchedQuery {
  readonly id: string;
  /** When it was started, as far as this request knows; undefined: ask at once. In milliseconds since 1970. */
  readonly startedAt: number | undefined;
  /** Set where another request has started it, and asked about it until a moment ago. */
  readonly isTakenOver?: boolean;
}

/** How long before it must be answered a request asks, at the latest, about a query that it has taken over. */
const LAST_ASK_MS = 50;

/** Times are milliseconds since 1970. */
export interface WatchTerms {
  /** When the request must be answered. */
  readonly waitUntil: number;
  /** Until when its caller waits. */
  readonly giveUpAt: number;
  /** How long an execution may take. */
  readonly longestQueryMs: number;
}

/**
 * Watches an execution for all who wait for it. Resolves to its state when it has ended or taken too long, or when the
 * request or its caller can't wait any more.
 */
export async function watchQuery(
  { queries, results }: { readonly queries: QueryService; readonly results: ResultsBucket },
  { id, startedAt, isTakenOver = false }: WatchedQuery,
  { waitUntil, giveUpAt, longestQueryMs }: WatchTerms,
): Promise<Execution> {
  let latest: RunningExecution = { state: 'under-way', id, submittedAt: startedAt ?? Date.now() };
  const ask = async (): Promise<Execution> => {
    try {
      return await queries.get(id);
    } catch (error) {
      // Athena could not answer. The query itself goes on.
      if (error instanceof Unavailable) return latest;
      throw error;
    }
  };
  const firstAskAt = () => {
    if (startedAt === undefined) return 0;
    if (!isTakenOver) return startedAt + nextAskMs(0, Math.random());
    // Each request asks at least once, but not as soon as it begins.
    return Math.min(Date.now() + nextAskMs(age(), Math.random()), waitUntil - LAST_ASK_MS);
  };
  const age = () => Date.now() - latest.submittedAt;
  // By Athena's time of submission as soon as it is known: a request that stopped watching before that time is up would
  // keep others from asking until its claim ends.
  const tooLongAt = () => Math.min(giveUpAt, latest.submittedAt + longestQueryMs);
  const ending = new AbortController();
  const appeared = resultAppears(results, id, { age, isTakenOver, signal: ending.signal });
  let hasAppeared = false;
  let askAt = firstAskAt();
  try {
    for (let asked = 0; ; ) {
      const pauseMs = Math.max(0, Math.min(askAt, tooLongAt(), waitUntil) - Date.now());
      if (hasAppeared) await delay(pauseMs);
      else hasAppeared = await Promise.race([delay(pauseMs, false), appeared]);
      if (Date.now() >= waitUntil && Date.now() < tooLongAt() && !hasAppeared) return latest;
      // A query that takes too long may have ended at the last moment: ask before it is given up.
      const execution = await ask();
      if (execution.state !== 'under-way') return execution;
      latest = execution;
      if (Date.now() >= Math.min(tooLongAt(), waitUntil)) return execution;
      askAt = Date.now() + (hasAppeared ? askAgainMs(asked++) : nextAskMs(age(), Math.random()));
    }
  } finally {
    ending.abort();
  }
}

/**
 * Resolves to true when the result lies where Athena puts it. This is a hint and no more: a result that is reused lies
 * elsewhere, and a query that fails has none.
 */
async function resultAppears(
  results: ResultsBucket,
  id: string,
  { age, isTakenOver, signal }: { age: () => number; isTakenOver: boolean; signal: AbortSignal },
): Promise<true> {
  const key = `${RESULTS_PREFIX.athena}${id}.csv`;
  // A query that is taken over may have ended while nobody looked: look at once.
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    if (!(isFirst && isTakenOver)) await delay(nextResultLookMs(age()));
    if (!signal.aborted && (await results.head(key).catch(() => undefined))) return true;
  }
  return new Promise(() => {});
}
