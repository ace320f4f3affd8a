import type { Lake } from '../lake/lake.ts';
import { Unavailable } from '../problems/problem.ts';
import type { Entitlement } from '../report/entitlement.ts';
import type { ReportRequest } from '../report/parse-request.ts';
import type { ResultsKey } from '../results/keys.ts';
import type { ResultsBucket } from '../results/results-bucket.ts';
import type { Progress } from '../results/ticket.ts';
import type { QueryService } from './execution.ts';

/** The services behind a delivery. */
export interface DeliveryBackends {
  readonly queries: QueryService;
  readonly results: ResultsBucket;
  readonly lake: Lake;
}

/** Who wants which report. */
export interface Wanted {
  readonly request: ReportRequest;
  readonly entitlement: Entitlement;
  /** Who asks: the client's id or, where its token names none, the token's subject or else `unnamed`. */
  readonly client: string;
}

/** Times are milliseconds since 1970, by the clock of the machine that answers this request. */
export interface DeliveryTerms {
  /** When the caller asked first. */
  readonly askedAt: number;
  /** When the request must be answered, with the report or with a place to wait. */
  readonly waitUntil: number;
  /** Until when the caller's query may be waited for. */
  readonly giveUpAt: number;
  /** Until when the caller's report may be published. */
  readonly publishUntil: number;
  /** How long a query may run. */
  readonly longestQueryMs: number;
  /** How long a query may wait in Athena's queue. */
  readonly longestQueueMs: number;
  /** How old a listing of the lake may be. */
  readonly listingMs: number;
  /** Whether the caller takes a gzipped file. */
  readonly acceptsGzip: boolean;
  /** Athena's scan limit for one query, in bytes; undefined if unknown. */
  readonly scanLimit: number | undefined;
  /** Who asks, for the log of the publishing function. */
  readonly partner?: string | undefined;
  /** How many queries may be under way that were started for one client; undefined: any number. */
  readonly queriesPerPartner: number | undefined;
}

/** How the answer relates to earlier ones, in the words of RFC 9211. */
export type CacheStatus = 'hit' | 'miss' | 'collapsed';

/** Where a delivery stands when its request must be answered. */
export type Delivery =
  | {
      readonly state: 'ready';
      /** Key of the report's file in the results bucket. */
      readonly key: ResultsKey;
      readonly bytes: number;
      readonly cacheStatus: CacheStatus;
      /** Absent if the lake changed during the query, or may have: the report then has no single version. */
      readonly dataVersion?: string;
    }
  | { readonly state: 'waiting'; readonly progress: Progress; readonly cacheStatus: CacheStatus };

/** What the log and the metrics learn of a delivery, whatever becomes of it. */
export interface DeliveryFacts {
  queryExecutionId?: string;
  dataVersion?: string;
  /** The job's id: what is stored of the job is named by it. */
  job?: string;
  bytesScanned?: number;
  engineMs?: number;
  /** From the query's submission to its end. */
  queryMs?: number;
  /** The queries whose end this request has recorded, so that it counts them. */
  finishedQueries?: readonly FinishedQuery[];
  /** Set if this request waited because all slots of its client were taken. */
  waitsForShare?: true;
}

/** How a query ended, for the metrics. */
interface FinishedQuery {
  readonly state: 'succeeded' | 'failed' | 'scan-limit-exceeded';
  readonly bytesScanned: number;
  /** From its submission to its end. */
  readonly queryMs: number;
}

/** The query failed: an opaque 500 for the caller, the engine's reason for the log. */
export class QueryFailed extends Error {
  override readonly name = 'QueryFailed';
}

/** The result could not be made into the report's file: an opaque 500 for the caller. */
export class PublicationFailed extends Error {
  override readonly name = 'PublicationFailed';
}

const RETRY_AFTER_SECONDS = 60;

export const tookTooLong = () =>
  new Unavailable(
    'The report took too long and was given up. Narrow it, or request it later.',
    RETRY_AFTER_SECONDS,
  );

/** The caller's time is up, and its client has no free slot. */
export const noSlotInTime = () =>
  new Unavailable(
    'Too many reports of this client were under way. Request fewer at a time, or this one later.',
    RETRY_AFTER_SECONDS,
  );

export const dataKeepChanging = () =>
  new Unavailable(
    'The events of this window are being rewritten at this moment. Request the report again later.',
    RETRY_AFTER_SECONDS,
  );
