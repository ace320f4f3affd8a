import type { Stack } from './stack.ts';

/**
 * Fetches an access token of a client; of the first partner, for the stack itself. Rejects where there is none to be
 * had.
 */
export async function accessToken({
  tokenUrl,
  clientId,
  clientSecret,
  scope,
}: Pick<Stack, 'tokenUrl' | 'clientId' | 'clientSecret' | 'scope'>): Promise<string> {
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
