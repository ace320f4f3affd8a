/** What became of an execution: the record that ends its attempt. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { NotEngineCsv } from '../csv/retype-csv.ts';
import { type DataState, findDataState } from '../lake/data-version.ts';
import { isYounger } from '../report/utc-time.ts';
import type { EndedRecord, RecordIn } from '../results/job-record.ts';
import { reportKey } from '../results/keys.ts';
import type { EngineResult } from '../results/results-bucket.ts';
import type { Run, Target } from './delivery.ts';
import {
  type EndedExecution,
  type FailedExecution,
  type ForgottenExecution,
  type RunningExecution,
  reachedLimit,
} from './execution.ts';
import { MAX_SMALL_BYTES, writeReport } from './files.ts';

/** Reads that were begun as soon as the result was seen at its usual key, while Athena was asked. */
export interface EarlyReads {
  readonly location: string;
  readonly result: Promise<EngineResult | undefined>;
  readonly closing: Promise<DataState | undefined>;
}

/** The end of an attempt, and the execution that the metrics count; absent if Athena has forgotten it. */
interface End {
  readonly record: EndedRecord;
  readonly counted?: EndedExecution;
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
export const stateNow = ({ backends: { lake }, wanted: { request } }: Run, { data }: Target) =>
  data.isListed ? findDataState(lake, request.report, request.window, 0) : Promise.resolve(undefined);

/**
 * Makes the record that ends an attempt, and the files of a small report. Resolves to `late` if the result has not
 * appeared within this request's time.
 *
 * @param execution the execution that has ended, or that this request has stopped
 * @param answeredAt when Athena's last answer came, by this machine's clock
 */
export async function endOf(
  run: Run,
  target: Target,
  { leaseMs: _, elapsedMs, runningAt, hasRun, isStopped, ...open }: RecordIn<'under-way'>,
  execution: EndedExecution | ForgottenExecution | RunningExecution,
  early: EarlyReads | undefined,
  answeredAt: number,
): Promise<End | 'late'> {
  const { terms } = run;
  const every = { ...open, writer: randomUUID(), isOfVersion: false } as const;
  if (execution.state === 'forgotten') {
    const none = { submittedAt: 0, completedAt: 0, bytesScanned: 0, engineMs: 0, seenAfterMs: 0 };
    return { record: { ...every, ...none, state: 'failed', why: 'lost', reason: 'is forgotten by Athena' } };
  }
  const failed = (why: RecordIn<'failed'>['why'], { reason, ...ended }: FailedExecution): End => ({
    record: { ...every, ...figuresOf(ended), state: 'failed', why, reason, seenAfterMs: seenAfterMs(ended) },
    counted: { reason, ...ended },
  });
  const seenAfterMs = ({ observedAt, completedAt }: Pick<EndedExecution, 'observedAt' | 'completedAt'>) =>
    observedAt - completedAt + Date.now() - answeredAt;
  if (execution.state === 'under-way') return failed('too-long', asStopped(execution, runningAt));
  const isSoon = execution.observedAt - execution.completedAt < SOON_MS;
  const isUnchanged = async () => (await stateNow(run, target))?.fingerprint === open.fingerprint;
  switch (execution.state) {
    case 'scan-limit-exceeded': {
      const isOfVersion = isSoon && (await isUnchanged());
      // Later, the limit may be another one than the query's.
      const limit = isSoon && terms.scanLimit !== undefined ? { limit: terms.scanLimit } : {};
      const { record } = failed('too-large', asFailed(execution, 'exceeded the scan limit'));
      return { record: { ...record, ...limit, isOfVersion } as EndedRecord, counted: execution };
    }
    case 'failed': {
      if (target.data.isListed && !(await isUnchanged())) return failed('data-changed', execution);
      if (execution.isCancelled && (isStopped || reachedLimit(execution, { ...terms, runningAt })))
        return failed('too-long', execution);
      return failed(execution.isRetryable ? 'retryable' : 'engine', execution);
    }
    case 'succeeded':
  }
  const { location } = execution;
  // The early reads are of use only for the result that was seen. A result that Athena reuses has another location.
  const reads = early?.location === location ? early : undefined;
  const lateAt = answeredAt + execution.completedAt + RESULT_LATE_MS - execution.observedAt;
  const [result, closing] = await Promise.all([
    reads?.result.then((seen) => seen ?? appearing(run, location, lateAt)) ??
      appearing(run, location, lateAt),
    isSoon ? (reads?.closing ?? stateNow(run, target)) : undefined,
  ]);
  if (result === 'late') return 'late';
  // A result that is gone counts as a success in the metrics.
  if (!result)
    return { ...failed('lost', asFailed(execution, 'has no result any more')), counted: execution };
  const isOfVersion = closing?.fingerprint === open.fingerprint;
  const succeeded = {
    ...every,
    ...figuresOf(execution),
    isOfVersion,
    ...goodFor(run, target, open.fingerprint),
  };
  if (!result.content)
    return { record: { ...succeeded, state: 'publishing', location, files: {} }, counted: execution };
  const { fileName, columns } = target.job;
  const key = reportKey(execution.id, fileName);
  const version = isOfVersion ? { dataVersion: target.data.version } : {};
  const file = { executionId: execution.id, key, fileName, columns: [...columns], ...version };
  try {
    const made = await writeReport(run.backends.results, file, result.content);
    return { record: { ...succeeded, state: 'done', ...made }, counted: execution };
  } catch (error) {
    if (!(error instanceof NotEngineCsv)) throw error;
    return failed('unreadable', asFailed(execution, error.message));
  }
}

/**
 * Reads a result, and looks for it until `until`. Resolves to undefined if it has not appeared by then, and to `late` if
 * the request must answer before.
 */
async function appearing(
  { backends: { results }, terms: { waitUntil, giveUpAt } }: Run,
  location: string,
  until: number,
): Promise<EngineResult | 'late' | undefined> {
  for (;;) {
    const lookedAt = Date.now();
    const result = await results.readResult(location, MAX_SMALL_BYTES);
    if (result || lookedAt >= until) return result;
    const leftMs = Math.min(waitUntil, giveUpAt) - Date.now();
    if (leftMs <= 0) return 'late';
    await delay(Math.min(LATE_LOOK_MS, leftMs));
  }
}

/**
 * How long new callers may get this report without a data version: as long as the listing of the lake that its query
 * was started for may be reused.
 */
function goodFor(
  { terms: { listingMs } }: Run,
  { data: { listedAt, ...data } }: Target,
  fingerprint: string,
) {
  const now = Date.now();
  if (listedAt === undefined || data.fingerprint !== fingerprint) return {};
  return isYounger(listedAt, listingMs, now) ? { goodForMs: listedAt + listingMs - now } : {};
}

const figuresOf = ({ submittedAt, completedAt, bytesScanned, engineMs }: Omit<EndedExecution, 'state'>) => ({
  submittedAt,
  completedAt,
  bytesScanned,
  engineMs,
});

const asFailed = (execution: Omit<EndedExecution, 'state'>, reason: string): FailedExecution => ({
  ...execution,
  state: 'failed',
  reason,
  isRetryable: false,
});

/**
 * The failure of an execution that this request stops, made from Athena's last answer. AWS charges the bytes that the
 * query has scanned. `engineMs` is 0 if the query was still queued.
 */
const asStopped = (execution: RunningExecution, runningAt = execution.observedAt): FailedExecution =>
  asFailed(
    { ...execution, completedAt: execution.observedAt, engineMs: execution.observedAt - runningAt },
    'took too long and was stopped',
  );
