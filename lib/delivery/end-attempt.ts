import type { DataState } from '../lake/data-version.ts';
import { findDataState } from '../lake/read-data-state.ts';
import { ReportTooLarge } from '../problems/problem.ts';
import {
  type EndedRecord,
  type FailedRecord,
  type OpenRecord,
  type RefusedRecord,
  readRecord,
  type StoredRecord,
} from '../results/job-record.ts';
import { cachedReportKey } from '../results/keys.ts';
import type { StoredDocument } from '../results/results-bucket.ts';
import { type CountedExecution, endFacts, finishedQuery, following, signed, writeRecord } from './attempt.ts';
import { QueryFailed, tookTooLong } from './delivery.ts';
import type { EndedExecution, FailedExecution, ScanLimitExceeded } from './execution.ts';
import type { Leading, Run, Step, Target } from './phase.ts';

/**
 * How soon after a query's end the lake must be listed again, in milliseconds. After a longer time, a file that existed
 * while the query ran may be gone without a trace.
 */
const SOON_MS = 10_000;

export const isSeenInTime = ({ observedAt, completedAt }: EndedExecution): boolean =>
  observedAt - completedAt < SOON_MS;

/**
 * The state of the data after a query. Undefined if the lake could not be listed before the query, or if the table is
 * missing now.
 */
export const stateAfterQuery = (
  { backends: { lake }, wanted: { request } }: Run,
  { data }: Target,
): Promise<DataState | undefined> =>
  data.isListed ? findDataState(lake, request.report, request.window, 0) : Promise.resolve(undefined);

/** Whether the lake is as it was before the query. */
export const isUnchanged = async (run: Run, target: Target): Promise<boolean> =>
  (await stateAfterQuery(run, target))?.fingerprint === target.data.fingerprint;

/** The members that every record of an ended execution has. */
export const endedMembers = (
  { attempt, attempts, follows, slot }: OpenRecord,
  { id, submittedAt, completedAt, bytesScanned, engineMs }: Omit<EndedExecution, 'state' | 'observedAt'>,
) => ({
  ...signed(),
  attempt,
  ...(attempts !== undefined && { attempts }),
  ...(follows !== undefined && { follows }),
  ...(slot !== undefined && { slot }),
  executionId: id,
  submittedAt,
  completedAt,
  bytesScanned,
  engineMs,
});

/**
 * Records how an attempt ended, unless another request has changed the record. The request that writes this record also
 * counts the query in the metrics, so that each query is counted once. Resolves to the document that is stored
 * afterwards; undefined if `held` is undefined.
 *
 * @param held the record as this request wrote it; undefined if another request has replaced it
 * @param ended how the query ended, if the record says otherwise
 */
export async function recordEnd(
  run: Run,
  target: Target,
  held: StoredRecord<OpenRecord> | undefined,
  record: EndedRecord,
  ended: CountedExecution = record,
): Promise<StoredDocument | undefined> {
  if (!held) return undefined;
  const outcome = await writeRecord(run, target, held.stored, record);
  // Perhaps another attempt has already taken the place of this record.
  const isStored = 'mine' in outcome || readRecord(outcome.theirs)?.follows === record.writer;
  if (isStored) run.note({ finishedQueries: [finishedQuery(ended)] });
  return 'mine' in outcome ? outcome.mine.stored : outcome.theirs;
}

/**
 * Writes a job's cached report, which names the execution that made the report or exceeded the scan limit. Keeps a
 * cached report of the same execution, and replaces a cached report of another execution.
 */
export async function recordAnswer(
  { backends: { results } }: Run,
  { job }: Target,
  record: EndedRecord,
): Promise<void> {
  const key = cachedReportKey(job);
  if (await results.create(key, record)) return;
  const stored = await results.read(key);
  const found = readRecord(stored);
  const isSame = found && 'executionId' in found && found.executionId === record.executionId;
  if (stored && !isSame) await results.replace(stored, key, record);
}

type Held = StoredRecord<OpenRecord> | undefined;

/** How an attempt's query failed, or was stopped. */
export interface Failure {
  readonly execution: FailedExecution;
  readonly cause?: FailedRecord['cause'];
  readonly isRetry?: boolean;
  /** How the query ended, if it did not fail. */
  readonly ended?: CountedExecution | undefined;
  /** When Athena reported the failure, by this machine's clock. */
  readonly answeredAt: number;
}

/** Records that an attempt's query failed or was stopped. The request's next step acts on the stored record. */
export async function endWithFailure(
  run: Run,
  { target, cacheStatus, held: { record } }: Leading,
  held: Held,
  { execution, cause, isRetry, ended: counted, answeredAt }: Failure,
): Promise<Step> {
  const { reason, observedAt, completedAt } = execution;
  const ended = {
    state: 'failed',
    ...endedMembers(record, execution),
    seenAfterMs: observedAt - completedAt + Date.now() - answeredAt,
    reason,
    ...(cause && { cause }),
    ...(isRetry && { isRetry }),
  } as const;
  return following(target, await recordEnd(run, target, held, ended, counted), cacheStatus);
}

/**
 * Records that an attempt exceeded the scan limit. Also writes this as the job's cached report, if a listing soon after
 * the query's end shows that the lake has not changed.
 */
export async function endAtScanLimit(
  run: Run,
  { target, cacheStatus, held: { record } }: Leading,
  held: Held,
  execution: ScanLimitExceeded,
): Promise<Step> {
  const isSoon = isSeenInTime(execution);
  // Later, the limit may be another one than the query's.
  const limit = isSoon ? run.terms.scanLimit : undefined;
  const ended = {
    state: 'scan-limit-exceeded',
    ...endedMembers(record, execution),
    ...(limit !== undefined && { limit }),
  } as const;
  const isOfVersion = isSoon && (await isUnchanged(run, target));
  const [stored] = await Promise.all([
    recordEnd(run, target, held, ended),
    isOfVersion && recordAnswer(run, target, ended),
  ]);
  return following(target, stored, cacheStatus);
}

/** The error that the caller gets for an attempt that left no report. */
export function refusalOf({ note }: Pick<Run, 'note'>, record: RefusedRecord): Error {
  note({ queryExecutionId: record.executionId, ...endFacts(record) });
  if (record.state === 'scan-limit-exceeded') return new ReportTooLarge();
  if (record.cause === 'took-too-long') return tookTooLong();
  return new QueryFailed(`query ${record.executionId} ${record.reason}`);
}
