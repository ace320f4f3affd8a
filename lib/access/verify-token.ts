import { JwksValidationError, JwkValidationError, JwtWithoutValidKidError } from 'aws-jwt-verify/error';
import { type Jwks, type JwksCache, SimpleJwksCache } from 'aws-jwt-verify/jwk';
import { JwtVerifierBase, type VerifyProperties } from 'aws-jwt-verify/jwt-verifier';
import { type JsonObject, safeJsonParse } from 'aws-jwt-verify/safe-json-parse';
import { NotAuthorized, Unauthenticated } from '../problems/problem.ts';
import { isYounger } from '../report/utc-time.ts';
import { type Claims, callerOf } from './claims.ts';

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

const TEN_YEARS_SECONDS = 315_360_000;

/** Whether a token with this `exp` never expires, or in more than ten years, which is as good as never. */
export const isEndless = (exp: unknown): boolean => !(Number(exp) < Date.now() / 1_000 + TEN_YEARS_SECONDS);

/**
 * Makes the check of docs/contract.md#the-token: signature (RS, ES or EdDSA) by a key of the issuer, time, scope. It
 * throws Unauthenticated without a valid token, NotAuthorized if a valid one lacks the scope or the required claim, and
 * any other error, for a 500, if the key set can't be read.
 */
export function tokenVerifier(rules: TokenRules): TokenVerifier {
  const keys = new KeySet(readKeySet);
  return async (authorization) => {
    const token = /^Bearer +([^\s,]+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined)
      throw new Unauthenticated('Send the header "Authorization: Bearer <access_token>".', 'Bearer');
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

/** docs/contract.md#the-scope */
export const scopeOf = ({ apiScope }: Pick<TokenRules, 'apiScope'>): string => `${apiScope}/.default`;

/**
 * Entra ID names the API in `aud` instead of the scope, and gives such a token to any app of the tenant that asks for
 * one. So with Entra ID, only the required claim shows that the app was given access.
 */
function isForThisApi(claims: Claims, { apiScope, requiredClaim }: TokenRules): boolean {
  const hasScope = [claims['scope'], claims['scp']].flatMap(words).includes(scopeOf({ apiScope }));
  if (!requiredClaim) return hasScope;
  const isNamed = hasScope || [claims['aud']].flat().includes(apiScope);
  return isNamed && words(claims[requiredClaim.name]).includes(requiredClaim.value);
}

const words = (claim: unknown): string[] =>
  [claim].flat().flatMap((entry) => (typeof entry === 'string' ? entry.split(' ') : []));

const properties = ({ issuer, jwksUri }: TokenRules) => ({
  issuer,
  jwksUri,
  audience: null,
  // RFC 7515, 4.1.11: a token with an unknown critical header must be refused. The library does not check this.
  customJwtCheck: ({ header }: { header: object }) => {
    if ('crit' in header) throw new Error('No critical header is known here');
  },
});

/**
 * The library's check, which also accepts a `scope` that is a list. Make one for each token: an instance keeps a key
 * for ever, even after the provider has replaced the key under the same id.
 */
class JwtCheck extends JwtVerifierBase<Partial<VerifyProperties>, ReturnType<typeof properties>, false> {
  constructor(rules: TokenRules, keys: JwksCache) {
    super(properties(rules), keys);
  }

  /**
   * The library refuses a `scope` that is a list: it gets the claims without it, and the result gets it back. The
   * signature is checked over the claims as they were sent. Claims that are no object make this throw: 401.
   */
  protected override getVerifyParameters(token: string) {
    const [header, sent = '', ...signature] = token.split('.');
    const { scope, ...others } = safeJsonParse(Buffer.from(sent, 'base64').toString()) as JsonObject;
    if (!Array.isArray(scope)) return super.getVerifyParameters(token);
    const readable = Buffer.from(JSON.stringify(others)).toString('base64url');
    const { decomposedJwt, ...parameters } = super.getVerifyParameters(
      [header, readable, ...signature].join('.'),
    );
    const payload = Object.assign(decomposedJwt.payload, { scope });
    return { ...parameters, decomposedJwt: { ...decomposedJwt, payload, payloadB64: sent } };
  }
}

/** Our fault, never the caller's. */
export class KeySetUnavailable extends Error {}

/** The time limit of one try to read the key set. Two tries fit into a request and leave time for the query. */
const KEY_SET_TIMEOUT_MS = 3_000;

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

/** A withdrawn key is accepted for that time. */
const FRESH_MS = 600_000;
/** How long cached keys stay valid while the key server can't be reached. */
const LONGEST_KEPT_MS = 3_600_000;
/** Minimum time between two reads of the key set. Without it, each token with an invented key id would cause a read. */
const PAUSE_BETWEEN_READS_MS = 10_000;
/** Minimum time after a failed read: shorter, because a function without keys answers 500 to everybody. */
const PAUSE_AFTER_FAILURE_MS = 2_000;

/**
 * The library's cache of one provider's signing keys, with a limit to their age. A token with an unknown key makes it read
 * them again, unless it has just read them: then the token is refused at once. Requests share a read. Throws
 * KeySetUnavailable, or the library's error if there is no such key.
 */
export class KeySet extends SimpleJwksCache {
  #readAt = Number.NEGATIVE_INFINITY;
  #failure: { readonly at: number; readonly error: unknown } | undefined;

  constructor(read: (uri: string) => Promise<ArrayBuffer>) {
    super({ fetcher: { fetch: read } });
  }

  override async getJwk(...[uri, token]: Parameters<SimpleJwksCache['getJwk']>) {
    const now = Date.now();
    const isYoungerThan = (limitMs: number) => isYounger(this.#readAt, limitMs, now);
    const isKnown = this.#has(uri, token);
    if (!isYoungerThan(isKnown ? FRESH_MS : PAUSE_BETWEEN_READS_MS))
      await this.getJwks(uri).catch((error: unknown) => {
        if (!isKnown || !isYoungerThan(LONGEST_KEPT_MS)) throw error;
      });
    return this.getCachedJwk(uri, token);
  }

  /** Shortly after a failed read, requests get that read's error, and none of them asks the key server. */
  override async getJwks(uri: string): Promise<Jwks> {
    if (this.#failure && isYounger(this.#failure.at, PAUSE_AFTER_FAILURE_MS, Date.now()))
      throw this.#failure.error;
    try {
      const keys = await super.getJwks(uri);
      this.#readAt = Date.now();
      this.#failure = undefined;
      return keys;
    } catch (cause) {
      const isNoKeySet = cause instanceof JwksValidationError || cause instanceof JwkValidationError;
      const error = isNoKeySet
        ? new KeySetUnavailable('The key server answers with no key set', { cause })
        : cause;
      this.#failure = { at: Date.now(), error };
      throw error;
    }
  }

  #has(...[uri, token]: Parameters<SimpleJwksCache['getCachedJwk']>): boolean {
    try {
      return this.getCachedJwk(uri, token) !== undefined;
    } catch (error) {
      // The token names no key, so it would not help to read the set again.
      if (error instanceof JwtWithoutValidKidError) throw error;
      return false;
    }
  }
}
