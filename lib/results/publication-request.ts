import * as v from 'valibot';
import { resultsKey } from './keys.ts';
import type { ResultsBucket } from './results-bucket.ts';

/** A request to publish a large result. */
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

/** The publication that an object under `publications/` asks for; undefined if the object is gone or can't be read. */
export async function readPublication(results: ResultsBucket, key: string): Promise<Publication | undefined> {
  if (!v.is(resultsKey, key)) return undefined;
  const result = v.safeParse(publication, (await results.read(key))?.document);
  return result.success ? result.output : undefined;
}
