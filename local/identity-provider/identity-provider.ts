import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Listener, serve } from '../serve.ts';
import { type Answer, answerTokenRequest, type Client } from './answer-token-request.ts';
import { makeSigner, type SignToken } from './make-signer.ts';

export interface IdentityProvider extends Pick<Listener, 'close'> {
  readonly issuer: string;
  readonly tokenUrl: string;
  readonly jwksUri: string;
  /** Signs any token, even one that the token endpoint would never issue. */
  readonly signToken: SignToken;
}

/**
 * Starts an OAuth 2.0 authorization server on a free port of this machine. It serves a key set, metadata, and a token
 * endpoint for `options.clients`.
 */
export async function startIdentityProvider(options: {
  readonly clients: readonly Client[];
}): Promise<IdentityProvider> {
  let issuer = '';
  const { signToken, publicKeys } = await makeSigner(() => issuer);

  const answer = async (request: IncomingMessage): Promise<Answer> => {
    switch (`${request.method} ${request.url?.split('?')[0]}`) {
      case 'POST /token': {
        const form = new URLSearchParams(await text(request));
        const { authorization } = request.headers;
        return answerTokenRequest({ authorization, form }, options.clients, signToken);
      }
      case 'GET /jwks':
        return { status: 200, body: { keys: publicKeys } };
      case 'GET /.well-known/openid-configuration':
        return { status: 200, body: metadata(issuer) };
      default:
        return { status: 404, body: { error: 'not_found' } };
    }
  };

  const { url, close } = await serve(async (request, response) => {
    const failed = (error: unknown): Answer => ({
      status: 500,
      body: { error: 'server_error', error_description: String(error) },
    });
    const { status, headers, body } = await answer(request).catch(failed);
    response.writeHead(status, {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      ...headers,
    });
    response.end(JSON.stringify(body));
  });
  issuer = url;
  return { issuer, tokenUrl: `${issuer}/token`, jwksUri: `${issuer}/jwks`, signToken, close };
}

/** The metadata of OpenID Connect Discovery 1.0 that clients of this grant read. */
const metadata = (issuer: string): object => ({
  issuer,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
  grant_types_supported: ['client_credentials'],
  token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
});
