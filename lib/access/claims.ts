import { type Entitlement, entitlementTo, isCompanyId } from '../report/entitlement.ts';

/** A verified token's payload. */
export type Claims = Readonly<Record<string, unknown>>;

/** The claims in which identity providers put the id of the client that a token was issued to. */
const CLIENT_CLAIMS = ['client_id', 'azp', 'appid'];

/** The log's name for the caller that a token was issued to. */
export const callerOf = (claims: Claims): string => clientOf(claims) ?? String(claims['sub'] ?? 'unnamed');

/** The client that a token was issued to; undefined if the token names none. */
export function clientOf(claims: Claims): string | undefined {
  return CLIENT_CLAIMS.map((name) => claims[name]).find(
    (value): value is string => typeof value === 'string' && value !== '',
  );
}

export interface EntitlementRule {
  /** The claim that holds company ids: numbers, numeric strings, an array or a space-separated list of them. */
  readonly claim: string;
  /** The text before the company's id, if the claim holds role names. Roles without this prefix are ignored. */
  readonly prefix: string | undefined;
  /** The value that stands for every company; undefined if there is none. */
  readonly everyCompany: string | undefined;
}

/** The companies in a token. Undefined, which gives no access, if any entry is missing or malformed. */
export function readEntitlement(claims: Claims, rule: EntitlementRule): Entitlement | undefined {
  const prefix = rule.prefix ?? '';
  const entries = entriesOf(claims[rule.claim])
    ?.map((entry) => String(entry))
    .filter((entry) => entry.startsWith(prefix))
    .map((entry) => entry.slice(prefix.length));
  if (!entries || entries.length === 0) return undefined;
  const ids = entries.filter((entry) => entry !== rule.everyCompany);
  if (!ids.every(isCompanyId)) return undefined;
  return ids.length < entries.length ? 'every-company' : entitlementTo(ids.map(BigInt));
}

/** The claim's strings and integers. Undefined if it has anything else, or an integer too large to be read exactly. */
function entriesOf(claim: unknown): (string | number)[] | undefined {
  const entries = typeof claim === 'string' ? claim.split(' ').filter((word) => word !== '') : [claim].flat();
  const isEntry = (entry: unknown): entry is string | number =>
    typeof entry === 'string' || Number.isSafeInteger(entry);
  return entries.every(isEntry) ? entries : undefined;
}
