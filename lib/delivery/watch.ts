import { setTimeout as delay } from 'node:timers/promises';
import { Unavailable } from '../problems/problem.ts';
import { leaseLeftMs, type OpenRecord } from '../results/job-record.ts';
import { jobRecordKey, resultKey } from '../results/keys.ts';
import type { StoredDocument } from '../results/results-bucket.ts';
import type { DeliveryBackends, DeliveryTerms, Run, Target } from './delivery.ts';
import { DATE_ERROR_MS, type Execution, limitLeftMs, type RunFacts } from './execution.ts';
import { askAgainMs, nextAskMs, nextRecordLookMs, nextResultLookMs } from './pace.ts';

/** An execution to watch. */
export interface WatchedExecution extends RunFacts {
  readonly id: string;
  /** How long Athena has had the query. */
  readonly elapsedMs: number;
  /** Whether this request took the execution over from another request. */
  readonly isTakenOver: boolean;
}

/** The state of an execution when the watch ends. */
export interface WatchedState<T> extends RunFacts {
  /** Undefined if Athena has not answered. */
  readonly execution: Execution | undefined;
  /** How long Athena has had the query now. */
  readonly elapsedMs: number;
  /** The work that was begun when the result was seen. */
  readonly begun: T | undefined;
}

/**
 * A request that has taken over a query asks Athena at least this long before its own answer is due. Athena answers in
 * a tenth of a second, so there is time for a second try.
 */
const LAST_ASK_MS = 1_500;

/**
 * Watches an execution for all the requests that wait for it, until the execution has ended or taken too long, or until
 * the request or its caller can't wait any more.
 *
 * @param begin called at most once: when the result is seen at its usual key
 */
export async function watchExecution<T>(
  { queries, results }: Pick<DeliveryBackends, 'queries' | 'results'>,
  { id, elapsedMs, runningAt: runningBefore, hasRun: ranBefore, isTakenOver }: WatchedExecution,
  terms: Pick<DeliveryTerms, 'waitUntil' | 'giveUpAt' | 'longestQueryMs' | 'longestQueueMs'>,
  begin: () => T,
): Promise<WatchedState<T>> {
  const began = Date.now();
  let ageAtBegin = elapsedMs;
  const ageMs = () => ageAtBegin + Date.now() - began;
  const mustAnswerAt = Math.min(terms.waitUntil, terms.giveUpAt);
  let execution: Execution | undefined;
  let runningAt = runningBefore;
  let hasRun = ranBefore;
  let begun: T | undefined;
  let tooLongAt = began + terms.longestQueryMs - elapsedMs;
  let askAt = began + nextAskMs(ageMs(), Math.random());
  // A request that has taken over the query asks Athena at least once.
  if (isTakenOver) askAt = Math.min(askAt, terms.waitUntil - LAST_ASK_MS);

  const ending = new AbortController();
  const appeared = resultAppears();
  let hasAppeared = false;
  try {
    for (let asked = 0; ; ) {
      const pauseMs = Math.max(0, Math.min(askAt, tooLongAt, mustAnswerAt) - Date.now());
      if (hasAppeared) await delay(pauseMs);
      else hasAppeared = await Promise.race([delay(pauseMs, false), appeared]);
      if (hasAppeared) begun ??= begin();
      const isTimeUp = Date.now() >= mustAnswerAt;
      if (isTimeUp && !hasAppeared && Date.now() < Math.min(tooLongAt, terms.giveUpAt)) break;
      // A query that takes too long may have ended at the last moment: ask before giving it up.
      execution = await ask();
      if (execution?.state === 'under-way') {
        ageAtBegin = Math.max(
          ageAtBegin,
          execution.observedAt - execution.submittedAt - (Date.now() - began),
        );
        // Athena sometimes puts a query back into its queue: then the running time counts from the beginning again.
        runningAt = execution.isQueued ? undefined : (runningAt ?? execution.observedAt);
        hasRun ||= !execution.isQueued;
        const leftMs = limitLeftMs(execution, { ...terms, runningAt, hasRun });
        if (leftMs <= 0) break;
        tooLongAt = Date.now() + Math.max(leftMs, DATE_ERROR_MS);
      } else if (execution) break;
      if (Date.now() >= mustAnswerAt) break;
      askAt = Date.now() + (hasAppeared ? askAgainMs(asked++) : nextAskMs(ageMs(), Math.random()));
      // Athena did not answer. Wait until `askAt`, instead of asking again at once.
      if (!execution) tooLongAt = Math.max(tooLongAt, Math.min(askAt, mustAnswerAt));
    }
    return { execution, runningAt, hasRun, elapsedMs: ageMs(), begun };
  } finally {
    ending.abort();
  }

  async function ask(): Promise<Execution | undefined> {
    try {
      return await queries.get(id);
    } catch (error) {
      // Athena could not answer. The query itself goes on.
      if (error instanceof Unavailable) return execution;
      throw error;
    }
  }

  /**
   * Resolves to true when the result appears at its usual key. This is only a hint: a result that Athena reuses has
   * another key, and a failed query has no result.
   */
  async function resultAppears(): Promise<true> {
    // A query that this request takes over may have ended before: look at once.
    for (let tookMs = 0, isFirst = true; !ending.signal.aborted; isFirst = false) {
      if (!(isFirst && isTakenOver)) await delay(nextResultLookMs(ageMs(), tookMs));
      if (ending.signal.aborted) break;
      const lookedAt = Date.now();
      if (await results.head(resultKey(id)).catch(() => undefined)) return true;
      tookMs = Date.now() - lookedAt;
    }
    return new Promise(() => {});
  }
}

/** The longest random pause of a waiting request after the lease has ended, before it takes the attempt over. */
const TAKE_OVER_MS = 1_000;

/**
 * Reads the record repeatedly: until the record changes, until a random pause after its lease's end is over, or until
 * the time of this request or of its caller is up. Resolves to the document that was read last.
 */
export async function watchRecord(
  { backends, terms }: Run,
  { job }: Target,
  seen: StoredDocument,
  record: OpenRecord,
): Promise<StoredDocument | undefined> {
  const began = Date.now();
  const ageAtBegin = seen.ageMs + (record.state === 'under-way' ? record.elapsedMs : 0);
  // A random pause, so that waiting requests don't all take over at the same time.
  const leaseEnd = began + leaseLeftMs(record, seen.ageMs) + Math.random() * TAKE_OVER_MS;
  const end = Math.min(leaseEnd, terms.waitUntil, terms.giveUpAt);
  let stored: StoredDocument | undefined = seen;
  let tookMs = 0;
  for (let now = began; now < end && stored?.etag === seen.etag; now = Date.now()) {
    await delay(Math.min(nextRecordLookMs(ageAtBegin + now - began, tookMs, Math.random()), end - now));
    const lookedAt = Date.now();
    stored = await backends.results.read(jobRecordKey(job));
    tookMs = Date.now() - lookedAt;
  }
  return stored;
}
