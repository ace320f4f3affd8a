import { type Entitlement, entitlementTo, isCompanyId } from '../report/entitlement.ts';

/** A verified token's payload. */
export type Claims = Readonly<Record<string, unknown>>;

/** The claims in which identity providers put the id of the client that a token was issued to. */
const CLIENT_CLAIMS = ['client_id', 'azp', 'appid'];

/** The log's name for the caller that a token was issued to. */
export const callerOf = (claims: Claims): string => clientOf(claims) ?? String(claims['sub'] ?? 'unnamed');

/** The client that a token was issued to; undefined if the token names none. */
export const clientOf = (claims: Claims): string | undefined =>
  CLIENT_CLAIMS.map((name) => claims[name])
    .filter((value) => typeof value === 'string')
    .find((value) => value !== '');

export interface EntitlementRule {
  /** The claim that holds company ids: numbers, numeric strings, an array or a space-separated list of them. */
  readonly claim: string;
  /** The text before the company's id, if the claim holds role names. Roles without this prefix are ignored. */
  readonly prefix: string | undefined;
  /** The value that stands for every company; undefined if there is none. */
  readonly everyCompany: string | undefined;
}

/** The companies in a token. Undefined, which gives no access, if any entry is missing or malformed. */
export function readEntitlement(
  claims: Claims,
  { claim, prefix = '', everyCompany }: EntitlementRule,
): Entitlement | undefined {
  const value = claims[claim];
  const entries = typeof value === 'string' ? value.split(' ').filter((word) => word !== '') : [value].flat();
  // JSON.parse may have rounded an integer that is not safe.
  if (!entries.every((entry) => typeof entry === 'string' || Number.isSafeInteger(entry))) return undefined;
  const companies = entries
    .map(String)
    .filter((entry) => entry.startsWith(prefix))
    .map((entry) => entry.slice(prefix.length));
  const ids = companies.filter((company) => company !== everyCompany);
  if (!ids.every(isCompanyId)) return undefined;
  return ids.length < companies.length ? 'every-company' : entitlementTo(ids.map(BigInt));
}
