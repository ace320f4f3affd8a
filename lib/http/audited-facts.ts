import type { Wanted } from '../delivery/delivery.ts';
import { storedEntitlement } from '../report/entitlement.ts';
import { formatUtcTime } from '../report/utc-time.ts';
import type { LoggedFacts } from './logged-facts.ts';

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
