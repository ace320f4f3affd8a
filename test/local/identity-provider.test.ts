import { afterAll, describe, expect, it } from 'vitest';
import { startIdentityProvider } from '../../local/identity-provider/identity-provider.ts';

const partner = { clientId: 'partner', clientSecret: 'secret' };
const colon = { clientId: 'colon', clientSecret: 'a:b' };
const odd = { clientId: 'a:b c%', clientSecret: 'p+q:r/ü&=' };

const provider = await startIdentityProvider({ clients: [partner, colon, odd] });
afterAll(() => provider.close());

const formEncoded = (value: string) => new URLSearchParams({ value }).toString().slice('value='.length);
const basic = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString('base64')}`;

const ask = async (form: Record<string, string>, authorization?: string) => {
  const response = await fetch(provider.tokenUrl, {
    method: 'POST',
    headers: authorization ? { authorization } : {},
    body: new URLSearchParams({ grant_type: 'client_credentials', ...form }),
  });
  const body = (await response.json()) as Record<string, string>;
  return { status: response.status, headers: response.headers, body, token: body['access_token'] ?? '' };
};

const inBody = { client_id: partner.clientId, client_secret: partner.clientSecret };

const decode = (token: string) =>
  token.split('.', 2).map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));

describe('the token endpoint', () => {
  it.each([
    ['in the body', partner, inBody, undefined],
    ['in the header', partner, {}, basic(partner.clientId, partner.clientSecret)],
    ['in the header, as curl writes it', colon, {}, `Basic ${Buffer.from('colon:a:b').toString('base64')}`],
    ['in the header, form-encoded', odd, {}, basic(odd.clientId, odd.clientSecret)],
  ])('gives a token to a client that sends its credentials %s', async (_, client, form, authorization) => {
    const began = Math.floor(Date.now() / 1000);
    const scope = 'api://reports/.default';
    const { status, headers, body, token } = await ask({ ...form, scope }, authorization);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope });
    const [header, claims] = decode(token);
    expect(header).toEqual({ alg: 'RS256', typ: 'JWT', kid: expect.any(String) });
    expect(claims).toMatchObject({ client_id: client.clientId, scope, exp: claims.iat + 3600 });
    expect(claims.iat - began).toBeLessThanOrEqual(1);
  });

  it.each([
    ['a wrong secret', { client_id: 'partner', client_secret: 'Secret' }, undefined],
    ['wrong credentials in the header', inBody, basic('partner', 'wrong')],
    ['a header without credentials', {}, 'Basic ~~~'],
  ])('refuses %s', async (_, form: Record<string, string>, authorization) => {
    const { status, headers, body } = await ask(form, authorization);
    expect([status, body]).toEqual([401, { error: 'invalid_client' }]);
    expect(headers.get('www-authenticate')).toBe(authorization ? 'Basic realm="token"' : null);
  });

  it('refuses any other grant type', async () => {
    const { status, body } = await ask({ ...inBody, grant_type: 'password', username: 'x' });
    expect([status, body]).toEqual([400, { error: 'unsupported_grant_type' }]);
  });
});
