import { OAuth2Issuer } from 'oauth2-mock-server';

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const;

/** How long a token is good for unless its maker says otherwise. */
export const EXPIRES_IN_SECONDS = 3600;

/**
 * Signs a token with the key for `algorithm` (RS256). `claims` and `header` override what a token has by itself, `iss
 * iat nbf exp` and `typ kid`; undefined removes an entry.
 */
export type SignToken = (
  claims: Readonly<Record<string, unknown>>,
  options?: {
    readonly algorithm?: (typeof ALGORITHMS)[number];
    readonly header?: Readonly<Record<string, unknown>>;
    readonly expiresInSeconds?: number;
  },
) => Promise<string>;

/** Makes a key per algorithm; `publicKeys` is for the key set (RFC 7517). */
export async function makeSigner(issuer: string) {
  const oauth = new OAuth2Issuer();
  oauth.url = issuer;
  const keys = await Promise.all(ALGORITHMS.map((algorithm) => oauth.keys.generate(algorithm)));

  const signToken: SignToken = (claims, options = {}) => {
    const { algorithm = 'RS256', header, expiresInSeconds = EXPIRES_IN_SECONDS } = options;
    return oauth.buildToken({
      kid: keys.find(({ alg }) => alg === algorithm)?.kid,
      expiresIn: expiresInSeconds,
      scopesOrTransform: (ownHeader, ownClaims) => {
        Object.assign(ownHeader, header);
        Object.assign(ownClaims, claims);
      },
    });
  };
  const publicKeys = oauth.keys.toJSON().map((key) => ({ ...key, use: 'sig' }));
  return { signToken, publicKeys };
}
