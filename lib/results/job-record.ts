import * as v from 'valibot';
import type { StoredDocument } from './results-bucket.ts';

const every = {
  /** Version of the record's format. A record of another version counts as absent. */
  form: v.literal(2),
  /** Random, new with each write: by it, a request knows its own write when S3's answer was lost. */
  writer: v.string(),
  /** The attempt's token: Athena gives the same execution for it. Random, drawn by who claims the attempt. */
  attempt: v.string(),
};

const open = {
  ...every,
  /** How long after this write its writer asks Athena for all who wait. Absent: nobody asks, anyone may take over. */
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

/** What is stored of a job: its latest attempt, and how that stands. */
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
    /** How long after this write it may be given to new callers although it is of no one version. */
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
     * Why it may be worth asking again: files changed under the query, it took too long and was stopped, or another attempt
     * was called for and its leader had no time left to claim it.
     */
    cause: v.optional(v.picklist(['data-changed', 'took-too-long', 'not-repeated'])),
  }),
]);

export type JobRecord = v.InferOutput<typeof jobRecord>;
/** Of an attempt that has not ended. */
export type OpenRecord = Extract<JobRecord, { readonly state: 'starting' | 'under-way' }>;
/** Of an attempt that has ended. */
export type EndedRecord = Exclude<JobRecord, OpenRecord>;
export type SucceededRecord = Extract<JobRecord, { readonly state: 'succeeded' }>;
export type FailedRecord = Extract<JobRecord, { readonly state: 'failed' }>;
/** Of an attempt without a report. */
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
