import { setTimeout as delay } from 'node:timers/promises';
import { retypeCsv } from '../csv/retype-csv.ts';
import { gzippedChunks } from '../results/gzipped.ts';
import { type ReportFiles, readRecord } from '../results/job-record.ts';
import {
  abandonedKey,
  gzippedKey,
  publicationKey,
  publishedExecution,
  type ResultsKey,
} from '../results/keys.ts';
import { type Publication, readPublication } from '../results/publication-request.ts';
import type { LargeFiles, ResultsBucket } from '../results/results-bucket.ts';
import { nextFileLookMs } from './pace.ts';
import { reportFile } from './write-report.ts';

/**
 * How long a publication may be under way: Lambda runs it three times, 15 minutes each, with pauses of 1 and 2 minutes.
 * After that, the publication counts as given up.
 */
const LONGEST_PUBLICATION_MS = 50 * 60_000;

/**
 * The largest result that can be gzipped, and then written plain, within the publishing function's 15 minutes. The
 * report of a larger result has only the plain file.
 */
const MAX_GZIPPED_BYTES = 20 * 1024 ** 3;

/** The sizes of a report's existing files; undefined if the plain file is missing. */
export async function filesOf(results: ResultsBucket, key: ResultsKey): Promise<ReportFiles | undefined> {
  const [plain, gzip] = await Promise.all([results.head(key), results.head(gzippedKey(key))]);
  return plain && { plain: plain.bytes, ...(gzip && { gzip: gzip.bytes }) };
}

/**
 * Streams a large result into both of the report's files. The gzipped file is written first, because callers get their
 * answer as soon as the plain file exists. A file that an earlier run has written is not written again. Resolves to
 * false if the result is gone.
 */
export async function publishLarge(
  results: ResultsBucket & LargeFiles,
  wanted: Publication,
): Promise<boolean> {
  const written = await filesOf(results, wanted.key);
  if (written) return noteFiles(results, wanted, written);
  const result = await results.readResult(wanted.location, 0);
  if (!result) return false;
  const isGzipped = result.bytes > MAX_GZIPPED_BYTES || (await results.head(gzippedKey(wanted.key)));
  if (!isGzipped && (await upload(results, wanted, 'gzip')) === undefined) return false;
  if ((await upload(results, wanted)) === undefined) return false;
  return noteFiles(results, wanted, await filesOf(results, wanted.key));
}

/**
 * Streams the engine's result into one of the report's files. Resolves to the file's size in bytes; undefined if the
 * result is gone.
 */
function upload(
  results: LargeFiles,
  { location, key, fileName, columns, executionId, dataVersion }: Publication,
  encoding?: 'gzip',
): Promise<number | undefined> {
  const open = async () => {
    const result = await results.openResult(location);
    const csv = result && retypeCsv(columns, result);
    return csv && encoding ? gzippedChunks(csv) : csv;
  };
  const file = reportFile(fileName, executionId, dataVersion);
  return results.uploadFile(
    encoding ? gzippedKey(key) : key,
    { ...file, ...(encoding && { encoding }) },
    open,
  );
}

/**
 * Adds the files' sizes to the cached report if this execution made it. Later requests then need not look for the
 * files.
 */
async function noteFiles(
  results: ResultsBucket,
  { cachedReport, executionId }: Publication,
  files: ReportFiles | undefined,
): Promise<true> {
  const stored = cachedReport === undefined ? undefined : await results.read(cachedReport);
  const record = readRecord(stored);
  const isMissing = record?.state === 'succeeded' && record.executionId === executionId && !record.files;
  if (cachedReport !== undefined && stored && isMissing && files)
    await results.replace(stored, cachedReport, { ...record, files });
  return true;
}

/**
 * Makes the publishing function publish a large result, and waits for the files. Resolves to the files' sizes, or to
 * the publication's state: it was given up, or is still under way at `until`.
 *
 * @param until in milliseconds since 1970
 */
export async function awaitPublication(
  results: ResultsBucket,
  wanted: Publication,
  until: number,
): Promise<ReportFiles | 'under-way' | 'abandoned'> {
  const began = Date.now();
  const { executionId, key } = wanted;
  const request = publicationKey(executionId);
  if (!(await results.create(request, wanted))) {
    const requested = await results.head(request);
    if (requested && requested.ageMs > LONGEST_PUBLICATION_MS) return 'abandoned';
  }
  for (;;) {
    const [files, abandoned] = await Promise.all([
      filesOf(results, key),
      results.head(abandonedKey(executionId)),
    ]);
    if (files) return files;
    if (abandoned) return 'abandoned';
    const now = Date.now();
    if (now >= until) return 'under-way';
    await delay(Math.min(nextFileLookMs(now - began), until - now));
  }
}

/**
 * Records that a publication has been given up, for the requests that wait for it. Resolves to the facts for the log.
 */
export async function abandonPublication(results: ResultsBucket, requestedBy: string) {
  const queryExecutionId = publishedExecution(requestedBy);
  await results.create(abandonedKey(queryExecutionId), {});
  return { queryExecutionId, partner: (await readPublication(results, requestedBy))?.partner };
}
