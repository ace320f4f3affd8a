import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import { retypeCsv } from '../csv/retype-csv.ts';
import { RESULTS_PREFIX } from '../names.ts';
import { gzipped } from './gzipped.ts';
import { nextFileLookMs } from './pace.ts';
import type { EngineResult, ResultsBucket } from './results.ts';

/** All that it takes to make a report's file from an execution's result. Stored as a request if the result is large. */
const publication = v.object({
  /** Version of the request's format. A request of another version counts as absent. */
  form: v.literal(1),
  executionId: v.string(),
  /** `s3://bucket/key` of the engine's result. */
  location: v.string(),
  /** Of the report's file. */
  key: v.string(),
  fileName: v.string(),
  columns: v.array(
    v.object({ name: v.string(), type: v.picklist(['datetime', 'integer', 'string', 'float']) }),
  ),
  /** The version of the data that it is a report of; absent where the data changed under the query. */
  dataVersion: v.optional(v.string()),
  /** Who asked first, for the log. */
  partner: v.optional(v.string()),
});

export type Publication = v.InferOutput<typeof publication>;

/** The largest result that a report's function re-types while the caller waits: it takes about a second. */
const INLINE_BYTES = 16 * 1024 * 1024;

/** Time limit of one try to write a small report; a large one has none. */
const INLINE_TRY_MS = 5_000;

/**
 * How long a publication may be under way: Lambda runs it three times, 15 minutes each, with pauses of 1 and 2 minutes.
 * Later than that, it counts as given up.
 */
const LONGEST_PUBLICATION_MS = 50 * 60_000;

export const isLarge = (resultBytes: number): boolean => resultBytes > INLINE_BYTES;

/** The zipped file lies beside the plain one, and is as immutable. */
const ZIPPED = '.gz';
export const zippedKey = (key: string): string => key + ZIPPED;
export const isZippedKey = (key: string): boolean => key.endsWith(ZIPPED);

const requestKey = (executionId: string) => `${RESULTS_PREFIX.publications}${executionId}.json`;
const abandonedKey = (executionId: string) => `${RESULTS_PREFIX.abandoned}${executionId}.json`;

/**
 * What the publishing function zips within its 15 minutes, with the plain file after it. A larger report is given
 * plain to everyone.
 */
const MAX_ZIPPED_BYTES = 20 * 1024 ** 3;

/**
 * Streams a large result into both of the report's files, the zipped one first: once the plain one is there, every
 * caller has the file that serves it best. A file that an earlier run has written is not written again. Resolves to
 * false where the result is gone.
 */
export async function publishLarge(results: ResultsBucket, wanted: Publication): Promise<boolean> {
  if (await results.head(wanted.key)) return true;
  const result = await results.openResult(wanted.location);
  if (!result) return false;
  const zipped = zippedKey(wanted.key);
  if (result.bytes > MAX_ZIPPED_BYTES || (await results.head(zipped)))
    return publish(results, wanted, result, Number.POSITIVE_INFINITY);
  return (
    (await publish(results, wanted, result, Number.POSITIVE_INFINITY, 'gzip')) &&
    publish(results, wanted, undefined, Number.POSITIVE_INFINITY)
  );
}

/**
 * Streams the engine's result into the report's file (docs/contract.md#the-file). Resolves to false where the result is
 * gone.
 *
 * @param opened the result, where it has been opened already
 * @param longestTryMs of one try to write the file
 * @param encoding writes the zipped file instead of the plain one
 */
export async function publish(
  results: ResultsBucket,
  { location, key, fileName, columns, executionId, dataVersion }: Publication,
  opened?: EngineResult,
  longestTryMs = INLINE_TRY_MS,
  encoding?: 'gzip',
): Promise<boolean> {
  let first = opened;
  const metadata = { 'query-execution-id': executionId, ...(dataVersion && { 'data-version': dataVersion }) };
  const open = async () => {
    const result = first ?? (await results.openResult(location));
    first = undefined;
    const csv = result && retypeCsv(columns, result.content);
    return csv && encoding ? gzipped(csv) : csv;
  };
  return encoding
    ? results.writeOnce(zippedKey(key), { fileName, metadata, encoding }, open, longestTryMs)
    : results.writeOnce(key, { fileName, metadata }, open, longestTryMs);
}

/**
 * Has the publishing function publish a large result, and waits for it. Resolves to how that stands at `until`.
 *
 * @param until in milliseconds since 1970
 */
export async function awaitPublication(
  results: ResultsBucket,
  wanted: Publication,
  until: number,
): Promise<'published' | 'under-way' | 'abandoned'> {
  const began = Date.now();
  const { executionId, key } = wanted;
  if (await results.head(key)) return 'published';
  const isNew = await results.create(requestKey(executionId), wanted);
  if (!isNew) {
    const requested = await results.head(requestKey(executionId));
    if (began - (requested?.lastModified ?? began) > LONGEST_PUBLICATION_MS) return 'abandoned';
  }
  for (;;) {
    const [file, abandoned] = await Promise.all([results.head(key), results.head(abandonedKey(executionId))]);
    if (file) return 'published';
    if (abandoned) return 'abandoned';
    const now = Date.now();
    if (now >= until) return 'under-way';
    await delay(Math.min(nextFileLookMs(now - began), until - now));
  }
}

/** The publication that an object under `publications/` asks for; undefined where it is gone or can't be read. */
export async function readPublication(results: ResultsBucket, key: string): Promise<Publication | undefined> {
  const result = v.safeParse(publication, (await results.read(key))?.document);
  return result.success ? result.output : undefined;
}

/** Tells whoever waits for a publication that it has been given up. Resolves to what the log says of it. */
export async function abandonPublication(results: ResultsBucket, requestedBy: string) {
  const queryExecutionId = requestedBy.slice(RESULTS_PREFIX.publications.length).replace(/\.json$/, '');
  await results.create(abandonedKey(queryExecutionId), {});
  return { queryExecutionId, partner: (await readPublication(results, requestedBy))?.partner };
}
