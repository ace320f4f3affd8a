import { JwkValidationError, JwtParseError } from 'aws-jwt-verify/error';
import type { JwksCache } from 'aws-jwt-verify/jwk';
import { JwtVerifierBase, type VerifyProperties } from 'aws-jwt-verify/jwt-verifier';
import { isJsonObject, type Json, safeJsonParse } from 'aws-jwt-verify/safe-json-parse';
import { NotAuthorized, Unauthenticated } from '../problems/problem.ts';
import { type Claims, callerOf } from './claims.ts';
import { KeySet, KeySetUnavailable } from './key-set.ts';

export interface TokenRules {
  readonly issuer: string;
  readonly jwksUri: string;
  /** The first part of the API's scope: tokens are requested for `{apiScope}/.default`. */
  readonly apiScope: string;
  /** The claim that every token must have in addition to the scope; undefined if the scope is enough. */
  readonly requiredClaim?: { readonly name: string; readonly value: string } | undefined;
}

/** Reads the claims of the valid token in an Authorization header; otherwise throws as `tokenVerifier` says. */
export type TokenVerifier = (authorization: string | undefined) => Promise<Claims>;

/** The time limit of one try to read the key set. Two tries fit into a request and leave time for the query. */
const KEY_SET_TIMEOUT_MS = 3_000;

const TEN_YEARS_SECONDS = 315_360_000;

/** Whether a token with this `exp` never expires, or in more than ten years, which is as good as never. */
export const isEndless = (exp: unknown): boolean => !(Number(exp) < Date.now() / 1_000 + TEN_YEARS_SECONDS);

/**
 * Makes the check of docs/contract.md#the-token: the token has an RS, ES or EdDSA signature by a key of the issuer, has
 * not expired, and is for this API. The check throws Unauthenticated if there is no valid token, and NotAuthorized if a
 * valid token lacks the scope or the required claim. If the key set can't be read, it throws another error, so that the
 * caller gets a 500.
 */
export function tokenVerifier(rules: TokenRules): TokenVerifier {
  const keys = new KeySet({ read: readKeySet, now: Date.now });

  return async (authorization) => {
    const token = bearerToken(authorization);
    const claims: Claims = await new JwtCheck(rules, keys).verify(token).catch((error: unknown) => {
      if (error instanceof KeySetUnavailable || error instanceof JwkValidationError) throw error;
      throw new Unauthenticated('The access token is invalid or has expired. Request a new one.');
    });
    // A token that never expires could never be withdrawn.
    if (isEndless(claims['exp']))
      throw new Unauthenticated('The access token does not expire within ten years.');
    if (!isForThisApi(claims, rules)) throw new NotAuthorized(scopeOf(rules), callerOf(claims));
    return claims;
  };
}

/** The scope with which a token must be requested (docs/contract.md#the-scope). */
export const scopeOf = ({ apiScope }: Pick<TokenRules, 'apiScope'>): string => `${apiScope}/.default`;

/**
 * Whether the token was requested with the API's scope, and has the required claim if one is set. Entra ID names the
 * API in `aud` instead, and gives such a token to any app of the tenant that asks for one. So with Entra ID, only the
 * required claim shows that the app was given access.
 */
function isForThisApi(claims: Claims, { apiScope, requiredClaim }: TokenRules): boolean {
  const granted = [...words(claims['scope']), ...words(claims['scp'])];
  const isNamed = granted.includes(scopeOf({ apiScope })) || list(claims['aud']).includes(apiScope);
  if (requiredClaim) return isNamed && words(claims[requiredClaim.name]).includes(requiredClaim.value);
  return granted.includes(scopeOf({ apiScope }));
}

function bearerToken(authorization: string | undefined): string {
  const token = /^Bearer +([^\s,]+)$/i.exec(authorization ?? '')?.[1];
  if (token !== undefined) return token;
  throw new Unauthenticated('Send the header "Authorization: Bearer <access_token>".', 'Bearer');
}

const list = (claim: unknown): unknown[] => (Array.isArray(claim) ? claim : [claim]);

const words = (claim: unknown): string[] =>
  list(claim).flatMap((entry) => (typeof entry === 'string' ? entry.split(' ') : []));

async function readKeySet(uri: string): Promise<ArrayBuffer> {
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

const properties = ({ issuer, jwksUri }: TokenRules) => ({
  issuer,
  jwksUri,
  audience: null,
  // RFC 7515, 4.1.11: a token with an unknown critical header must be refused. The library does not check this.
  customJwtCheck: ({ header }: { header: object }) => {
    if ('crit' in header) throw new JwtParseError('No critical header is known here');
  },
});

/**
 * The library's check of signature, issuer and times. It also accepts a token whose `scope` is a list. Make an instance
 * for each token: an instance keeps a key for ever, even after the provider has replaced the key under the same id.
 */
class JwtCheck extends JwtVerifierBase<Partial<VerifyProperties>, ReturnType<typeof properties>, false> {
  constructor(rules: TokenRules, keys: JwksCache) {
    super(properties(rules), keys);
  }

  /**
   * The library refuses a `scope` that is a list. So this method gives the library the claims without `scope`, and adds
   * `scope` to the result. The signature is checked over the claims as they were sent.
   */
  protected override getVerifyParameters(token: string) {
    const [header, sent = '', ...signature] = token.split('.');
    const claims = readClaims(sent);
    if (!isJsonObject(claims) || !Array.isArray(claims['scope'])) return super.getVerifyParameters(token);
    const { scope, ...others } = claims;
    const readable = Buffer.from(JSON.stringify(others)).toString('base64url');
    const { decomposedJwt, ...parameters } = super.getVerifyParameters(
      [header, readable, ...signature].join('.'),
    );
    const payload = Object.assign(decomposedJwt.payload, { scope });
    return { ...parameters, decomposedJwt: { ...decomposedJwt, payload, payloadB64: sent } };
  }
}

function readClaims(part: string): Json {
  try {
    return safeJsonParse(Buffer.from(part, 'base64').toString());
  } catch {
    return null;
  }
}
