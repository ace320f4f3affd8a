import { type Entitlement, entitlementTo, isCompanyId } from '../report/entitlement.ts';
import type { Claims } from './claims.ts';

export interface EntitlementRule {
  /** The claim that holds company ids: numbers, numeric strings, an array or a space-separated list of them. */
  readonly claim: string;
  /** The text before the company's id, if the claim holds role names. Roles without this prefix are ignored. */
  readonly prefix: string | undefined;
  /** The value that stands for every company; undefined if there is none. */
  readonly everyCompany: string | undefined;
}

/**
 * Reads the companies from a token. Undefined if the claim is missing, empty, or malformed in any entry: a claim that
 * the service does not understand gives no access.
 */
export function readEntitlement(claims: Claims, rule: EntitlementRule): Entitlement | undefined {
  const prefix = rule.prefix ?? '';
  const entries = entriesOf(claims[rule.claim])
    ?.map((entry) => String(entry))
    .filter((entry) => entry.startsWith(prefix))
    .map((entry) => entry.slice(prefix.length));
  if (!entries || entries.length === 0) return undefined;
  const companies: bigint[] = [];
  let everyCompany = false;
  for (const entry of entries) {
    if (entry === rule.everyCompany) everyCompany = true;
    else if (isCompanyId(entry)) companies.push(BigInt(entry));
    else return undefined;
  }
  return everyCompany ? 'every-company' : entitlementTo(companies);
}

/** The claim's strings and integers. Undefined if it has anything else, or an integer too large to be read exactly. */
function entriesOf(claim: unknown): (string | number)[] | undefined {
  const entries = typeof claim === 'string' ? claim.split(' ').filter((word) => word !== '') : [claim].flat();
  const isEntry = (entry: unknown): entry is string | number =>
    typeof entry === 'string' || Number.isSafeInteger(entry);
  return entries.every(isEntry) ? entries : undefined;
}
