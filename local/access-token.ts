/** The client that asks for a token, the token's scope, and the endpoint. */
interface TokenRequest {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string;
}

/**
 * Fetches an access token for a client. A `Stack` can be passed as it is: it contains the client of its first partner.
 * Rejects if the endpoint refuses.
 */
export async function accessToken({
  tokenUrl,
  clientId,
  clientSecret,
  scope,
}: TokenRequest): Promise<string> {
  const response = await fetch(tokenUrl, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      scope,
    }),
  });
  if (!response.ok) throw new Error(`The request for a token was answered ${response.status}.`);
  return ((await response.json()) as { access_token: string }).access_token;
}
