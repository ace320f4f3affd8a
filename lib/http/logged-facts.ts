import type { Refusal, Verdict } from '../access/whose-rows.ts';
import type { CacheStatus, DeliveryFacts } from '../delivery/delivery.ts';

/**
 * The facts that a request's log line may hold, in addition to those that `request-log.ts` always writes. Nothing else
 * is ever written.
 */
export interface LoggedFacts extends DeliveryFacts {
  report?: string;
  /** The client's id. If the token names no client: the subject, or else `unnamed`. */
  client?: string;
  /** The client's name in the register of partners; the client id if it has no name there. */
  partner?: string;
  /** Why the caller may see no rows, if it was refused for that. */
  refusal?: Refusal;
  /** How many companies' rows the caller may see. */
  companies?: number | 'every-company';
  /** The number of the hop in the waiting room. */
  hop?: number;
  cacheStatus?: CacheStatus;
  /** The throttled AWS call because of which a waiting hop only led to the next one. */
  cause?: string;
  /** Whether the answer led to the report. */
  isReady?: boolean;
}

/**
 * Adds facts to the log line: the partner's name, if the register has one, and how many companies' rows the partner may
 * see, or why it may see none.
 */
export function noteCaller(facts: LoggedFacts, verdict: Verdict): void {
  if (verdict.partner !== undefined) facts.partner = verdict.partner;
  if (verdict.state === 'refused') facts.refusal = verdict.refusal;
  else
    facts.companies =
      verdict.entitlement === 'every-company' ? verdict.entitlement : verdict.entitlement.length;
}
