/** The publication of a large result: requested by those who wait, made by a function of its own. */
import { isDeepStrictEqual } from 'node:util';
import { retypeCsv } from '../csv/retype-csv.ts';
import { gzippedChunks } from '../results/gzipped.ts';
import { type EndedRecord, type RecordIn, type ReportFiles, readRecord } from '../results/job-record.ts';
import {
  abandonedKey,
  gzippedKey,
  jobRecordKey,
  publicationKey,
  publishedExecution,
  reportKey,
} from '../results/keys.ts';
import { type Publication, readPublication } from '../results/publication-request.ts';
import type { LargeFiles, ResultsBucket, StoredDocument } from '../results/results-bucket.ts';
import type { Wait } from './delivery.ts';

/** The largest result that can be gzipped, and then written plain, in 15 minutes. A larger one has no gzipped file. */
const MAX_GZIPPED_BYTES = 20 * 1024 ** 3;

/** Makes the publishing function publish a large result. Resolves to the job's record, which may already name files. */
export async function requestPublication(
  { backends: { results }, terms: { acceptsGzip, partner }, job }: Wait,
  { executionId, location, isOfVersion }: RecordIn<'publishing'>,
): Promise<StoredDocument | undefined> {
  const { fileName, columns, data } = job;
  const wanted: Publication = {
    form: 1,
    executionId,
    location,
    key: reportKey(executionId, fileName),
    fileName,
    columns: [...columns],
    record: jobRecordKey(job),
    ...(isOfVersion && { dataVersion: data.version }),
    ...(!acceptsGzip && { isPlainFirst: true }),
    ...(partner !== undefined && { partner }),
  };
  const key = publicationKey(executionId);
  await results.create(key, wanted);
  // A publishing function that died, or is of release 1.0.0, leaves files that the record does not name. Release 1.0.0
  // tells by an object of its own that it has given a publication up.
  const isAbandoned = (await results.head(abandonedKey(executionId))) !== undefined;
  const stored = await recordExistingFiles(results, wanted);
  if (!isAbandoned) return stored;
  await abandonPublication(results, key);
  return results.read(jobRecordKey(job));
}

/**
 * Streams a large result into both of the report's files, and records each for those who wait as soon as it is written.
 * The file that the first caller takes comes first. A file that an earlier run has written is not written again.
 * Resolves to false if the result is gone and there is no plain file.
 */
export async function publishLarge(
  results: ResultsBucket & LargeFiles,
  wanted: Publication,
): Promise<boolean> {
  const { key, location, columns } = wanted;
  const files = await existingFiles(results, wanted);
  let rows: number | undefined;
  let isThere = files.plain !== undefined;
  if (Object.keys(files).length > 0) await recordExistingFiles(results, wanted);
  const result = await results.readResult(location, 0);
  if (!result) return isThere;
  for (const encoding of wanted.isPlainFirst ? (['plain', 'gzip'] as const) : (['gzip', 'plain'] as const)) {
    const isGzip = encoding === 'gzip';
    if (files[encoding] !== undefined || (isGzip && result.bytes > MAX_GZIPPED_BYTES)) continue;
    const { fileName, executionId, dataVersion } = wanted;
    const file = { fileName, executionId, dataVersion, ...(isGzip && { encoding }) };
    const bytes = await results.uploadFile(isGzip ? gzippedKey(key) : key, file, async () => {
      const content = await results.openResult(location);
      if (!content) return undefined;
      const csv = retypeCsv(columns, content, (number) => {
        rows = number;
      });
      return isGzip ? gzippedChunks(csv) : csv;
    });
    await recordExistingFiles(results, wanted, rows);
    if (bytes === undefined) break;
    isThere ||= !isGzip;
  }
  return isThere;
}

/** Records that a publication has been given up, for those who wait for it. Resolves to the facts for the log. */
export async function abandonPublication(results: ResultsBucket, requestedBy: string) {
  const wanted = await readPublication(results, requestedBy);
  const queryExecutionId = publishedExecution(requestedBy);
  const failed = {
    state: 'failed',
    why: 'unpublished',
    reason: 'was not published',
    seenAfterMs: 0,
  } as const;
  if (wanted?.record)
    await updatePublication(results, wanted, ({ location: _, goodForMs: __, files: ___, ...attempt }) =>
      attempt.state === 'done' ? undefined : { ...attempt, ...failed },
    );
  // For those who wait with release 1.0.0.
  else await results.create(abandonedKey(queryExecutionId), {});
  return { queryExecutionId, partner: wanted?.partner };
}

/** The sizes of a report's files that exist. */
async function existingFiles(results: ResultsBucket, { key }: Publication): Promise<ReportFiles> {
  const [plain, gzip] = await Promise.all([results.head(key), results.head(gzippedKey(key))]);
  return { ...(plain && { plain: plain.bytes }), ...(gzip && { gzip: gzip.bytes }) };
}

/**
 * Records the files of a large report that exist. Whoever finds them does it, so a function that dies after it has
 * written them is not started over. Resolves to the record as it is stored then.
 */
async function recordExistingFiles(results: ResultsBucket, wanted: Publication, rows?: number) {
  const files = await existingFiles(results, wanted);
  return updatePublication(results, wanted, (record) => {
    if (isDeepStrictEqual(files, record.files)) return undefined;
    const now = { ...record, ...(rows !== undefined && { rows }), files };
    return files.plain === undefined ? now : { ...now, state: 'done' };
  });
}

/** Changes the job's record, if it is that of this publication. Resolves to the record as it is stored then. */
async function updatePublication(
  results: ResultsBucket,
  { record: key, executionId }: Publication,
  change: (record: RecordIn<'publishing' | 'done'>) => EndedRecord | undefined,
): Promise<StoredDocument | undefined> {
  if (key === undefined) return undefined;
  for (;;) {
    const stored = await results.read(key);
    const record = readRecord(stored);
    const isOfPublication = record?.state === 'publishing' || record?.state === 'done';
    if (!stored || !isOfPublication || record.executionId !== executionId) return stored;
    const next = change(record);
    if (!next) return stored;
    const endedForMs = (record.endedForMs ?? 0) + stored.ageMs;
    const written = await results.replace(stored, key, { ...next, endedForMs });
    if (written) return written;
  }
}
