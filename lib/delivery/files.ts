/** The files of a report: made at once from a small result, or by the publishing function from a large one. */
import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import { retypeCsv } from '../csv/retype-csv.ts';
import { gzipped, gzippedChunks } from '../results/gzipped.ts';
import { type RecordIn, type ReportFiles, readRecord } from '../results/job-record.ts';
import { abandonedKey, gzippedKey, publicationKey, publishedExecution, resultsKey } from '../results/keys.ts';
import type { LargeFiles, ReportFile, ResultsBucket, StoredDocument } from '../results/results-bucket.ts';

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
): Promise<ReportFiles> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of retypeCsv(report.columns, [result])) chunks.push(chunk);
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
  return { plain: csv.length, ...(bytes !== undefined && { gzip: bytes }) };
}

/** The sizes of a report's existing files; undefined if the plain file is missing. */
async function filesOf(
  results: ResultsBucket,
  { key }: Pick<FileFacts, 'key'>,
): Promise<ReportFiles | undefined> {
  const [plain, gzip] = await Promise.all([results.head(key), results.head(gzippedKey(key))]);
  return plain && { plain: plain.bytes, ...(gzip && { gzip: gzip.bytes }) };
}

/** Makes the publishing function publish a large result: the new object starts it. Does nothing if it was requested. */
export const requestPublication = (results: ResultsBucket, wanted: Publication) =>
  results.create(publicationKey(wanted.executionId), wanted);

/** The publication that an object under `publications/` asks for; undefined if the object is gone or can't be read. */
export async function readPublication(results: ResultsBucket, key: string): Promise<Publication | undefined> {
  if (!v.is(resultsKey, key)) return undefined;
  const result = v.safeParse(publication, (await results.read(key))?.document);
  return result.success ? result.output : undefined;
}

/**
 * Streams a large result into both of the report's files, and records them for those who wait. The gzipped file is
 * written first, because callers get their answer as soon as the plain file exists. A file that an earlier run has
 * written is not written again. Resolves to false if the result is gone.
 */
export async function publishLarge(
  results: ResultsBucket & LargeFiles,
  wanted: Publication,
): Promise<boolean> {
  const upload = (encoding?: 'gzip') =>
    results.uploadFile(
      encoding ? gzippedKey(wanted.key) : wanted.key,
      { ...fileOf(wanted), ...(encoding && { encoding }) },
      async () => {
        const result = await results.openResult(wanted.location);
        const csv = result && retypeCsv(wanted.columns, result);
        return csv && encoding ? gzippedChunks(csv) : csv;
      },
    );
  if (!(await filesOf(results, wanted))) {
    const result = await results.readResult(wanted.location, 0);
    if (!result) return false;
    const isGzipped = result.bytes > MAX_GZIPPED_BYTES || (await results.head(gzippedKey(wanted.key)));
    if (!isGzipped && (await upload('gzip')) === undefined) return false;
    if ((await upload()) === undefined) return false;
  }
  await recordFiles(results, wanted);
  return true;
}

/**
 * Records that a publication has been given up, for the requests that wait for it. Resolves to the facts for the log.
 */
export async function abandonPublication(results: ResultsBucket, requestedBy: string) {
  const wanted = await readPublication(results, requestedBy);
  const queryExecutionId = publishedExecution(requestedBy);
  if (wanted?.record)
    await endPublication(results, wanted, ({ location: _, goodForMs: __, ...record }) => ({
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
 * Records the files of a large report if they exist. Whoever finds them does it: a function that dies after it has
 * written them is not started over. Resolves to the record as stored; undefined if the plain file is missing.
 */
export async function recordFiles(
  results: ResultsBucket,
  wanted: Pick<Publication, 'key' | 'record' | 'executionId'>,
): Promise<StoredDocument | undefined> {
  const files = await filesOf(results, wanted);
  return (
    files &&
    endPublication(results, wanted, ({ location: _, ...record }) => ({ ...record, state: 'done', files }))
  );
}

/** Replaces the job's record, if it still waits for this publication. Resolves to the record as stored. */
async function endPublication(
  results: ResultsBucket,
  { record: key, executionId }: Pick<Publication, 'record' | 'executionId'>,
  end: (record: RecordIn<'publishing'>) => RecordIn<'done' | 'failed'>,
): Promise<StoredDocument | undefined> {
  if (key === undefined) return undefined;
  for (;;) {
    const stored = await results.read(key);
    const record = readRecord(stored);
    if (!stored || record?.state !== 'publishing' || record.executionId !== executionId) return stored;
    const written = await results.replace(stored, key, { ...end(record), endedForMs: stored.ageMs });
    if (written) return written;
  }
}
