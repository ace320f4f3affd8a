import { setTimeout as delay } from 'node:timers/promises';
import { Unavailable } from '../problems/problem.ts';
import { AGE_ERROR_MS, type RecordIn } from '../results/job-record.ts';
import { jobRecordKey, resultKey } from '../results/keys.ts';
import type { StoredDocument } from '../results/results-bucket.ts';
import type { DeliveryBackends, DeliveryTerms, Run } from './delivery.ts';
import { type Execution, limitLeftMs } from './execution.ts';
import type { Job } from './job.ts';
import { askAgainMs, nextAskMs, nextResultLookMs } from './pace.ts';

/** What a watch has learnt when it ends. */
export interface Watched<T> {
  /** Undefined if Athena has not answered. */
  readonly execution: Execution | undefined;
  /** The record, with what the next request that asks Athena must know: how long Athena has had the query, and so on. */
  readonly record: RecordIn<'under-way'>;
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
  terms: Pick<DeliveryTerms, 'waitUntil' | 'giveUpAt' | 'longestQueryMs' | 'longestQueueMs'>,
  record: RecordIn<'under-way'>,
  isTakenOver: boolean,
  begin: () => T,
): Promise<Watched<T>> {
  const { executionId } = record;
  const began = Date.now();
  let ageAtBegin = record.elapsedMs;
  const ageMs = () => ageAtBegin + Date.now() - began;
  const mustAnswerAt = Math.min(terms.waitUntil, terms.giveUpAt);
  let { runningAt, hasRun } = record;
  let execution: Execution | undefined;
  let begun: T | undefined;
  let tooLongAt = began + terms.longestQueryMs - ageAtBegin;
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
        const { observedAt, submittedAt, isQueued } = execution;
        ageAtBegin = Math.max(ageAtBegin, observedAt - submittedAt - (Date.now() - began));
        // Athena sometimes puts a query back into its queue: then the running time counts from the beginning again.
        runningAt = isQueued ? undefined : (runningAt ?? observedAt);
        hasRun ||= !isQueued || undefined;
        const leftMs = limitLeftMs(execution, terms, { runningAt, hasRun });
        if (leftMs <= 0) break;
        tooLongAt = Date.now() + Math.max(leftMs, AGE_ERROR_MS);
      } else if (execution) break;
      if (Date.now() >= mustAnswerAt) break;
      askAt = Date.now() + (hasAppeared ? askAgainMs(asked++) : nextAskMs(ageMs(), Math.random()));
      // Athena did not answer. Wait until `askAt`, instead of asking again at once.
      if (!execution) tooLongAt = Math.max(tooLongAt, Math.min(askAt, mustAnswerAt));
    }
    return { execution, record: { ...record, runningAt, hasRun, elapsedMs: ageMs() }, begun };
  } finally {
    ending.abort();
  }

  async function ask(): Promise<Execution | undefined> {
    try {
      return await queries.get(executionId);
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
      if (await results.head(resultKey(executionId)).catch(() => undefined)) return true;
      tookMs = Date.now() - lookedAt;
    }
    return new Promise(() => {});
  }
}

/**
 * Reads the job's record repeatedly, until it is no longer the one that was seen, or until the time `until`. Resolves to
 * the document that was read last.
 *
 * @param pauseMs the pause before the next read: `waitedMs` after the first one, when S3 took `tookMs` to answer last
 */
export async function watchRecord(
  { backends: { results } }: Run,
  job: Job,
  seen: StoredDocument | undefined,
  until: number,
  pauseMs: (waitedMs: number, tookMs: number) => number,
): Promise<StoredDocument | undefined> {
  const began = Date.now();
  let stored = seen;
  let tookMs = 0;
  for (let now = began; now < until && stored?.etag === seen?.etag; now = Date.now()) {
    await delay(Math.min(pauseMs(now - began, tookMs), until - now));
    const lookedAt = Date.now();
    stored = await results.read(jobRecordKey(job));
    tookMs = Date.now() - lookedAt;
  }
  return stored;
}
