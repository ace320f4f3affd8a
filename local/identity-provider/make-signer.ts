import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const;

/** How long a token is valid, unless `expiresInSeconds` says otherwise. */
export const EXPIRES_IN_SECONDS = 3600;

/**
 * Signs a token with the key for `algorithm`, by default RS256. `claims` override the token's own `iss`, `iat`, `nbf`
 * and `exp`. `header` overrides the token's own `typ`, `kid` and `alg`. An undefined entry is left out.
 */
export type SignToken = (
  claims: Readonly<Record<string, unknown>>,
  options?: {
    readonly algorithm?: (typeof ALGORITHMS)[number];
    readonly header?: Readonly<Record<string, unknown>>;
    readonly expiresInSeconds?: number;
  },
) => Promise<string>;

/** Makes a key for each algorithm. `publicKeys` are for the key set (RFC 7517). */
export async function makeSigner(issuer: () => string) {
  const keys = await Promise.all(
    ALGORITHMS.map(async (alg) => {
      const { publicKey, privateKey } = await generateKeyPair(alg);
      const publicJwk = { ...(await exportJWK(publicKey)), kid: randomUUID(), alg, use: 'sig' };
      return { privateKey, publicJwk };
    }),
  );

  const signToken: SignToken = async (claims, options = {}) => {
    const { algorithm = 'RS256', header, expiresInSeconds = EXPIRES_IN_SECONDS } = options;
    const key = keys.find(({ publicJwk }) => publicJwk.alg === algorithm);
    if (!key) throw new TypeError(`There is no key for ${algorithm}.`);
    const { alg, kid } = key.publicJwk;
    const now = Math.floor(Date.now() / 1000);
    // `nbf` is 10 s ago because clocks may differ by seconds.
    const payload: JWTPayload = {
      iss: issuer(),
      iat: now,
      nbf: now - 10,
      exp: now + expiresInSeconds,
      ...claims,
    };
    const protectedHeader = { typ: 'JWT', kid, alg, ...header } as JWTHeaderParameters;
    return new SignJWT(payload).setProtectedHeader(protectedHeader).sign(key.privateKey);
  };
  return { signToken, publicKeys: keys.map(({ publicJwk }) => publicJwk) };
}
