/** A client, and where it gets a token for what. */
interface TokenRequest {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string;
}

/**
 * Fetches an access token of a client; of the first partner, for the stack itself. Rejects where there is none to be
 * had.
 */
export async function accessToken({
  tokenUrl,
  clientId,
  clientSecret,
  scope,
}: TokenRequest): Promise<string> {
  const response = await fetch(tokenUrl, {
    method: 'POST',
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
