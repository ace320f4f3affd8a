import * as v from 'valibot';
import type { StoredDocument } from './results-bucket.ts';

const every = {
  /** Version of the record's format. A record of another version counts as absent. */
  form: v.literal(2),
  /**
   * A random id, new with each write of the request that leads the attempt; a publication keeps it. If S3's answer was
   * lost, that request recognises its write by this id.
   */
  writer: v.string(),
  /** The attempt's random token. For the same token, Athena gives the same execution. */
  attempt: v.string(),
  /** How many attempts, this one included, have followed each other for callers that wait. */
  attempts: v.number(),
  /**
   * The `writer` of the record that this attempt replaced, from which a request learns that its write was done although
   * S3's answer was lost. Absent in a job's first attempt.
   */
  follows: v.optional(v.string()),
  /** Whether the attempt repeats a query that failed. */
  isRetry: v.boolean(),
  /** Fingerprint of the listing for which the attempt was started. */
  fingerprint: v.string(),
  /** The id of the slot that the attempt's query takes, if partners have a limited number of slots. */
  slot: v.optional(v.string()),
  /** The scan limit when the attempt was started, in bytes; absent if it is not known. */
  limit: v.optional(v.number()),
};

const open = {
  ...every,
  /** The lease: for so long after this write, its writer asks Athena for all who wait. Absent: any may take over. */
  leaseMs: v.optional(v.number()),
};

const ended = {
  ...every,
  executionId: v.string(),
  /** Athena's times, in milliseconds since 1970. */
  submittedAt: v.number(),
  completedAt: v.number(),
  bytesScanned: v.number(),
  engineMs: v.number(),
  /** Whether this belongs to the job's data version: the lake was the same before and after the query. */
  isOfVersion: v.boolean(),
  /** How long the query's end had been recorded when the publication's end was; absent if nothing was published. */
  endedForMs: v.optional(v.number()),
};

const succeeded = {
  ...ended,
  /** For so long after the query's end was recorded, new callers get the report, even without a data version. */
  goodForMs: v.optional(v.number()),
  /** The sizes of the report's files that exist, in bytes. */
  files: v.object({ plain: v.optional(v.number()), gzip: v.optional(v.number()) }),
  /** The number of the report's rows. Unknown if a publishing function died after it had written the files. */
  rows: v.optional(v.number()),
};

/** A job's record: the state of its latest attempt. */
const jobRecord = v.variant('state', [
  v.object({ state: v.literal('starting'), ...open }),
  v.object({
    state: v.literal('under-way'),
    ...open,
    executionId: v.string(),
    /** How long Athena had had the query at the time of this write, in milliseconds. */
    elapsedMs: v.number(),
    /** When Athena first reported the query as running, by Athena's clock. */
    runningAt: v.optional(v.number()),
    /** Whether Athena has reported the query as running, even if Athena has put it back into its queue since then. */
    hasRun: v.optional(v.boolean()),
    /** Set before a request stops the query because it takes too long: who sees the query cancelled knows why. */
    isStopped: v.optional(v.boolean()),
  }),
  v.object({
    /** The publishing function makes a large result into files. */
    state: v.literal('publishing'),
    ...succeeded,
    /** `s3://bucket/key` of the engine's result. */
    location: v.string(),
  }),
  v.object({
    state: v.literal('done'),
    ...succeeded,
    /** Where the engine's large result is. */
    location: v.optional(v.string()),
  }),
  v.object({
    state: v.literal('failed'),
    ...ended,
    why: v.picklist([
      'engine', // The query failed.
      'retryable', // The query failed; Athena says that it may succeed if it is run again.
      'data-changed', // The query failed, and files had changed.
      'too-long', // The query was stopped.
      'too-large', // The query reached the scan limit.
      'lost', // The query left no result.
      'unreadable', // Its result is not the engine's CSV.
      'unpublished', // Its files could not be made.
    ]),
    /** The reason in the engine's words or ours, for the log. */
    reason: v.string(),
    /** How long after the query's end this record was written. */
    seenAfterMs: v.number(),
  }),
]);

export type JobRecord = v.InferOutput<typeof jobRecord>;
export type RecordIn<State extends JobRecord['state']> = Extract<JobRecord, { readonly state: State }>;
/** The record of an attempt whose query has not ended. */
export type OpenRecord = RecordIn<'starting' | 'under-way'>;
export type EndedRecord = Exclude<JobRecord, OpenRecord>;
export type ReportFiles = RecordIn<'done'>['files'];

/** The record that a document holds; undefined if it holds none that this release can read. */
export function readRecord(stored: StoredDocument | undefined): JobRecord | undefined {
  const result = v.safeParse(jobRecord, stored?.document);
  return result.success ? result.output : undefined;
}

export const isOpen = (record: JobRecord): record is OpenRecord =>
  record.state === 'starting' || record.state === 'under-way';

/** S3 and Athena truncate times to the second, so the difference of two of their times is wrong by less than this. */
export const AGE_ERROR_MS = 1_000;

/** How much of a record's lease is left, in milliseconds. */
export const leaseLeftMs = ({ leaseMs }: Pick<OpenRecord, 'leaseMs'>, ageMs: number): number =>
  leaseMs === undefined ? 0 : leaseMs + AGE_ERROR_MS - ageMs;
