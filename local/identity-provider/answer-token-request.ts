import { randomUUID } from 'node:crypto';
import { unescape as percentDecode } from 'node:querystring';
import { EXPIRES_IN_SECONDS, type SignToken } from './make-signer.ts';

/**
 * A client that may fetch tokens. `claims` are added to each token. They replace the token's own claims of the same
 * names.
 */
export interface Client {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly claims?: Readonly<Record<string, unknown>>;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body: object;
}

/** Answers a request for a token by the client credentials grant (RFC 6749, 4.4 and 5). */
export async function answerTokenRequest(
  { authorization, form }: { readonly authorization: string | undefined; readonly form: URLSearchParams },
  clients: readonly Client[],
  signToken: SignToken,
): Promise<Answer> {
  if (form.get('grant_type') !== 'client_credentials') {
    return { status: 400, body: { error: 'unsupported_grant_type' } };
  }
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
  const accessToken = await signToken({
    scope,
    client_id: client.clientId,
    sub: client.clientId,
    jti: randomUUID(),
    ...client.claims,
  });
  return {
    status: 200,
    body: { access_token: accessToken, token_type: 'Bearer', expires_in: EXPIRES_IN_SECONDS, scope },
  };
}

/**
 * The client's id and secret, which are form-encoded in the header (RFC 6749, 2.3.1). Both are empty if the header's
 * scheme is not Basic.
 */
const basicCredentials = (authorization: string): string[] => {
  const [, encoded = ''] = /^Basic +(\S+)$/i.exec(authorization) ?? [];
  const [id = '', ...secret] = Buffer.from(encoded, 'base64').toString().split(':');
  return [id, secret.join(':')].map((part) => percentDecode(part.replaceAll('+', ' ')));
};
