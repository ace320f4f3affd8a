import * as v from 'valibot';
import type { StoredDocument } from './results-bucket.ts';

const every = {
  /** Version of the record's format. A record of another version counts as absent. */
  form: v.literal(2),
  /** A random id, new with each write. If S3's answer was lost, a request recognises its own write by this id. */
  writer: v.string(),
  /**
   * The attempt's random token, chosen by the request that creates the attempt. For the same token, Athena returns the
   * same execution.
   */
  attempt: v.string(),
  /** How many attempts, this one included, have followed each other for callers that wait. Absent: one. */
  attempts: v.optional(v.number()),
  /**
   * The `writer` of the record that this attempt replaced. If S3's answer to that record was lost, its request learns
   * from this that the record was stored, and counts its query. Absent in a job's first attempt.
   */
  follows: v.optional(v.string()),
};

const open = {
  ...every,
  /**
   * The lease: how long after this write the writer asks Athena for all the requests that wait. Absent if there is no
   * lease: then any request may take over.
   */
  leaseMs: v.optional(v.number()),
  /** Whether the attempt repeats a query that failed. */
  isRetry: v.boolean(),
  /** The id of the slot that the attempt's query takes, if partners have a limited number of slots. */
  slot: v.optional(v.string()),
};

const ended = {
  ...every,
  slot: v.optional(v.string()),
  executionId: v.string(),
  /** Athena's times, in milliseconds since 1970. */
  submittedAt: v.number(),
  completedAt: v.number(),
  bytesScanned: v.number(),
  engineMs: v.number(),
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
    /** Set if Athena has reported the query as running, even if Athena has put it back into its queue since then. */
    hasRun: v.optional(v.boolean()),
    /** Set before a request stops the query because it takes too long: who sees the query cancelled knows why. */
    isStopped: v.optional(v.boolean()),
  }),
  v.object({
    state: v.literal('succeeded'),
    ...ended,
    /** `s3://bucket/key` of the engine's result. */
    location: v.string(),
    resultBytes: v.number(),
    /** Whether the report belongs to the job's data version: the lake was the same before and after the query. */
    isOfVersion: v.boolean(),
    /** How long after this write new callers may get the report, even if it has no data version. */
    goodForMs: v.optional(v.number()),
    /** The report's files and their sizes. Absent if the files have not been written yet. */
    files: v.optional(v.object({ plain: v.number(), gzip: v.optional(v.number()) })),
  }),
  v.object({
    state: v.literal('scan-limit-exceeded'),
    ...ended,
    /** The limit in bytes; absent if it is not known. */
    limit: v.optional(v.number()),
  }),
  v.object({
    state: v.literal('failed'),
    ...ended,
    /**
     * How long after the query's end this record was written. A caller whose first request came between the
     * query's end and this write has not waited for the query.
     */
    seenAfterMs: v.number(),
    /** The reason in the engine's words or ours, for the log. */
    reason: v.string(),
    /**
     * Why a new attempt may succeed: files changed during the query; the query took too long and was stopped; or
     * another attempt was needed, but the caller of the request that held the lease had no time left.
     */
    cause: v.optional(v.picklist(['data-changed', 'took-too-long', 'not-repeated'])),
    /** For `not-repeated`: whether the next attempt repeats a query that failed, and so is the last one. */
    isRetry: v.optional(v.boolean()),
  }),
]);

export type JobRecord = v.InferOutput<typeof jobRecord>;
/** The record of an attempt that has not ended. */
export type OpenRecord = Extract<JobRecord, { readonly state: 'starting' | 'under-way' }>;
/** The record of an attempt that has ended. */
export type EndedRecord = Exclude<JobRecord, OpenRecord>;
export type SucceededRecord = Extract<JobRecord, { readonly state: 'succeeded' }>;
export type FailedRecord = Extract<JobRecord, { readonly state: 'failed' }>;
/** The record of an attempt that ended without a report. */
export type RefusedRecord = Exclude<EndedRecord, SucceededRecord>;
export type ReportFiles = NonNullable<SucceededRecord['files']>;

/** A record as it was read or written. */
export interface StoredRecord<T extends JobRecord = JobRecord> {
  readonly stored: StoredDocument;
  readonly record: T;
}

/** The record that a document holds; undefined if the document is not a readable record. */
export function readRecord(stored: StoredDocument | undefined): JobRecord | undefined {
  const result = v.safeParse(jobRecord, stored?.document);
  return result.success ? result.output : undefined;
}

export const isOpen = (record: JobRecord): record is OpenRecord =>
  record.state === 'starting' || record.state === 'under-way';
