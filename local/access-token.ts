import type { Stack } from './stack.ts';

/** Fetches an access token; for the stack itself, one of its own client, the first of its partners. */
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
  return ((await response.json()) as { access_token: string }).access_token;
}
