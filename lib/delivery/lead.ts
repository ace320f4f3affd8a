/** The work of the request that holds the lease of an attempt: it asks Athena for all who wait, from start to end. */
import { randomUUID } from 'node:crypto';
import { begun } from '../begun.ts';
import { type EndedRecord, type JobRecord, type OpenRecord, readRecord } from '../results/job-record.ts';
import { jobRecordKey, resultKey } from '../results/keys.ts';
import type { StoredDocument } from '../results/results-bucket.ts';
import type { Decision } from './decide.ts';
import type { DeliveryFacts, Run } from './delivery.ts';
import { endOf, stateNow } from './end.ts';
import { limitLeftMs } from './execution.ts';
import { MAX_SMALL_BYTES } from './files.ts';
import type { Job } from './job.ts';
import { watchExecution } from './watch.ts';

/** A decision by which a request asks Athena. */
export type Leading = Extract<Decision, { next: 'start' | 'take-over' }>;

/**
 * Creates or takes over an attempt, before Athena is called, so that only one of many concurrent requests calls Athena.
 * Then asks Athena until the query ends, and records the end. Resolves to the record as it is stored then, to undefined
 * if it must be read, or to `time-is-up` if the request must answer first. On an error, gives up the lease, so that
 * another may ask at once.
 *
 * @param was the record as it was read
 * @param slot the id of the slot that was taken for the query
 * @param onHeld called with the attempt's token as soon as this request holds the lease
 */
export async function leadAttempt(
  run: Run,
  job: Job,
  was: StoredDocument | undefined,
  decision: Leading,
  slot: string | undefined,
  onHeld: (token: string) => void,
): Promise<StoredDocument | 'time-is-up' | undefined> {
  const { queries, results } = run.backends;
  const key = jobRecordKey(job);
  let open = openRecord(run, job, was, decision, slot);
  const created = await (was ? results.replace(was, key, open) : results.create(key, open));
  if (!created) return undefined;
  onHeld(open.attempt);
  let latest: Promise<StoredDocument | undefined> = Promise.resolve(created);
  /** Writes a record over the latest of this request. Resolves to undefined if another request has changed it. */
  const write = (record: JobRecord): typeof latest => {
    const before = latest;
    const written = begun(before.then((stored) => stored && results.replace(stored, key, record)));
    // If the write failed, perhaps the record before it is still there.
    latest = written.catch(() => before);
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
        onHeld(open.attempt);
        executionId = await queries.start(job.query, open.attempt);
      }
      if (executionId === undefined) throw new Error('Athena knows the token of a new attempt');
      open = { ...open, ...signed(), ...leaseOf(run), state: 'under-way', executionId, elapsedMs: 0 };
      // The record is written while the query runs.
      write(open);
    }
    const { executionId } = open;
    run.note({ queryExecutionId: executionId });
    const isTakenOver = decision.next === 'take-over';
    const seen = await watchExecution(run.backends, run.terms, open, isTakenOver, () => ({
      closing: begun(stateNow(run, job)),
      result: begun(results.readResult(results.locationOf(resultKey(executionId)), MAX_SMALL_BYTES)),
    }));
    const answeredAt = Date.now();
    const { execution } = seen;
    open = seen.record;
    if (!(await latest)) return undefined;
    const isRunning = execution?.state === 'under-way';
    const isOverdue = isRunning && limitLeftMs(execution, run.terms, seen.record) <= 0;
    if (isOverdue) {
      // Athena may throttle the stop for longer than the lease lasts. Who takes over must know who cancelled the query.
      open = { ...seen.record, isStopped: true };
      if (!(await release())) return undefined;
      await queries.stop(executionId);
    }
    // The query has ended, or this request has stopped it.
    const end =
      execution && isRunning === isOverdue
        ? await endOf(run, job, seen.record, execution, seen.begun, answeredAt)
        : 'time-is-up';
    if (end === 'time-is-up') {
      await release().catch(() => {});
      return end;
    }
    const isForgotten = execution?.state === 'forgotten';
    if (!isForgotten) run.note(endFacts(end));
    const mine = await write(end);
    const stored = mine ?? (await results.read(key));
    // The request that records the end counts the query, so that each query is counted once. Perhaps another attempt
    // has already taken the place of the record.
    const isRecorded = mine !== undefined || readRecord(stored)?.follows === end.writer;
    if (isRecorded && !isForgotten) run.note({ finishedQueries: [finishedQuery(end)] });
    return stored;
  } catch (error) {
    if (open.leaseMs !== undefined) await release().catch(() => {});
    throw error;
  }
}

const signed = () => ({ form: 2, writer: randomUUID() }) as const;

/** The lease: how long this request asks Athena about the query, for all who wait. */
const leaseOf = ({ terms }: Run) => ({ leaseMs: Math.max(0, terms.waitUntil - Date.now()) });

/** The record of a new attempt, or of one that this request takes over. */
function openRecord(
  run: Run,
  { data: { fingerprint } }: Job,
  was: StoredDocument | undefined,
  decision: Leading,
  slot: string | undefined,
): OpenRecord {
  const mine = { ...signed(), ...leaseOf(run), ...(slot !== undefined && { slot }) };
  if (decision.next === 'take-over') {
    const { record } = decision;
    if (record.state === 'starting') return { ...record, ...mine };
    return { ...record, ...mine, elapsedMs: record.elapsedMs + (was?.ageMs ?? 0) };
  }
  const { isRetry, attempts } = decision;
  const follows = readRecord(was)?.writer;
  const attempt = { attempt: randomUUID(), attempts, isRetry, fingerprint, limit: run.terms.scanLimit };
  return { state: 'starting', ...mine, ...attempt, ...(follows !== undefined && { follows }) };
}

/** The facts about an ended query for the log. */
export const endFacts = ({
  submittedAt,
  completedAt,
  bytesScanned,
  engineMs,
}: EndedRecord): DeliveryFacts => ({
  bytesScanned,
  engineMs,
  queryMs: completedAt - submittedAt,
});

/** A query's end for the metrics. The query of a result that is gone has succeeded. */
function finishedQuery(end: EndedRecord): NonNullable<DeliveryFacts['finishedQueries']>[number] {
  const { bytesScanned, submittedAt, completedAt } = end;
  const isFailed = end.state === 'failed' && end.why !== 'lost';
  const state = !isFailed ? 'succeeded' : end.why === 'too-large' ? 'scan-limit-exceeded' : 'failed';
  return { state, bytesScanned, queryMs: completedAt - submittedAt };
}
