import * as v from 'valibot';
import type { StoredDocument } from './results-bucket.ts';

const every = {
  /** Version of the record's format. A record of another version counts as absent. */
  form: v.literal(2),
  /** Random, new with each write. A request recognises its own write by it, if S3's answer was lost. */
  writer: v.string(),
  /**
   * The attempt's token, random, chosen by the request that creates it. For the same token, Athena gives the same
   * execution.
   */
  attempt: v.string(),
};

const open = {
  ...every,
  /**
   * The lease: how long from this write on the writer asks Athena for all who wait. Absent: no lease; any request may
   * take over.
   */
  leaseMs: v.optional(v.number()),
  /** Whether it repeats a query that failed. */
  isRetry: v.boolean(),
  /** The slot that its query takes, where partners have a limited number of them. */
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
    /** How long Athena had had the query at this write. */
    elapsedMs: v.number(),
    /** When Athena first said that it is running, by Athena's clock. */
    runningAt: v.optional(v.number()),
  }),
  v.object({
    state: v.literal('succeeded'),
    ...ended,
    /** `s3://bucket/key` of the engine's result. */
    location: v.string(),
    resultBytes: v.number(),
    /** Whether it is a report of the job's version: the lake was the same before the query and after it. */
    isOfVersion: v.boolean(),
    /** How long after this write new callers may get the report, even if it has no data version. */
    goodForMs: v.optional(v.number()),
    /** The report's files and their sizes. Absent: they have not been written yet. */
    files: v.optional(v.object({ plain: v.number(), gzip: v.optional(v.number()) })),
  }),
  v.object({
    state: v.literal('scan-limit-exceeded'),
    ...ended,
    /** The limit in bytes; absent where it is not known. */
    limit: v.optional(v.number()),
  }),
  v.object({
    state: v.literal('failed'),
    ...ended,
    /** How long after the query's end this was written: a caller that came in between has not waited for it. */
    seenAfterMs: v.number(),
    /** In the engine's words or ours: for the log. */
    reason: v.string(),
    /**
     * Why a new attempt may succeed: files changed during the query; the query took too long and was stopped; or a next
     * attempt was needed, but the leading caller's time was up.
     */
    cause: v.optional(v.picklist(['data-changed', 'took-too-long', 'not-repeated'])),
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

/** The record that a document holds; undefined where it holds none that can be read. */
export function readRecord(stored: StoredDocument | undefined): JobRecord | undefined {
  const result = v.safeParse(jobRecord, stored?.document);
  return result.success ? result.output : undefined;
}

export const isOpen = (record: JobRecord): record is OpenRecord =>
  record.state === 'starting' || record.state === 'under-way';
