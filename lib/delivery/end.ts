/** What became of an execution: the record that ends its attempt. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { NotEngineCsv } from '../csv/retype-csv.ts';
import { type DataState, findDataState } from '../lake/data-version.ts';
import { isYounger } from '../report/utc-time.ts';
import type { EndedRecord, RecordIn } from '../results/job-record.ts';
import { resultKey } from '../results/keys.ts';
import type { EngineResult } from '../results/results-bucket.ts';
import type { Run } from './delivery.ts';
import type { Execution } from './execution.ts';
import { fileFacts, MAX_SMALL_BYTES, writeReport } from './files.ts';
import type { Job } from './job.ts';

/** Reads that were begun as soon as the result was seen at its usual key, while Athena was asked. */
export interface EarlyReads {
  readonly result: Promise<EngineResult | undefined>;
  readonly closing: Promise<DataState | undefined>;
}

/**
 * How soon after a query's end the lake must be listed again, in milliseconds. After a longer time, a file that existed
 * while the query ran may be gone without a trace.
 */
const SOON_MS = 10_000;

/**
 * How long after a query's end its result may appear. Athena reports a success only after it has written the result,
 * but results have appeared seconds later. After this time, a missing result counts as removed.
 */
const RESULT_LATE_MS = 30_000;

/** The pause between two looks for a late result. */
const LATE_LOOK_MS = 250;

/** The state of the data now. Undefined if the lake can't be listed, or if the table is missing. */
export const stateNow = ({ backends: { lake }, wanted: { request } }: Run, { data }: Job) =>
  data.isListed ? findDataState(lake, request, 0) : Promise.resolve(undefined);

/**
 * Makes the record that ends an attempt, and the files of a small report. Resolves to `time-is-up` if the
 * result has not appeared within this request's time.
 *
 * @param execution the execution that has ended, or that this request has stopped
 * @param answeredAt when Athena's last answer came, by this machine's clock
 */
export async function endOf(
  run: Run,
  job: Job,
  { leaseMs: _, elapsedMs: __, hasRun: ___, runningAt, isStopped, ...attempt }: RecordIn<'under-way'>,
  execution: Execution,
  early: EarlyReads | undefined,
  answeredAt: number,
): Promise<EndedRecord | 'time-is-up'> {
  const { results } = run.backends;
  const every = { ...attempt, writer: randomUUID(), isOfVersion: false } as const;
  if (execution.state === 'forgotten') {
    const none = { submittedAt: 0, completedAt: 0, bytesScanned: 0, engineMs: 0, seenAfterMs: 0 };
    return { ...every, ...none, state: 'failed', why: 'lost', reason: 'is forgotten by Athena' };
  }
  const { submittedAt, observedAt, bytesScanned } = execution;
  // A query that this request stops has ended with Athena's last answer. AWS charges the bytes that it has scanned.
  const { completedAt, engineMs } =
    execution.state === 'under-way'
      ? { completedAt: observedAt, engineMs: observedAt - (runningAt ?? observedAt) }
      : execution;
  const ended = { ...every, submittedAt, completedAt, bytesScanned, engineMs };
  /** How long ago the query had ended when Athena answered. */
  const endedAgoMs = observedAt - completedAt;
  const failed = (
    why: RecordIn<'failed'>['why'],
    reason: string,
    more?: Partial<RecordIn<'failed'>>,
  ): EndedRecord => {
    const seenAfterMs = endedAgoMs + Date.now() - answeredAt;
    return { ...ended, state: 'failed', why, reason, seenAfterMs, ...more };
  };
  const isSoon = endedAgoMs < SOON_MS;
  const isUnchanged = async () => (await stateNow(run, job))?.fingerprint === attempt.fingerprint;
  switch (execution.state) {
    case 'under-way':
      return failed('too-long', 'took too long and was stopped');
    case 'scan-limit-exceeded':
      return failed('too-large', 'exceeded the scan limit', { isOfVersion: isSoon && (await isUnchanged()) });
    case 'failed': {
      const { reason, isCancelled, isRetryable } = execution;
      if (job.data.isListed && !(await isUnchanged())) return failed('data-changed', reason);
      if (isCancelled && isStopped) return failed('too-long', reason);
      return failed(isRetryable ? 'retryable' : 'engine', reason);
    }
    case 'succeeded':
    // What became of its result is found below.
  }
  const { location } = execution;
  // The early reads are of use only for the result that was seen. A result that Athena reuses has another location.
  const reads = location === results.locationOf(resultKey(execution.id)) ? early : undefined;
  const lateAt = answeredAt - endedAgoMs + RESULT_LATE_MS;
  const [result, closing] = await Promise.all([
    reads?.result.then((seen) => seen ?? appearing(run, location, lateAt)) ??
      appearing(run, location, lateAt),
    isSoon ? (reads?.closing ?? stateNow(run, job)) : undefined,
  ]);
  if (result === 'time-is-up') return 'time-is-up';
  if (!result) return failed('lost', 'has no result any more');
  const succeeded = {
    ...ended,
    ...goodFor(run, job, attempt.fingerprint),
    isOfVersion: closing?.fingerprint === attempt.fingerprint,
  };
  if (!result.content) return { ...succeeded, state: 'publishing', location, files: {} };
  try {
    const made = await writeReport(results, fileFacts(job, succeeded), result.content);
    return { ...succeeded, state: 'done', ...made };
  } catch (error) {
    if (error instanceof NotEngineCsv) return failed('unreadable', error.message);
    throw error;
  }
}

/**
 * Reads a result, and looks for it until `until`. Resolves to undefined if it has not appeared by then, and to
 * `time-is-up` if the request must answer before.
 */
async function appearing(
  { backends: { results }, terms: { waitUntil, giveUpAt } }: Run,
  location: string,
  until: number,
): Promise<EngineResult | 'time-is-up' | undefined> {
  for (;;) {
    const lookedAt = Date.now();
    const result = await results.readResult(location, MAX_SMALL_BYTES);
    if (result || lookedAt >= until) return result;
    const leftMs = Math.min(waitUntil, giveUpAt) - Date.now();
    if (leftMs <= 0) return 'time-is-up';
    await delay(Math.min(LATE_LOOK_MS, leftMs));
  }
}

/**
 * How long new callers may get this report without a data version: as long as the listing of the lake that its query
 * was started for may be reused.
 */
function goodFor({ terms: { listingMs } }: Run, { data }: Job, fingerprint: string) {
  const now = Date.now();
  const { listedAt } = data;
  if (listedAt === undefined || data.fingerprint !== fingerprint) return {};
  return isYounger(listedAt, listingMs, now) ? { goodForMs: listedAt + listingMs - now } : {};
}
