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
