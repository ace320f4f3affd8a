import type { DataState } from './data-version.ts';
import {
  type CacheStatus,
  type Delivery,
  type DeliveryBackends,
  type DeliveryFacts,
  type DeliveryTerms,
  lookAtLake,
  type Progress,
  type Wanted,
} from './delivery.ts';
import { fileKey, makeOrder, type Order } from './order.ts';
import type { SucceededRecord } from './order-record.ts';
import type { Publication } from './publication.ts';

/** One request's part in the making of a report: what it was given, and how far it has come. */
export interface Run {
  readonly backends: DeliveryBackends;
  readonly wanted: Wanted;
  readonly terms: DeliveryTerms;
  /** Takes what is learnt on the way. */
  readonly note: (facts: DeliveryFacts) => void;
  data: DataState;
  order: Order;
  /** The token of the try that it waits for. */
  follows: string | undefined;
  /** Since when; undefined: since an earlier request of the same caller. In milliseconds since 1970. */
  followsSince: number | undefined;
  cacheStatus: CacheStatus | undefined;
  /** Whether its client has as many queries under way as it may, so that it can't start one. */
  waitsForShare: boolean;
  /** Whether it has looked for the order's copy. */
  hasLookedForCopy: boolean;
  moves: number;
  /** How many tries this request has started. */
  starts: number;
}

/** Begins where an earlier request of the same caller ended, or with a look at the lake. */
export async function beginRun(
  backends: DeliveryBackends,
  wanted: Wanted,
  terms: DeliveryTerms,
  note: Run['note'],
  left: Progress | undefined,
): Promise<Run> {
  // A caller who follows a try gets the data that the try reads; one who waits for a share gets them as they are now.
  const followed = left?.token === undefined ? undefined : left;
  const data = followed?.data ?? (await lookAtLake(backends, wanted, terms.listingMs));
  return {
    backends,
    wanted,
    terms,
    note,
    data,
    order: makeOrder(wanted.request, wanted.entitlement, data),
    follows: followed?.token,
    followsSince: undefined,
    cacheStatus: followed?.cacheStatus,
    waitsForShare: left !== undefined && followed === undefined,
    hasLookedForCopy: false,
    moves: left?.moves ?? 0,
    starts: 0,
  };
}

/** Notes which try this request waits for, and since when. */
export function follow(run: Run, token: string): void {
  if (run.follows === token) return;
  run.follows = token;
  run.followsSince = Date.now();
}

/** Lists the lake again and starts over with the data as they are now, following no try. */
export async function lookAgain(run: Run): Promise<void> {
  run.data = await lookAtLake(run.backends, run.wanted, 0);
  run.order = makeOrder(run.wanted.request, run.wanted.entitlement, run.data);
  run.follows = undefined;
  run.hasLookedForCopy = false;
  run.moves += 1;
}

/** The answer of a request that can't wait any more, while its caller can. */
export const waiting = (
  { data, cacheStatus = 'collapsed', moves }: Pick<Run, 'data' | 'cacheStatus' | 'moves'>,
  token: string | undefined,
): Delivery => ({
  state: 'waiting',
  progress: { data, token, cacheStatus, moves },
});

/** The answer with the report of an execution. */
export function ready(
  { data, order, cacheStatus = 'hit', note }: Run,
  { executionId, isCopy }: SucceededRecord,
  key = fileKey(order, executionId),
): Delivery {
  const dataVersion = isCopy ? { dataVersion: data.version } : {};
  note({ queryExecutionId: executionId, ...dataVersion });
  return { state: 'ready', key, cacheStatus, ...dataVersion };
}

/** What it takes to publish an execution's report. */
export const publicationOf = (
  { data, order, terms: { partner } }: Run,
  { executionId, location, isCopy }: SucceededRecord,
): Publication => ({
  form: 1,
  executionId,
  location,
  key: fileKey(order, executionId),
  fileName: order.fileName,
  columns: [...order.columns],
  ...(isCopy && { dataVersion: data.version }),
  ...(partner !== undefined && { partner }),
});
