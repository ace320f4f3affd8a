/** A verified token's payload. */
export type Claims = Readonly<Record<string, unknown>>;

/** Where identity providers put the id of the client that a token was issued to. */
const CLIENT_CLAIMS = ['client_id', 'azp', 'appid'];

/** What the log calls the caller of a token. */
export const callerOf = (claims: Claims): string => clientOf(claims) ?? String(claims['sub'] ?? 'unnamed');

/** The client that a token was issued to; undefined where it names none. */
export function clientOf(claims: Claims): string | undefined {
  return CLIENT_CLAIMS.map((name) => claims[name]).find(
    (value): value is string => typeof value === 'string' && value !== '',
  );
}
