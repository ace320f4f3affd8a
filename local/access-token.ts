/** The client that asks for a token, the token's scope, and the endpoint. */
export interface TokenRequest {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string;
}

/**
 * Fetches an access token for a client. A `Stack` can be passed as it is: it contains the client of its first partner.
 * Rejects if the endpoint refuses.
 */
export async function accessToken({ tokenUrl, scope, ...client }: TokenRequest): Promise<string> {
  const { clientId: client_id, clientSecret: client_secret } = client;
  const grant = { grant_type: 'client_credentials', client_id, client_secret, scope };
  const response = await fetch(tokenUrl, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams(grant),
  });
  if (!response.ok) throw new Error(`The request for a token was answered ${response.status}.`);
  return ((await response.json()) as { access_token: string }).access_token;
}
