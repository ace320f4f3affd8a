/** The request that holds an attempt's lease asks Athena for all who wait, from start to end. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { begun } from '../begun.ts';
import { Unavailable } from '../problems/problem.ts';
import {
  AGE_ERROR_MS,
  type EndedRecord,
  type JobRecord,
  type OpenRecord,
  type RecordIn,
  readRecord,
} from '../results/job-record.ts';
import { jobRecordKey, resultKey } from '../results/keys.ts';
import type { StoredDocument } from '../results/results-bucket.ts';
import type { Decision } from './decide.ts';
import type { DeliveryTerms, FinishedQuery, Run, Wait } from './delivery.ts';
import { type EarlyReads, endOf, readEarly } from './end.ts';
import { type Execution, limitLeftMs } from './execution.ts';
import { askAgainMs, nextAskMs, nextResultLookMs } from './pace.ts';

/** A decision by which a request asks Athena. */
export type Leading = Extract<Decision, { next: 'start' | 'take-over' }>;

/**
 * Creates or takes over an attempt before Athena is called, so that only one of many concurrent requests calls Athena,
 * then asks Athena until the query ends, and records the end. Resolves to the record as it is stored then; to undefined
 * if it must be read; to `time-is-up` if the request must answer first. On an error, another may ask at once.
 * @param slot the id of the slot that was taken for the query
 */
export async function leadAttempt(
  wait: Wait,
  decision: Leading,
  slot: string | undefined,
): Promise<StoredDocument | 'time-is-up' | undefined> {
  const { backends, terms, note, job, stored: was } = wait;
  const { queries, results } = backends;
  const key = jobRecordKey(job);
  let open = openRecord(wait, decision, slot);
  const created = await (was ? results.replace(was, key, open) : results.create(key, open));
  if (!created) return undefined;
  // The caller waits for this attempt from now on, and no longer for a slot.
  wait.hasWaited = true;
  wait.waitsForSlot = false;
  const isOwn = decision.next === 'start';
  if (isOwn) wait.own = open.attempt;
  /** The record in the bucket after this request's last write; undefined if another request has changed it. */
  let stored: Promise<StoredDocument | undefined> = Promise.resolve(created);
  const write = (record: JobRecord): typeof stored => {
    const previous = stored;
    const written = begun(previous.then((own) => own && results.replace(own, key, record)));
    // If the write failed, perhaps the previous record is still there.
    stored = written.catch(() => previous);
    return written;
  };
  /** Gives up the lease, and passes on what is known about the query. */
  const release = () => {
    open = { ...open, ...signed(), leaseMs: undefined };
    return write(open);
  };

  try {
    if (open.state === 'starting') {
      let executionId = await queries.start(job.query, open.attempt);
      if (executionId === undefined) {
        // The token belongs to another query, so this attempt takes a new one.
        open = { ...open, ...signed(), attempt: randomUUID() };
        if (!(await write(open))) return undefined;
        if (isOwn) wait.own = open.attempt;
        executionId = await queries.start(job.query, open.attempt);
      }
      if (executionId === undefined) throw new Error('Athena knows the token of a new attempt');
      open = { ...open, ...signed(), ...leaseOf(terms), state: 'under-way', executionId, elapsedMs: 0 };
      // The record is written while the query runs.
      write(open);
    }
    const { executionId } = open;
    note({ queryExecutionId: executionId });
    let early: EarlyReads | undefined;
    const { execution, record } = await watchExecution(wait, open, !isOwn, () => {
      early = readEarly(wait, executionId);
    });
    const answeredAt = Date.now();
    open = record;
    if (!(await stored)) return undefined;
    if (execution?.state === 'under-way') {
      // Athena may throttle the stop for longer than the lease lasts. Who takes over must know who cancelled the query.
      open = { ...record, isStopped: true };
      if (!(await release())) return undefined;
      await queries.stop(executionId);
    }
    const end = execution ? await endOf(wait, record, execution, early, answeredAt) : 'time-is-up';
    if (end === 'time-is-up') {
      await release().catch(() => {});
      return end;
    }
    const isForgotten = execution?.state === 'forgotten';
    if (!isForgotten) note(endFacts(end));
    const written = await write(end);
    const latest = written ?? (await results.read(key));
    // The request that records the end counts the query, so that none is counted twice. If S3's answer was lost, perhaps
    // a publication has changed the record since, or another attempt has taken its place.
    const { writer, follows } = readRecord(latest) ?? {};
    const isRecorded = written !== undefined || writer === end.writer || follows === end.writer;
    if (isRecorded && !isForgotten) note({ finishedQueries: [finishedQuery(end)] });
    return latest;
  } catch (error) {
    if (open.leaseMs !== undefined) await release().catch(() => {});
    throw error;
  }
}

const signed = () => ({ form: 2, writer: randomUUID() }) as const;

const leaseOf = ({ waitUntil }: DeliveryTerms) => ({ leaseMs: Math.max(0, waitUntil - Date.now()) });

