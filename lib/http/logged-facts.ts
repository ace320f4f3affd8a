import type { Refusal, Verdict } from '../access/whose-rows.ts';
import type { CacheStatus, DeliveryFacts } from '../delivery/delivery.ts';

/**
 * What a request's line of the log may say beside what `request-log.ts` always writes. Nothing else is ever written: it
 * is an allow-list.
 */
export interface LoggedFacts extends DeliveryFacts {
  report?: string;
  /** The token's client id. */
  client?: string;
  /** The client's name in the register of partners; the client id where it has none. */
  partner?: string;
  /** Why the caller was refused, where it was for whose rows it may see. */
  refusal?: Refusal;
  /** How many companies' rows the caller may see. */
  companies?: number | 'every-company';
  /** Which step in the waiting room this was. */
  hop?: number;
  cacheStatus?: CacheStatus;
  /** Whether the answer led to the report. */
  isReady?: boolean;
}

/** Notes for the log who asks, by the register's name where there is one, and whose rows it may see, or why none. */
export function noteCaller(facts: LoggedFacts, verdict: Verdict): void {
  if (verdict.partner !== undefined) facts.partner = verdict.partner;
  if (verdict.state === 'refused') facts.refusal = verdict.refusal;
  else
    facts.companies =
      verdict.entitlement === 'every-company' ? verdict.entitlement : verdict.entitlement.length;
}
