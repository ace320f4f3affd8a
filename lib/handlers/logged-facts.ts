import type { CacheStatus, DeliveryFacts } from '../delivery/delivery.ts';

/** What one line of the log may say beside the fixed facts: an allow-list by construction. */
export interface LoggedFacts extends DeliveryFacts {
  report?: string;
  /** The token's client id. */
  client?: string;
  /** How many companies' rows the caller may see. */
  companies?: number | 'every-company';
  /** Which step in the waiting room this was. */
  hop?: number;
  cacheStatus?: CacheStatus;
  /** Whether the answer led to the report. */
  isReady?: boolean;
}
