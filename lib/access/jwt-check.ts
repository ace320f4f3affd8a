import { JwtParseError } from 'aws-jwt-verify/error';
import type { JwksCache } from 'aws-jwt-verify/jwk';
import { JwtVerifierBase, type VerifyProperties } from 'aws-jwt-verify/jwt-verifier';
import { isJsonObject, type Json, safeJsonParse } from 'aws-jwt-verify/safe-json-parse';

interface Issuer {
  readonly issuer: string;
  readonly jwksUri: string;
}

const properties = ({ issuer, jwksUri }: Issuer) => ({
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
export class JwtCheck extends JwtVerifierBase<
  Partial<VerifyProperties>,
  ReturnType<typeof properties>,
  false
> {
  constructor(issuer: Issuer, keys: JwksCache) {
    super(properties(issuer), keys);
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