/** The record of a new attempt, or of one that this request takes over. */
function openRecord({ stored, job, terms }: Wait, decision: Leading, slot: string | undefined): OpenRecord {
  const mine = { ...signed(), ...leaseOf(terms), ...(slot !== undefined && { slot }) };
  if (decision.next === 'take-over') {
    const { record } = decision;
    if (record.state === 'starting') return { ...record, ...mine };
    return { ...record, ...mine, elapsedMs: record.elapsedMs + (stored?.ageMs ?? 0) };
  }
  const follows = readRecord(stored)?.writer;
  return {
    state: 'starting',
    ...mine,
    attempt: randomUUID(),
    attempts: decision.attempts,
    isRetry: decision.isRetry,
    fingerprint: job.data.fingerprint,
    limit: terms.scanLimit,
    ...(follows !== undefined && { follows }),
  };
}

/** Who has taken over a query asks Athena at least this long before its own answer is due: time for two tries. */
const LAST_ASK_MS = 1_500;

/**
 * Watches an execution. Resolves to it if it has ended or takes too long; without it if the request or its caller can't
 * wait any more. The record tells the next request that asks Athena what it must know.
 * @param onResult called once when the result is seen at its usual key
 */
export async function watchExecution(
  { backends: { queries, results }, terms }: Pick<Run, 'backends' | 'terms'>,
  record: RecordIn<'under-way'>,
  isTakenOver: boolean,
  onResult: () => void,
): Promise<{ readonly execution?: Execution; readonly record: RecordIn<'under-way'> }> {
  const { executionId } = record;
  const began = Date.now();
  let ageAtBegin = record.elapsedMs;
  const ageMs = () => ageAtBegin + Date.now() - began;
  const mustAnswerAt = Math.min(terms.waitUntil, terms.giveUpAt);
  let { runningAt, hasRun } = record;
  /** Athena's latest answer. */
  let execution: Execution | undefined;
  let tooLongAt = began + terms.longestQueryMs - ageAtBegin;
  let askAt = began + nextAskMs(ageMs(), Math.random());
  // A request that has taken over the query asks Athena at least once.
  if (isTakenOver) askAt = Math.min(askAt, terms.waitUntil - LAST_ASK_MS);
  const recordNow = () => ({ record: { ...record, runningAt, hasRun, elapsedMs: ageMs() } });

  let hasEnded = false;
  let hasAppeared = false;
  const appeared = resultAppears();
  try {
    for (let times = 0; ; ) {
      const pauseMs = Math.max(0, Math.min(askAt, tooLongAt, mustAnswerAt) - Date.now());
      if (hasAppeared) await delay(pauseMs);
      else if (await Promise.race([delay(pauseMs, false), appeared])) {
        hasAppeared = true;
        onResult();
      }
      const isTimeUp = Date.now() >= mustAnswerAt;
      if (isTimeUp && !hasAppeared && Date.now() < Math.min(tooLongAt, terms.giveUpAt)) return recordNow();
      // A query that takes too long may have ended at the last moment: ask before giving it up.
      execution = await queries.get(executionId).catch((error: unknown) => {
        // Athena could not answer. The query itself goes on.
        if (error instanceof Unavailable) return execution;
        throw error;
      });
      if (execution?.state === 'under-way') {
        const { observedAt, submittedAt, isQueued } = execution;
        ageAtBegin = Math.max(ageAtBegin, observedAt - submittedAt - (Date.now() - began));
        // Athena sometimes puts a query back into its queue: then the running time counts from the beginning again.
        runningAt = isQueued ? undefined : (runningAt ?? observedAt);
        hasRun ||= !isQueued || undefined;
        const leftMs = limitLeftMs(execution, terms, { runningAt, hasRun });
        if (leftMs <= 0) return { execution, ...recordNow() };
        tooLongAt = Date.now() + Math.max(leftMs, AGE_ERROR_MS);
      } else if (execution) return { execution, ...recordNow() };
      if (Date.now() >= mustAnswerAt) return recordNow();
      askAt = Date.now() + (hasAppeared ? askAgainMs(times++) : nextAskMs(ageMs(), Math.random()));
      // Athena did not answer. Wait until `askAt`, instead of asking again at once.
      if (!execution) tooLongAt = Math.max(tooLongAt, Math.min(askAt, mustAnswerAt));
    }
  } finally {
    hasEnded = true;
  }

  /** Resolves when the result appears at its usual key. A reused result has another key, a failed query no result. */
  async function resultAppears(): Promise<true> {
    // A query that this request takes over may have ended before: look at once.
    if (!isTakenOver) await delay(nextResultLookMs(ageMs(), 0));
    while (!hasEnded) {
      const lookedAt = Date.now();
      if (await results.head(resultKey(executionId)).catch(() => undefined)) return true;
      await delay(nextResultLookMs(ageMs(), Date.now() - lookedAt));
    }
    return new Promise(() => {});
  }
}

/** The facts about an ended query for the log. */
export const endFacts = ({ submittedAt, completedAt, bytesScanned, engineMs }: EndedRecord) => ({
  bytesScanned,
  engineMs,
  queryMs: completedAt - submittedAt,
});

/** A query's end for the metrics. The query of a result that is gone has succeeded. */
function finishedQuery(end: EndedRecord): FinishedQuery {
  const { bytesScanned, queryMs } = endFacts(end);
  const isFailed = end.state === 'failed' && end.why !== 'lost';
  const state = !isFailed ? 'succeeded' : end.why === 'too-large' ? 'scan-limit-exceeded' : 'failed';
  return { state, bytesScanned, queryMs };
}
