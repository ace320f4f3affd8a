/** What a delivery is given, and what it gives. Times are milliseconds since 1970, by this machine's clock. */
import { createHash } from 'node:crypto';
import type { CsvColumn } from '../csv/retype-csv.ts';
import type { DataState, Lake } from '../lake/data-version.ts';
import type { EmptyReason } from '../lake/empty-reason.ts';
import { dataKeepChanging, ReportTooLarge, tookTooLong } from '../problems/problem.ts';
import { type CompiledQuery, compileQuery } from '../report/compile-query.ts';
import type { Entitlement } from '../report/entitlement.ts';
import type { ReportRequest } from '../report/parse-request.ts';
import { formatUtcTime } from '../report/utc-time.ts';
import type { RecordIn } from '../results/job-record.ts';
import type { ResultsKey } from '../results/keys.ts';
import type { ResultsBucket, StoredDocument } from '../results/results-bucket.ts';
import type { Progress } from '../results/ticket.ts';
import type { Limits, QueryService } from './execution.ts';

export interface DeliveryBackends {
  readonly queries: QueryService;
  readonly results: ResultsBucket;
  readonly lake: Lake;
}

/** Who wants which report. */
export interface Wanted {
  readonly request: ReportRequest;
  readonly entitlement: Entitlement;
  /** The id of the client that asks. If the token names no client: the subject, or else `unnamed`. */
  readonly client: string;
}

/** One report over one state of the data. */
export interface Job {
  /** Digest of query, columns and data version. Jobs with the same id have the same files. */
  readonly id: string;
  readonly query: CompiledQuery;
  readonly columns: readonly CsvColumn[];
  readonly fileName: string;
  /** The data as this request knows them. Another request for the job may have seen another listing. */
  readonly data: DataState;
}

/** Compiles a request into a job. Callers who may see different rows have different queries, so they share no job. */
export function makeJob(
  { request, entitlement }: Pick<Wanted, 'request' | 'entitlement'>,
  data: DataState,
): Job {
  const { report, requestedFields, window } = request;
  const query = compileQuery(request, entitlement);
  const columns = requestedFields.map(({ name, type }) => ({ name, type }));
  const [start, end] = [window.start, window.end].map((time) => formatUtcTime(time).replaceAll(/[-:]/g, ''));
  const id = createHash('sha256')
    .update(JSON.stringify([query, columns, data.version]))
    .digest('hex');
  return { id, query, columns, fileName: `${report.name}_${start}_${end}.csv`, data };
}

/** The limits and conditions of one delivery. */
export interface DeliveryTerms extends Limits {
  /** When the caller sent its first request for this report; if its companies changed since, when they did. */
  readonly askedAt: number;
  /** When the request must be answered, with the report or with a waiting URL. */
  readonly waitUntil: number;
  /** Until when the caller may wait for its query. */
  readonly giveUpAt: number;
  /** Until when the caller may wait for its report's publication. */
  readonly publishUntil: number;
  /** How old a listing of the lake may be. */
  readonly listingMs: number;
  readonly acceptsGzip: boolean;
  /** Athena's scan limit for one query, in bytes; undefined if unknown. */
  readonly scanLimit: number | undefined;
  /** The partner that asks, for the log of the publishing function. */
  readonly partner?: string | undefined;
  /** How many queries of one client may be under way at the same time; undefined if there is no limit. */
  readonly queriesPerPartner: number | undefined;
}

/** Everything that one request needs to make a report. */
export interface Run {
  readonly backends: DeliveryBackends;
  readonly wanted: Wanted;
  readonly terms: DeliveryTerms;
  readonly note: (facts: DeliveryFacts) => void;
}

/** A request, and what it knows of its caller's wait. It changes as the request goes on. */
export interface Wait extends Run {
  /** The job that the caller wants, for the data as they were listed last. */
  job: Job;
  /** The job's record, as it was read or written last. */
  stored: StoredDocument | undefined;
  /** Whether the caller has waited for an attempt. */
  hasWaited: boolean;
  /** Token of the last attempt that was created for this caller. */
  own: string | undefined;
  waitsForSlot: boolean;
  /** How often the report was started again because files changed during its query. */
  dataChanges: number;
  /** ETag of the record that was stored when the lake was listed again; `none` if there was none. */
  listedAfter?: string;
  /** The client's slots, read beside the record; undefined after the first look at them. */
  slots: Promise<StoredDocument | undefined> | undefined;
}

/** Where the report comes from (RFC 9211). `hit`: the cache; `miss`: a new query; `collapsed`: a query under way. */
export type CacheStatus = 'hit' | 'miss' | 'collapsed';

/** The state of a delivery when its request must be answered. */
export type Delivery =
  | {
      readonly state: 'ready';
      /** Key of the report's file in the results bucket. */
      readonly key: ResultsKey;
      readonly bytes: number;
      readonly cacheStatus: CacheStatus;
      /** Absent if the lake changed, or may have changed, during the query: the report then has no single version. */
      readonly dataVersion?: string;
      /** Set if the report has no rows. Absent if their number is not known. */
      readonly whyEmpty?: EmptyReason;
    }
  | { readonly state: 'waiting'; readonly progress: Progress; readonly cacheStatus: CacheStatus };

/** Facts for the log and the metrics, whether the delivery succeeds or fails. */
export interface DeliveryFacts {
  queryExecutionId?: string;
  dataVersion?: string;
  /** The job's id. */
  job?: string;
  bytesScanned?: number;
  engineMs?: number;
  /** The time from the query's submission to its end. */
  queryMs?: number;
  /** The queries that this request counts in the metrics, because it has recorded their end. */
  finishedQueries?: readonly FinishedQuery[];
  /** Set if this request waited because all slots of its client were taken. */
  waitsForShare?: true;
}

export interface FinishedQuery {
  readonly state: 'succeeded' | 'failed' | 'scan-limit-exceeded';
  readonly bytesScanned: number;
  readonly queryMs: number;
}

/** The query failed. The caller gets a 500 without details; the log gets the engine's reason. */
export class QueryFailed extends Error {
  override readonly name = 'QueryFailed';
}

/** The report's file could not be made from the result. The caller gets a 500 without details. */
class PublicationFailed extends Error {
  override readonly name = 'PublicationFailed';
}

/** The error that the caller gets for an attempt that left no report. */
export function refusalOf({ executionId, why, reason }: RecordIn<'failed'>): Error {
  if (why === 'too-large') return new ReportTooLarge();
  if (why === 'too-long') return tookTooLong();
  if (why === 'data-changed') return dataKeepChanging();
  if (why === 'unpublished') return new PublicationFailed(`the result of query ${executionId} ${reason}`);
  return new QueryFailed(`query ${executionId} ${reason}`);
}
