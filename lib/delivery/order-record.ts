import * as v from 'valibot';
import type { StoredDocument } from './results.ts';

const time = v.number();
const every = {
  /** Version of the record's format. A record of another version counts as absent. */
  form: v.literal(1),
  /** The token with which the execution is started: it names the try. */
  token: v.string(),
  /** The trace of the listing for which it is started. */
  trace: v.string(),
};
const open = {
  ...every,
  /** Until when one request asks the engine for all who wait. After that, another request may take over. */
  askedUntil: time,
  /** A random id, new with each claim: by it, a request knows the record that it wrote itself. */
  claim: v.string(),
  /** Whether this is the second try of a query that failed. */
  isRetry: v.boolean(),
  /** The client against whose share the query counts; absent in records of older versions. */
  startedFor: v.optional(v.string()),
};
const ended = {
  ...every,
  executionId: v.string(),
  bytesScanned: v.number(),
  submittedAt: time,
  completedAt: time,
  engineMs: v.number(),
};

/** What is stored of an order: the try that answers it, and how that stands. Times are milliseconds since 1970. */
const orderRecord = v.variant('state', [
  v.object({ state: v.literal('starting'), ...open }),
  v.object({
    state: v.literal('under-way'),
    ...open,
    executionId: v.string(),
    /** When the engine was asked for it, so that whoever takes over need not ask at once. */
    startedAt: v.optional(time),
  }),
  v.object({
    state: v.literal('succeeded'),
    ...ended,
    /** `s3://bucket/key` of the engine's result. */
    location: v.string(),
    resultBytes: v.number(),
    /**
     * Whether its file is the copy of the order's version: the lake stood still from the listing before the query to
     * the listing after it.
     */
    isCopy: v.boolean(),
    /** Until when it may be given again although it is no copy: as long as its listing may be used again; 0: never. */
    goodUntil: time,
  }),
  v.object({
    state: v.literal('cut-off'),
    ...ended,
    /** The limit of bytes at which the engine stopped it; 0 where it is not known. */
    limit: v.number(),
  }),
  v.object({
    state: v.literal('failed'),
    ...ended,
    reason: v.string(),
    /** Whether files of the lake changed under it. */
    hasDataMoved: v.boolean(),
  }),
]);

export type OrderRecord = v.InferOutput<typeof orderRecord>;
/** Of a try that has not ended. */
export type OpenRecord = Extract<OrderRecord, { readonly state: 'starting' | 'under-way' }>;
/** Of a try that has ended. */
export type EndedRecord = Exclude<OrderRecord, OpenRecord>;
export type SucceededRecord = Extract<OrderRecord, { readonly state: 'succeeded' }>;

/** The record that a document holds; undefined where it holds none that can be read. */
export function readRecord(stored: StoredDocument | undefined): OrderRecord | undefined {
  const result = v.safeParse(orderRecord, stored?.document);
  return result.success ? result.output : undefined;
}
