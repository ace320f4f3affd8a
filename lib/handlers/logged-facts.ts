import type { CacheStatus, Delivery } from '../delivery/deliver-report.ts';

/** What one line of the log may say beside the fixed facts: an allow-list by construction. */
export interface LoggedFacts {
  report?: string;
  /** The token's client id. */
  client?: string;
  /** How many companies' rows the caller may see. */
  companies?: number | 'every-company';
  /** Which step in the waiting room this was. */
  hop?: number;
  cacheStatus?: CacheStatus;
  isPublished?: boolean;
  queryExecutionId?: string;
  bytesScanned?: number;
  engineMs?: number;
  /** From the query's submission to its end. */
  queryMs?: number;
}

/** What the log says of a delivery: not where the report lies. */
export const deliveryFacts = ({ isPublished, cacheStatus, execution }: Delivery): LoggedFacts => ({
  isPublished,
  cacheStatus,
  ...(execution && {
    queryExecutionId: execution.id,
    bytesScanned: execution.bytesScanned,
    engineMs: execution.engineMs,
    ...(execution.completedAt > 0 && { queryMs: execution.completedAt - execution.submittedAt }),
  }),
});
