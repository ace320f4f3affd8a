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
  /** Why the caller may see no rows, if it was refused for that. */
  refusal?: Refusal;
  /** How many companies' rows the caller may see. */
  companies?: number | 'every-company';
  /** The number of the hop in the waiting room. */
  hop?: number;
  cacheStatus?: CacheStatus;
  /** Whether the answer led to the report. */
  isReady?: boolean;
}

/**
 * Adds to the log line the partner's name, if the register has one, and how many companies' rows it may see, or why
 * none.
 */
export function noteCaller(facts: LoggedFacts, verdict: Verdict): void {
  if (verdict.partner !== undefined) facts.partner = verdict.partner;
  if (verdict.state === 'refused') facts.refusal = verdict.refusal;
  else
    facts.companies =
      verdict.entitlement === 'every-company' ? verdict.entitlement : verdict.entitlement.length;
}
