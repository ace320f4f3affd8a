/** The publication of a large result: requested by those who wait, made by a function of its own. */
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
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
  resultsKey,
} from '../results/keys.ts';
import {
  type LargeFiles,
  type ResultsBucket,
  reportFile,
  type StoredDocument,
} from '../results/results-bucket.ts';
import type { Wait } from './delivery.ts';

/** A request to publish a large result, with everything needed to make the report's files. */
const publication = v.object({
  /** Version of the request's format. A request of another version counts as absent. */
  form: v.literal(1),
  executionId: v.string(),
  /** `s3://bucket/key` of the engine's result. */
  location: v.string(),
  /** Key of the report's plain file. */
  key: resultsKey,
  fileName: v.string(),
  columns: v.array(
    v.object({ name: v.string(), type: v.picklist(['datetime', 'integer', 'string', 'float']) }),
  ),
  /** The report's data version; absent if the data changed, or may have changed, during the query. */
  dataVersion: v.optional(v.string()),
  /** Key of the job's record, which waits for the files. Release 1.0.0 writes none. */
  record: v.optional(resultsKey),
  /** Whether the plain file is made first, because the first caller takes no gzip. */
  isPlainFirst: v.optional(v.boolean()),
  /** The partner that asked first, for the log. */
  partner: v.optional(v.string()),
});

export type Publication = v.InferOutput<typeof publication>;

/**
 * The largest result that can be gzipped, and then written plain, within the publishing function's 15 minutes. The
 * report of a larger result has only the plain file.
 */
const MAX_GZIPPED_BYTES = 20 * 1024 ** 3;

/**
 * Makes the publishing function publish a large result. Resolves to the job's record as it is stored then, which may
 * already name the files.
 */
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
  // If the publishing function has died, or is of release 1.0.0, the files are there and the record is as it was.
  // Release 1.0.0 tells by an object of its own that it has given a publication up.
  const isAbandoned = (await results.head(abandonedKey(executionId))) !== undefined;
  const stored = await recordExistingFiles(results, wanted);
  if (!isAbandoned) return stored;
  await abandonPublication(results, key);
  return results.read(jobRecordKey(job));
}

/** The publication that an object under `publications/` asks for; undefined if the object is gone or can't be read. */
export async function readPublication(results: ResultsBucket, key: string): Promise<Publication | undefined> {
  if (!v.is(resultsKey, key)) return undefined;
  const result = v.safeParse(publication, (await results.read(key))?.document);
  return result.success ? result.output : undefined;
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
    const file = reportFile(wanted, isGzip ? encoding : undefined);
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
  const [why, reason] = ['unpublished', 'was not published'] as const;
  if (wanted?.record)
    await updatePublication(results, wanted, (record) => {
      if (record.state === 'done') return undefined;
      const { location: _, goodForMs: __, files: ___, ...attempt } = record;
      return { ...attempt, state: 'failed', why, reason, seenAfterMs: 0 };
    });
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
 * Records the files of a large report that exist. Whoever finds them does it: a function that dies after it has written
 * them is not started over. Resolves to the record as it is stored then.
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
