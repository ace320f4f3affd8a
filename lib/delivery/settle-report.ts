import { setTimeout as delay } from 'node:timers/promises';
import { isYounger } from '../is-younger.ts';
import type { DataState } from '../lake/data-version.ts';
import type { OpenRecord, ReportFiles, StoredRecord, SucceededRecord } from '../results/job-record.ts';
import { reportKey } from '../results/keys.ts';
import type { EngineResult } from '../results/results-bucket.ts';
import { following } from './attempt.ts';
import { ready } from './deliver-file.ts';
import { endedMembers, isSeenInTime, recordAnswer, recordEnd, stateAfterQuery } from './end-attempt.ts';
import type { SucceededExecution } from './execution.ts';
import type { Leading, Run, Step } from './phase.ts';
import { MAX_SMALL_BYTES, reportFile, writeReport } from './write-report.ts';

/** Work that begins as soon as the result appears in S3, while Athena is asked for the query's state. */
export interface Early {
  /** The location at which the result was seen. */
  readonly location: string;
  readonly closing: Promise<DataState | undefined>;
  readonly result: Promise<EngineResult | undefined>;
}

interface Succeeded {
  /** The record as this request wrote it; undefined if another request has replaced it. */
  readonly held: StoredRecord<OpenRecord> | undefined;
  readonly execution: SucceededExecution;
  readonly early: Early | undefined;
  /** When Athena reported the success, by this machine's clock. */
  readonly answeredAt: number;
}

/**
 * How long after a query's end its result may appear. Athena reports a success only after it has written the result,
 * but results have appeared seconds later. After this time, a missing result counts as removed.
 */
const RESULT_LATE_MS = 30_000;

/** The pause between two looks for a late result. */
const LATE_LOOK_MS = 250;

/**
 * Makes the report from an execution's result, and records the success. For a large result, only records the success:
 * the waiting requests start the publication. Resolves to undefined if the result is gone, and to `late` if it has not
 * appeared within this request's time. Throws NotEngineCsv if the result can't be read.
 */
export async function settleReport(
  run: Run,
  phase: Leading,
  { held, execution, early: begun, answeredAt }: Succeeded,
): Promise<Step | 'late' | undefined> {
  const { target, cacheStatus } = phase;
  const { record } = phase.held;
  const { results } = run.backends;
  const { job, data } = target;
  const { location } = execution;
  // The early work is valid only for the result that was seen. A result that Athena reuses has another location.
  const early = begun?.location === location ? begun : undefined;
  const lateAt = answeredAt + execution.completedAt + RESULT_LATE_MS - execution.observedAt;
  const [result, closing] = await Promise.all([
    early?.result.then((seen) => seen ?? appearing(run, location, lateAt)) ??
      appearing(run, location, lateAt),
    isSeenInTime(execution) ? (early?.closing ?? stateAfterQuery(run, target)) : undefined,
  ]);
  if (!result || result === 'late') return result;
  const isOfVersion = closing !== undefined && closing.fingerprint === data.fingerprint;
  const recordOf = (files?: ReportFiles): SucceededRecord => ({
    state: 'succeeded',
    ...endedMembers(record, execution),
    location,
    resultBytes: result.bytes,
    isOfVersion,
    ...goodFor(run, data),
    ...(files && { files }),
  });
  const end = async (ended: SucceededRecord) => {
    const [stored] = await Promise.all([
      recordEnd(run, target, held, ended),
      isOfVersion && recordAnswer(run, target, ended),
    ]);
    return stored;
  };
  if (!result.content) return following(target, await end(recordOf()), cacheStatus);
  const key = reportKey(execution.id, job.fileName);
  const file = reportFile(job.fileName, execution.id, isOfVersion ? data.version : undefined);
  const files = await writeReport(results, { key, columns: job.columns, file }, result.content);
  const ended = recordOf(files);
  await end(ended);
  return ready(run, target, ended, files, cacheStatus);
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
 * How long new callers may get this report: as long as the listing of the lake that its query was started for may be
 * reused.
 */
function goodFor({ terms: { listingMs } }: Run, { listedAt }: DataState): { goodForMs?: number } {
  const now = Date.now();
  if (listedAt === undefined || !isYounger(listedAt, listingMs, now)) return {};
  return { goodForMs: listedAt + listingMs - now };
}
