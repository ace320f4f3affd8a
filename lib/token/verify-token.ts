import { JwtVerifier } from 'aws-jwt-verify';
import { JwksValidationError, JwkValidationError } from 'aws-jwt-verify/error';
import { SimpleJwksCache } from 'aws-jwt-verify/jwk';
import { NotAuthorized, Unauthenticated } from '../answers/problem.ts';

export interface TokenRules {
  readonly issuer: string;
  readonly jwksUri: string;
  /** The scope's first part: tokens are requested for `{apiScope}/.default`. */
  readonly apiScope: string;
}

/** A verified token's payload. */
export type Claims = Readonly<Record<string, unknown>>;

/** Checks an Authorization header; resolves to the claims of a good token, else throws as `verifyToken` says. */
export type TokenVerifier = (authorization: string | undefined) => Promise<Claims>;

/** The key set could not be read: our fault, never the caller's. */
class KeySetUnavailable extends Error {}

/** Half a wait for the query leaves enough of a request's time for a second try. */
const KEY_SET_TIMEOUT_MS = 3_000;

/**
 * Makes the check of contract 5: RS, ES or EdDSA signature by a key of the issuer, unexpired, for this API.
 * It throws Unauthenticated without a good token and NotAuthorized for a good one without the scope. A key
 * set that can't be read is neither, so that it is answered as 500. Keys are fetched once and kept.
 */
export function tokenVerifier({ issuer, jwksUri, apiScope }: TokenRules): TokenVerifier {
  const verifier = JwtVerifier.create(
    { issuer, jwksUri, audience: null },
    { jwksCache: new SimpleJwksCache({ fetcher: { fetch: fetchKeySet } }) },
  );
  const scope = scopeOf({ apiScope });

  return async (authorization) => {
    const claims: Claims = await verifier.verify(bearerToken(authorization)).catch((error: unknown) => {
      if ([KeySetUnavailable, JwksValidationError, JwkValidationError].some((ours) => error instanceof ours))
        throw error;
      throw new Unauthenticated('The access token is invalid or has expired. Request a new one.');
    });
    // A token that never expires could never be taken back.
    if (claims['exp'] === undefined) throw new Unauthenticated('The access token has no expiry.');
    const granted = [...words(claims['scope']), ...words(claims['scp'])];
    // Entra ID names the API in `aud` when a token was requested with the `.default` scope.
    if (!granted.includes(scope) && !list(claims['aud']).includes(apiScope)) throw new NotAuthorized(scope);
    return claims;
  };
}

/** What a token must be requested with (contract 5.2). */
export const scopeOf = ({ apiScope }: Pick<TokenRules, 'apiScope'>): string => `${apiScope}/.default`;

function bearerToken(authorization: string | undefined): string {
  const token = /^Bearer +([^\s,]+)$/i.exec(authorization ?? '')?.[1];
  if (token !== undefined) return token;
  throw new Unauthenticated('Send the header "Authorization: Bearer <access_token>".', 'Bearer');
}

const list = (claim: unknown): unknown[] => (Array.isArray(claim) ? claim : [claim]);

const words = (claim: unknown): string[] =>
  list(claim).flatMap((entry) => (typeof entry === 'string' ? entry.split(' ') : []));

async function fetchKeySet(uri: string): Promise<ArrayBuffer> {
  const attempt = async () => {
    const response = await fetch(uri, { signal: AbortSignal.timeout(KEY_SET_TIMEOUT_MS) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return response.arrayBuffer();
  };
  return attempt()
    .catch(attempt)
    .catch((cause: unknown) => {
      throw new KeySetUnavailable(`The key set ${uri} could not be read`, { cause });
    });
}
