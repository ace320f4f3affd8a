import type { Refusal, Verdict } from '../access/whose-rows.ts';
import type { CacheStatus, DeliveryFacts, Wanted } from '../delivery/delivery.ts';
import { storedEntitlement } from '../report/entitlement.ts';
import { formatUtcTime } from '../report/utc-time.ts';

/** The only facts that a request's log line may hold beside those that `request-log.ts` always writes. */
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
  /** How many times Athena throttled StartQueryExecution during this request. */
  throttledStarts?: number;
  /** The throttled AWS call because of which a waiting hop only led to the next one. */
  cause?: string;
  /** Whether the answer led to the report. */
  isReady?: boolean;
}

/** Adds the partner's name, if the register has one, and how many companies it may see, or why none. */
export function noteCaller(facts: LoggedFacts, verdict: Verdict): void {
  if (verdict.partner !== undefined) facts.partner = verdict.partner;
  if (verdict.state === 'refused') facts.refusal = verdict.refusal;
  else
    facts.companies =
      verdict.entitlement === 'every-company' ? verdict.entitlement : verdict.entitlement.length;
}

/**
 * The only facts that the audit line may hold: who was given a link, and to which rows. Filter values, the link and the
 * file's key are never written. `companies` holds all companies whose rows the caller may see, even if the request
 * filters by only some of them.
 */
export const auditedFacts = (
  { client, partner }: LoggedFacts,
  { request: { report, requestedFields, window }, entitlement }: Wanted,
  { bytes, dataVersion }: { readonly bytes: number; readonly dataVersion?: string },
) => ({
  partner,
  client,
  report: report.name,
  startInclusive: formatUtcTime(window.start),
  endExclusive: formatUtcTime(window.end),
  requestedFields: requestedFields.map(({ name }) => name).join(','),
  dataVersion,
  companies: String(storedEntitlement(entitlement)),
  bytes,
});
