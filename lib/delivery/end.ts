/** What became of an execution: the record that ends its attempt, and the files of a small report. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { begun } from '../begun.ts';
import { NotEngineCsv, retypeCsv } from '../csv/retype-csv.ts';
import { type DataState, findDataState } from '../lake/data-version.ts';
import { isYounger } from '../report/utc-time.ts';
import { gzipped } from '../results/gzipped.ts';
import type { EndedRecord, RecordIn, ReportFiles } from '../results/job-record.ts';
import { gzippedKey, reportKey, resultKey } from '../results/keys.ts';
import type { EngineResult, ReportFile, ResultsBucket } from '../results/results-bucket.ts';
import type { Job, Run, Wait } from './delivery.ts';
import type { Execution } from './execution.ts';

/** Reads that were begun as soon as the result was seen at its usual key, while Athena was asked. */
export interface EarlyReads {
  readonly result: Promise<EngineResult | undefined>;
  readonly closing: Promise<DataState | undefined>;
}

/** How soon after a query's end the lake must be listed again: later, a file may be gone without a trace. */
const SOON_MS = 10_000;

/** How long after a query's end its result may appear: seconds have been seen. After that, it counts as removed. */
const RESULT_LATE_MS = 30_000;

const LATE_LOOK_MS = 250;

/** The largest result that is re-typed while the caller waits. Re-typing it takes about a second. */
export const MAX_SMALL_BYTES = 16 * 1024 * 1024;

/** How long to wait for the gzipped file after the plain file is written. */
const GZIP_GRACE_MS = 1_000;

/** The state of the data now. Undefined if the lake can't be listed, or if the table is missing. */
const stateNow = ({ backends: { lake }, wanted: { request }, job: { data } }: Wait) =>
  data.isListed ? findDataState(lake, request, 0) : Promise.resolve(undefined);

export const readEarly = (wait: Wait, executionId: string): EarlyReads => ({
  closing: begun(stateNow(wait)),
  result: begun(readResult(wait, wait.backends.results.locationOf(resultKey(executionId)))),
});

const readResult = ({ backends: { results } }: Run, location: string) =>
  results.readResult(location, MAX_SMALL_BYTES);

/**
 * Makes the record that ends an attempt, and the files of a small report. Resolves to `time-is-up` if the result has
 * not appeared within this request's time.
 * @param execution the execution that has ended, or that this request has stopped
 * @param answeredAt when Athena's last answer came, by this machine's clock
 */
export async function endOf(
  wait: Wait,
  { leaseMs: _, elapsedMs: __, hasRun: ___, runningAt, isStopped, ...attempt }: RecordIn<'under-way'>,
  execution: Execution,
  early: EarlyReads | undefined,
  answeredAt: number,
): Promise<EndedRecord | 'time-is-up'> {
  const { backends, job } = wait;
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
  const failed = (why: RecordIn<'failed'>['why'], reason: string, isOfVersion = false): EndedRecord => {
    const seenAfterMs = endedAgoMs + Date.now() - answeredAt;
    return { ...ended, state: 'failed', why, reason, isOfVersion, seenAfterMs };
  };
  const isSoon = endedAgoMs < SOON_MS;
  const isUnchanged = async () => (await stateNow(wait))?.fingerprint === attempt.fingerprint;
  switch (execution.state) {
    case 'under-way':
      return failed('too-long', 'took too long and was stopped');
    case 'scan-limit-exceeded':
      return failed('too-large', 'exceeded the scan limit', isSoon && (await isUnchanged()));
    case 'failed': {
      const { reason, isCancelled, isRetryable } = execution;
      if (job.data.isListed && !(await isUnchanged())) return failed('data-changed', reason);
      if (isCancelled && isStopped) return failed('too-long', reason);
      return failed(isRetryable ? 'retryable' : 'engine', reason);
    }
    case 'succeeded':
  }
  const { location } = execution;
  // The early reads are of use only for the result that was seen. A result that Athena reuses has another location.
  const reads = location === backends.results.locationOf(resultKey(execution.id)) ? early : undefined;
  const lateAt = answeredAt - endedAgoMs + RESULT_LATE_MS;
  const [result, closing] = await Promise.all([
    appearing(wait, location, lateAt, reads?.result),
    isSoon ? (reads?.closing ?? stateNow(wait)) : undefined,
  ]);
  if (result === 'time-is-up') return 'time-is-up';
  if (!result) return failed('lost', 'has no result any more');
  const succeeded = {
    ...ended,
    ...(isSoon && goodFor(wait, attempt.fingerprint)),
    isOfVersion: closing?.fingerprint === attempt.fingerprint,
  };
  if (!result.content) return { ...succeeded, state: 'publishing', location, files: {} };
  try {
    const made = await writeReport(backends.results, job, succeeded, result.content);
    return { ...succeeded, state: 'done', ...made };
  } catch (error) {
    if (error instanceof NotEngineCsv) return failed('unreadable', error.message);
    throw error;
  }
}

/** Reads a result, unless the early read has; undefined if it does not appear until `until`. */
async function appearing(
  run: Run,
  location: string,
  until: number,
  early: EarlyReads['result'] | undefined,
): Promise<EngineResult | 'time-is-up' | undefined> {
  const { waitUntil, giveUpAt } = run.terms;
  const first = early && (await early);
  if (first) return first;
  for (;;) {
    const lookedAt = Date.now();
    const result = await readResult(run, location);
    if (result || lookedAt >= until) return result;
    const leftMs = Math.min(waitUntil, giveUpAt) - Date.now();
    if (leftMs <= 0) return 'time-is-up';
    await delay(Math.min(LATE_LOOK_MS, leftMs));
  }
}

/** How long new callers may get a report without a data version: as long as its query's listing may be reused. */
function goodFor({ terms: { listingMs }, job: { data } }: Wait, fingerprint: string) {
  const now = Date.now();
  const { listedAt } = data;
  if (listedAt === undefined || data.fingerprint !== fingerprint) return {};
  return isYounger(listedAt, listingMs, now) ? { goodForMs: listedAt + listingMs - now } : {};
}

/**
 * Makes both of the report's files from a small result (docs/contract.md#the-file). Tries only once to write the
 * gzipped file: if the try fails, every caller gets the plain file. Throws NotEngineCsv if the result can't be read.
 */
export async function writeReport(
  results: ResultsBucket,
  { columns, fileName, data }: Job,
  { executionId, isOfVersion }: Pick<EndedRecord, 'executionId' | 'isOfVersion'>,
  result: Uint8Array,
): Promise<{ readonly files: ReportFiles; readonly rows: number }> {
  let rows = 0;
  const chunks = retypeCsv(columns, [result], (number) => {
    rows = number;
  });
  const csv = Buffer.concat(await Array.fromAsync(chunks));
  const key = reportKey(executionId, fileName);
  const file: ReportFile = { fileName, executionId, dataVersion: isOfVersion ? data.version : undefined };
  const writeGzipped = async () => {
    const content = await gzipped(csv);
    await results.writeFile(gzippedKey(key), { ...file, encoding: 'gzip' }, content, 1);
    return content.length;
  };
  const gzip = writeGzipped().catch(() => undefined);
  await results.writeFile(key, file, csv);
  const bytes = await Promise.race([gzip, delay(GZIP_GRACE_MS, undefined, { ref: false })]);
  return { files: { plain: csv.length, ...(bytes !== undefined && { gzip: bytes }) }, rows };
}
