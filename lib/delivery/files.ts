/** The files of a report: made at once from a small result, or by the publishing function from a large one. */
import { setTimeout as delay } from 'node:timers/promises';
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
import type { Run, Target } from './delivery.ts';
import { nextFileLookMs } from './pace.ts';

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

/** The sizes of a report's files that exist. */
async function filesOf(results: ResultsBucket, { key }: Pick<FileFacts, 'key'>): Promise<ReportFiles> {
  const [plain, gzip] = await Promise.all([results.head(key), results.head(gzippedKey(key))]);
  return { ...(plain && { plain: plain.bytes }), ...(gzip && { gzip: gzip.bytes }) };
}

/**
 * Makes the publishing function publish a large result, and waits until the files exist, the record has changed, or this
 * request must answer. Resolves to the record as it is stored then.
 */
export async function awaitPublication(
  { backends: { results }, terms }: Run,
  { job, data }: Target,
  stored: StoredDocument | undefined,
  { executionId, location, isOfVersion }: RecordIn<'publishing'>,
): Promise<StoredDocument | undefined> {
  const began = Date.now();
  const publication = {
    form: 1 as const,
    executionId,
    location,
    key: reportKey(executionId, job.fileName),
    fileName: job.fileName,
    columns: [...job.columns],
    record: jobRecordKey(job),
    ...(isOfVersion && { dataVersion: data.version }),
    ...(terms.partner !== undefined && { partner: terms.partner }),
  };
  await results.create(publicationKey(executionId), publication satisfies Publication);
  // If the publishing function has died, or is of release 1.0.0, the files are there and the record is as it was.
  // Release 1.0.0 tells by an object of its own that it has given a publication up.
  const isAbandoned = (await results.head(abandonedKey(executionId))) !== undefined;
  await recordFiles(results, publication);
  if (isAbandoned) await abandonPublication(results, publicationKey(executionId));
  for (;;) {
    const latest = await results.read(publication.record);
    const leftMs = terms.waitUntil - Date.now();
    if (latest?.etag !== stored?.etag || leftMs <= 0) return latest;
    await delay(Math.min(nextFileLookMs(Date.now() - began), leftMs));
  }
}

/** The publication that an object under `publications/` asks for; undefined if the object is gone or can't be read. */
export async function readPublication(results: ResultsBucket, key: string): Promise<Publication | undefined> {
  if (!v.is(resultsKey, key)) return undefined;
  const result = v.safeParse(publication, (await results.read(key))?.document);
  return result.success ? result.output : undefined;
}

/**
 * Streams a large result into both of the report's files, and records each for those who wait as soon as it is written.
 * The gzipped file comes first. A file that an earlier run has written is not written again. Resolves to false if the
 * result is gone.
 */
export async function publishLarge(
  results: ResultsBucket & LargeFiles,
  wanted: Publication,
): Promise<boolean> {
  let rows: number | undefined;
  const upload = async (encoding?: 'gzip') => {
    const bytes = await results.uploadFile(
      encoding ? gzippedKey(wanted.key) : wanted.key,
      { ...fileOf(wanted), ...(encoding && { encoding }) },
      async () => {
        const result = await results.openResult(wanted.location);
        const csv =
          result &&
          retypeCsv(wanted.columns, result, (number) => {
            rows = number;
          });
        return csv && encoding ? gzippedChunks(csv) : csv;
      },
    );
    await recordFiles(results, wanted, rows);
    return bytes !== undefined;
  };
  const files = await filesOf(results, wanted);
  if (files.plain !== undefined) await recordFiles(results, wanted);
  else {
    const result = await results.readResult(wanted.location, 0);
    if (!result) return false;
    const isGzipped = result.bytes > MAX_GZIPPED_BYTES || files.gzip !== undefined;
    return (isGzipped || (await upload('gzip'))) && upload();
  }
  return true;
}

/**
 * Records that a publication has been given up, for the requests that wait for it. Resolves to the facts for the log.
 */
export async function abandonPublication(results: ResultsBucket, requestedBy: string) {
  const wanted = await readPublication(results, requestedBy);
  const queryExecutionId = publishedExecution(requestedBy);
  if (wanted?.record)
    await updatePublication(results, wanted, ({ location: _, goodForMs: __, files: ___, ...record }) => ({
      ...record,
      state: 'failed',
      why: 'unpublished',
      reason: 'was not published',
      seenAfterMs: 0,
    }));
  // For those who wait with release 1.0.0.
  else await results.create(abandonedKey(queryExecutionId), {});
  return { queryExecutionId, partner: wanted?.partner };
}

/**
 * Records the files of a large report that exist. Whoever finds them does it: a function that dies after it has written
 * them is not started over. Resolves to the record as it is stored then.
 */
async function recordFiles(
  results: ResultsBucket,
  wanted: Pick<Publication, 'key' | 'record' | 'executionId'>,
  rows?: number,
): Promise<StoredDocument | undefined> {
  const files = await filesOf(results, wanted);
  return updatePublication(results, wanted, ({ location, ...record }) => {
    const now = { ...record, ...(rows !== undefined && { rows }), files };
    if (files.plain !== undefined) return { ...now, state: 'done' };
    return files.gzip !== undefined && record.files.gzip === undefined ? { ...now, location } : undefined;
  });
}

/** Changes the job's record, if it still waits for this publication. Resolves to the record as it is stored then. */
async function updatePublication(
  results: ResultsBucket,
  { record: key, executionId }: Pick<Publication, 'record' | 'executionId'>,
  change: (record: RecordIn<'publishing'>) => EndedRecord | undefined,
): Promise<StoredDocument | undefined> {
  if (key === undefined) return undefined;
  for (;;) {
    const stored = await results.read(key);
    const record = readRecord(stored);
    if (!stored || record?.state !== 'publishing' || record.executionId !== executionId) return stored;
    const next = change(record);
    if (!next) return stored;
    const endedForMs = (record.endedForMs ?? 0) + stored.ageMs;
    const written = await results.replace(stored, key, { ...next, endedForMs });
    if (written) return written;
  }
}
