import type { Owner, Report } from '../report/catalogue.ts';
import type { Entitlement } from '../report/entitlement.ts';
import { companiesOf, type PartnerRecord } from './partner-record.ts';
import type { EntitlementRule } from './read-entitlement.ts';
import type { Register } from './register.ts';

/** The source that says which companies' rows a caller may see. */
export type EntitlementTerms =
  /** No source: every caller sees every row. */
  | { readonly by: 'none' }
  /** The token's claims, by one rule for each owner. Without a rule, no token gives access to that owner's reports. */
  | { readonly by: 'claims'; readonly rules: Readonly<Partial<Record<Owner, EntitlementRule>>> }
  /** The register of partners, in this bucket. */
  | { readonly by: 'partners'; readonly bucket: string };

/** Why a caller sees nothing. */
export type Refusal = 'unknown-client' | 'inactive-client' | 'no-companies';

/** Whose rows a caller may see. */
export type Verdict = {
  /** The caller's name in the register; absent if there is no register, or the register has no such client. */
  readonly partner?: string;
} & (
  | { readonly state: 'entitled'; readonly entitlement: Entitlement }
  | { readonly state: 'refused'; readonly refusal: Refusal }
);

/**
 * Finds out whose rows of a report a caller may see, at this time.
 *
 * @param client the client's id; undefined if the token names no client
 * @param byClaims reads the companies from the caller's token, by the given rule
 */
export async function whoseRows(
  terms: EntitlementTerms,
  report: Report,
  {
    client,
    byClaims,
  }: {
    readonly client: string | undefined;
    readonly byClaims: (rule: EntitlementRule) => Entitlement | undefined;
  },
  register: Register,
): Promise<Verdict> {
  switch (terms.by) {
    case 'none':
      return { state: 'entitled', entitlement: 'every-company' };
    case 'claims': {
      const rule = terms.rules[report.governedBy];
      return verdictOf(rule && byClaims(rule));
    }
    case 'partners':
      return verdictOnPartner(client === undefined ? undefined : await register.find(client), report);
  }
}

/** What a partner's record allows for a report. */
export function verdictOnPartner(record: PartnerRecord | undefined, report: Report): Verdict {
  if (!record) return { state: 'refused', refusal: 'unknown-client' };
  const { name: partner, active } = record;
  if (!active) return { partner, state: 'refused', refusal: 'inactive-client' };
  return { partner, ...verdictOf(companiesOf(record, report)) };
}

const verdictOf = (entitlement: Entitlement | undefined): Verdict =>
  entitlement ? { state: 'entitled', entitlement } : { state: 'refused', refusal: 'no-companies' };
