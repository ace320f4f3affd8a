import { NotEngineCsv } from '../csv/not-engine-csv.ts';
import { Overloaded } from '../problems/problem.ts';
import type { ReportFiles, SucceededRecord } from '../results/job-record.ts';
import { cachedReportKey, gzippedKey, reportKey } from '../results/keys.ts';
import type { Publication } from '../results/publication-request.ts';
import { type CacheStatus, type Delivery, PublicationFailed, tookTooLong } from './delivery.ts';
import { progressOf, type Run, type Step, type Target, waiting } from './phase.ts';
import { awaitPublication, filesOf } from './publication.ts';
import { MAX_SMALL_BYTES, reportFile, writeReport } from './write-report.ts';

/**
 * The answer with an execution's report: the gzipped file if there is one and the caller accepts gzip, otherwise the
 * plain file.
 */
export function ready(
  { terms: { acceptsGzip }, note }: Run,
  { job, data }: Target,
  { executionId, isOfVersion }: SucceededRecord,
  { plain, gzip }: ReportFiles,
  cacheStatus: CacheStatus,
): { readonly delivery: Delivery } {
  const key = reportKey(executionId, job.fileName);
  const dataVersion = isOfVersion ? { dataVersion: data.version } : {};
  note({ queryExecutionId: executionId, ...dataVersion });
  const file =
    acceptsGzip && gzip !== undefined ? { key: gzippedKey(key), bytes: gzip } : { key, bytes: plain };
  return { delivery: { state: 'ready', ...file, cacheStatus, ...dataVersion } };
}

/**
 * Delivers the report of a succeeded execution. If the record names no files, looks for the files, and makes or
 * publishes missing files. Resolves to undefined if another attempt is needed: the result is gone or can't be read, or
 * its publication was given up and this caller did not wait for this execution.
 *
 * @param cacheStatus the cache status of the answer; `hit` if the caller has waited for nothing
 * @param isAwaited whether the caller has waited for this execution
 */
export async function deliverFile(
  run: Run,
  target: Target,
  record: SucceededRecord,
  cacheStatus: CacheStatus = 'hit',
  isAwaited = false,
): Promise<Step | undefined> {
  const { results } = run.backends;
  const key = reportKey(record.executionId, target.job.fileName);
  const look = async () => (await filesOf(results, key)) ?? publishedFiles(run, target, record);
  // AWS throttles this request, and the files may be there soon: the caller goes on waiting.
  const files = record.files ?? (await look().catch(unlessOverloaded));
  if (files === undefined) return undefined;
  if (typeof files === 'object') return ready(run, target, record, files, cacheStatus);
  if (files === 'abandoned') {
    const refusal = new PublicationFailed(`the result of query ${record.executionId} was not published`);
    return isAwaited ? { refusal } : undefined;
  }
  if (Date.now() >= run.terms.publishUntil) return { refusal: tookTooLong() };
  const status = cacheStatus === 'hit' ? 'collapsed' : cacheStatus;
  return waiting(progressOf({ at: 'following', target, cacheStatus: status }));
}

/** Publishes a result whose files are missing. Resolves to undefined if the result is gone or can't be read. */
async function publishedFiles(
  { backends: { results }, terms: { waitUntil, partner } }: Run,
  { data, job }: Target,
  { executionId, location, resultBytes, isOfVersion }: SucceededRecord,
): Promise<ReportFiles | 'under-way' | 'abandoned' | undefined> {
  const { fileName, columns } = job;
  const key = reportKey(executionId, fileName);
  const dataVersion = isOfVersion ? data.version : undefined;
  if (resultBytes <= MAX_SMALL_BYTES) {
    const result = await results.readResult(location, MAX_SMALL_BYTES);
    if (!result?.content) return undefined;
    const file = reportFile(fileName, executionId, dataVersion);
    return writeReport(results, { key, columns, file }, result.content).catch(unlessUnreadable);
  }
  const publication: Publication = {
    form: 1,
    executionId,
    location,
    key,
    fileName,
    columns: [...columns],
    ...(dataVersion !== undefined && { dataVersion, cachedReport: cachedReportKey(job) }),
    ...(partner !== undefined && { partner }),
  };
  return awaitPublication(results, publication, waitUntil);
}

function unlessOverloaded(error: unknown): 'under-way' {
  if (error instanceof Overloaded) return 'under-way';
  throw error;
}

function unlessUnreadable(error: unknown): undefined {
  if (!(error instanceof NotEngineCsv)) throw error;
}
