import type { Owner, Report } from '../report/catalogue.ts';
import type { Entitlement } from '../report/entitlement.ts';
import { type Claims, clientOf, type EntitlementRule, readEntitlement } from './claims.ts';
import { companiesOf, type PartnerRecord, type Register } from './partner-record.ts';

export type EntitlementTerms =
  | { readonly by: 'none' }
  /** The token's claims, by one rule for each owner. Without a rule, no token gives access to that owner's reports. */
  | { readonly by: 'claims'; readonly rules: Readonly<Partial<Record<Owner, EntitlementRule>>> }
  /** The register of partners, in this bucket. */
  | { readonly by: 'partners'; readonly bucket: string };

export type Refusal = 'unknown-client' | 'inactive-client' | 'no-companies';

export type Verdict = {
  /** The caller's name in the register; absent if there is no register, or the register has no such client. */
  readonly partner?: string;
} & (
  | { readonly state: 'entitled'; readonly entitlement: Entitlement }
  | { readonly state: 'refused'; readonly refusal: Refusal }
);

export async function whoseRows(
  terms: EntitlementTerms,
  report: Report,
  claims: Claims,
  register: Register,
): Promise<Verdict> {
  if (terms.by === 'none') return { state: 'entitled', entitlement: 'every-company' };
  if (terms.by === 'claims') {
    const rule = terms.rules[report.governedBy];
    return verdictOf(rule && readEntitlement(claims, rule));
  }
  const client = clientOf(claims);
  return verdictOnPartner(client === undefined ? undefined : await register.find(client), report);
}

export function verdictOnPartner(record: PartnerRecord | undefined, report: Report): Verdict {
  if (!record) return { state: 'refused', refusal: 'unknown-client' };
  const { name: partner, active } = record;
  if (!active) return { partner, state: 'refused', refusal: 'inactive-client' };
  return { partner, ...verdictOf(companiesOf(record, report)) };
}

const verdictOf = (entitlement: Entitlement | undefined): Verdict =>
  entitlement ? { state: 'entitled', entitlement } : { state: 'refused', refusal: 'no-companies' };
