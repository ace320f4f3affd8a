import { type CallRate, tokenBucket } from '../token-bucket.ts';
import { ApiError } from './api-error.ts';

export interface AthenaQuotas {
  /** The rate of calls, by operation. An operation that is not listed has no limit. */
  readonly calls: Readonly<Record<string, CallRate>>;
  /** How many queries may be queued or running at a time. */
  readonly activeQueries: number;
}

/**
 * The quotas of a new AWS account in us-east-1, the region that the local stack reports. The calls are from "Per
 * account API call quotas" of https://docs.aws.amazon.com/athena/latest/ug/service-limits.html. The queries are from
 * "Active DML queries" of https://docs.aws.amazon.com/general/latest/gr/athena.html; other regions allow fewer.
 */
export const NEW_ACCOUNT: AthenaQuotas = {
  calls: {
    StartQueryExecution: { perSecond: 20, burst: 80 },
    StopQueryExecution: { perSecond: 20, burst: 80 },
    GetQueryExecution: { perSecond: 100, burst: 200 },
  },
  activeQueries: 200,
};

export const UNLIMITED: AthenaQuotas = { calls: {}, activeQueries: Number.POSITIVE_INFINITY };

/** Throws if the call exceeds the quota of its operation. */
export type AdmitCall = (operation: string) => void;

export function callLimiter({ calls }: AthenaQuotas, now?: () => number): AdmitCall {
  const buckets = new Map(
    Object.entries(calls).map(([operation, rate]) => [operation, tokenBucket(rate, now)]),
  );
  return (operation) => {
    if (buckets.get(operation)?.() === false) throw new ApiError(400, 'ThrottlingException', 'Rate exceeded');
  };
}
