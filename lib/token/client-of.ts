import type { Claims } from './verify-token.ts';

/** Where identity providers put the id of the client that a token was issued to. */
const CLIENT_CLAIMS = ['client_id', 'azp', 'appid'];

/** The client that a token was issued to; undefined where it names none. */
export function clientOf(claims: Claims): string | undefined {
  return CLIENT_CLAIMS.map((name) => claims[name]).find(
    (value): value is string => typeof value === 'string' && value !== '',
  );
}
