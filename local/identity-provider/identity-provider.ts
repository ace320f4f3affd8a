import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { unescape as percentDecode } from 'node:querystring';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';
import { serve } from '../serve.ts';

/**
 * Starts an OAuth 2.0 authorization server on a free port of this machine. It serves a key set, metadata, and a token
 * endpoint for `options.clients`. `signToken` signs any token, even one that the token endpoint would never issue.
 */
export async function startIdentityProvider(options: { readonly clients: readonly Client[] }) {
  let issuer = '';
  const { signToken, publicKeys } = await makeSigner(() => issuer);

  const answer = async (request: IncomingMessage): Promise<Answer> => {
    switch (`${request.method} ${request.url?.split('?')[0]}`) {
      case 'POST /token':
        return answerTokenRequest(request, options.clients, signToken);
      case 'GET /jwks':
        return { status: 200, body: { keys: publicKeys } };
      case 'GET /.well-known/openid-configuration':
        return { status: 200, body: metadata(issuer) };
      default:
        return { status: 404, body: { error: 'not_found' } };
    }
  };

  const { url, close } = await serve(async (request, response) => {
    const { status, headers, body } = await answer(request).catch((error: unknown): Answer => {
      return { status: 500, body: { error: 'server_error', error_description: String(error) } };
    });
    const own = { 'content-type': 'application/json', 'cache-control': 'no-store' };
    response.writeHead(status, { ...own, ...headers }).end(JSON.stringify(body));
  });
  issuer = url;
  return { issuer, tokenUrl: `${issuer}/token`, jwksUri: `${issuer}/jwks`, signToken, close };
}

/** The metadata of OpenID Connect Discovery 1.0 that clients of this grant read. */
const metadata = (issuer: string): object => ({
  ...{ issuer, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/jwks` },
  grant_types_supported: ['client_credentials'],
  token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
});

/** A client that may fetch tokens. `claims` are added to each token, in place of its own claims of the same names. */
export interface Client {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly claims?: Readonly<Record<string, unknown>>;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body: object;
}

/** Answers a request for a token by the client credentials grant (RFC 6749, 4.4 and 5). */
async function answerTokenRequest(
  request: IncomingMessage,
  clients: readonly Client[],
  signToken: SignToken,
): Promise<Answer> {
  const form = new URLSearchParams(await text(request));
  const { authorization } = request.headers;
  if (form.get('grant_type') !== 'client_credentials')
    return { status: 400, body: { error: 'unsupported_grant_type' } };
  const [id, secret] =
    authorization === undefined
      ? [form.get('client_id'), form.get('client_secret')]
      : basicCredentials(authorization);
  const client = clients.find(({ clientId, clientSecret }) => clientId === id && clientSecret === secret);
  if (!client) {
    const headers = authorization === undefined ? {} : { 'www-authenticate': 'Basic realm="token"' };
    return { status: 401, headers, body: { error: 'invalid_client' } };
  }
  const scope = form.get('scope') || undefined;
  const own = { scope, client_id: client.clientId, sub: client.clientId, jti: randomUUID() };
  const access_token = await signToken({ ...own, ...client.claims });
  return { status: 200, body: { access_token, token_type: 'Bearer', expires_in: EXPIRES_IN_SECONDS, scope } };
}

/** The client's id and secret, form-encoded in the header (RFC 6749, 2.3.1). Empty if the scheme is not Basic. */
const basicCredentials = (authorization: string): string[] => {
  const [, encoded = ''] = /^Basic +(\S+)$/i.exec(authorization) ?? [];
  const [id = '', ...secret] = Buffer.from(encoded, 'base64').toString().split(':');
  return [id, secret.join(':')].map((part) => percentDecode(part.replaceAll('+', ' ')));
};

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const;

/** How long a token is valid, unless `expiresInSeconds` says otherwise. */
const EXPIRES_IN_SECONDS = 3600;

/**
 * Signs a token with the key for `algorithm`, by default RS256. `claims` override the token's own `iss`, `iat`, `nbf`
 * and `exp`. `header` overrides the token's own `typ`, `kid` and `alg`. An undefined entry is left out.
 */
type SignToken = (
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
    const own: JWTPayload = { iss: issuer(), iat: now, nbf: now - 10, exp: now + expiresInSeconds };
    const protectedHeader = { typ: 'JWT', kid, alg, ...header } as JWTHeaderParameters;
    return new SignJWT({ ...own, ...claims }).setProtectedHeader(protectedHeader).sign(key.privateKey);
  };
  return { signToken, publicKeys: keys.map(({ publicJwk }) => publicJwk) };
}
