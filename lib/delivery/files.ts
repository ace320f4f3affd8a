/** The files of a report: made at once from a small result, or by the publishing function from a large one. */
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { retypeCsv } from '../csv/retype-csv.ts';
import { gzipped, gzippedChunks } from '../results/gzipped.ts';
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
import type { LargeFiles, ReportFile, ResultsBucket, StoredDocument } from '../results/results-bucket.ts';
import type { Run } from './delivery.ts';
import type { Job } from './job.ts';

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
/** What the files of a report are made with. */
export type FileFacts = Pick<Publication, 'executionId' | 'key' | 'fileName' | 'columns' | 'dataVersion'>;

/** The largest result that a report's function re-types while the caller waits. Re-typing it takes about a second. */
export const MAX_SMALL_BYTES = 16 * 1024 * 1024;

/** How long to wait for the gzipped file after the plain file is written. */
const GZIP_GRACE_MS = 1_000;

/**
 * The largest result that can be gzipped, and then written plain, within the publishing function's 15 minutes. The
 * report of a larger result has only the plain file.
 */
const MAX_GZIPPED_BYTES = 20 * 1024 ** 3;

export const fileFacts = (
  { fileName, columns, data }: Job,
  { executionId, isOfVersion }: Pick<EndedRecord, 'executionId' | 'isOfVersion'>,
): FileFacts => ({
  executionId,
  key: reportKey(executionId, fileName),
  fileName,
  columns: [...columns],
  ...(isOfVersion && { dataVersion: data.version }),
});

const fileOf = ({ fileName, executionId, dataVersion }: FileFacts): ReportFile => ({
  fileName,
  metadata: {
    'query-execution-id': executionId,
    ...(dataVersion !== undefined && { 'data-version': dataVersion }),
  },
});

/**
 * Makes both of the report's files from a small result (docs/contract.md#the-file). Tries only once to write the
 * gzipped file: if the try fails, every caller gets the plain file. Throws NotEngineCsv if the result can't be read.
 */
export async function writeReport(
  results: ResultsBucket,
  report: FileFacts,
  result: Uint8Array,
): Promise<{ readonly files: ReportFiles; readonly rows: number }> {
  const chunks: Uint8Array[] = [];
  let rows = 0;
  const csvChunks = retypeCsv(report.columns, [result], (number) => {
    rows = number;
  });
  for await (const chunk of csvChunks) chunks.push(chunk);
  const csv = Buffer.concat(chunks);
  const file = fileOf(report);
  const writeGzipped = async () => {
    const content = await gzipped(csv);
    await results.writeFile(gzippedKey(report.key), { ...file, encoding: 'gzip' }, content, 1);
    return content.length;
  };
  const gzip = writeGzipped().catch(() => undefined);
  await results.writeFile(report.key, file, csv);
  const bytes = await Promise.race([gzip, delay(GZIP_GRACE_MS, undefined, { ref: false })]);
  return { files: { plain: csv.length, ...(bytes !== undefined && { gzip: bytes }) }, rows };
}

/**
 * Makes the publishing function publish a large result. Resolves to the job's record as it is stored then, which may
 * already name the files.
 */
export async function requestPublication(
  { backends: { results }, terms: { acceptsGzip, partner } }: Run,
  job: Job,
  record: RecordIn<'publishing'>,
): Promise<StoredDocument | undefined> {
  const wanted: Publication = {
    form: 1,
    ...fileFacts(job, record),
    location: record.location,
    record: jobRecordKey(job),
    ...(!acceptsGzip && { isPlainFirst: true }),
    ...(partner !== undefined && { partner }),
  };
  const key = publicationKey(record.executionId);
  await results.create(key, wanted);
  // If the publishing function has died, or is of release 1.0.0, the files are there and the record is as it was.
  // Release 1.0.0 tells by an object of its own that it has given a publication up.
  const isAbandoned = (await results.head(abandonedKey(record.executionId))) !== undefined;
  const stored = await recordFiles(results, wanted);
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
  let rows: number | undefined;
  const upload = async (encoding: 'gzip' | 'plain'): Promise<boolean> => {
    const isGzip = encoding === 'gzip';
    const file: ReportFile = { ...fileOf(wanted), ...(isGzip && { encoding }) };
    const bytes = await results.uploadFile(isGzip ? gzippedKey(wanted.key) : wanted.key, file, async () => {
      const result = await results.openResult(wanted.location);
      if (!result) return undefined;
      const csv = retypeCsv(wanted.columns, result, (number) => {
        rows = number;
      });
      return isGzip ? gzippedChunks(csv) : csv;
    });
    await recordFiles(results, wanted, rows);
    return bytes !== undefined;
  };
  const files = await filesOf(results, wanted);
  let isThere = files.plain !== undefined;
  if (Object.keys(files).length > 0) await recordFiles(results, wanted);
  const result = await results.readResult(wanted.location, 0);
  if (!result) return isThere;
  for (const encoding of wanted.isPlainFirst ? (['plain', 'gzip'] as const) : (['gzip', 'plain'] as const)) {
    if (files[encoding] !== undefined) continue;
    if (encoding === 'gzip' && result.bytes > MAX_GZIPPED_BYTES) continue;
    if (!(await upload(encoding))) break;
    isThere ||= encoding === 'plain';
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
async function filesOf(results: ResultsBucket, { key }: FileFacts): Promise<ReportFiles> {
  const [plain, gzip] = await Promise.all([results.head(key), results.head(gzippedKey(key))]);
  return { ...(plain && { plain: plain.bytes }), ...(gzip && { gzip: gzip.bytes }) };
}

/**
 * Records the files of a large report that exist. Whoever finds them does it: a function that dies after it has written
 * them is not started over. Resolves to the record as it is stored then.
 */
async function recordFiles(results: ResultsBucket, wanted: Publication, rows?: number) {
  const files = await filesOf(results, wanted);
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
