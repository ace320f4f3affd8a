import { afterAll, describe, expect, it } from 'vitest';
import { tokenVerifier } from '../../../lib/access/verify-token.ts';
import { NotAuthorized, Unauthenticated } from '../../../lib/problems/problem.ts';
import { startIdentityProvider } from '../../../local/identity-provider/identity-provider.ts';

const apiScope = 'api://reports';
const scope = `${apiScope}/.default`;
const BAD = 'The access token is invalid or has expired. Request a new one.';

const IN_TEN_YEARS = Date.now() / 1_000 + 10 * 365 * 86_400;

const provider = await startIdentityProvider({ clients: [] });
afterAll(() => provider.close());

const outcome = async (claims: object, requiredClaim?: { name: string; value: string }) => {
  const { issuer, jwksUri } = provider;
  const verify = tokenVerifier({ issuer, jwksUri, apiScope, requiredClaim });
  return verify(`Bearer ${await provider.signToken(claims as Record<string, unknown>, {})}`).then(
    () => 'good',
    (error: unknown) => (error instanceof NotAuthorized ? 'not authorized' : error),
  );
};

describe('a valid token without the scope', () => {
  it.each([
    ['the client', { client_id: 'first-partner', sub: 'other' }, 'first-partner'],
    ['the next claim that is a name', { client_id: '', azp: ['x'], appid: 'client-1' }, 'client-1'],
    ['the subject if the token names no client', { sub: 'somebody' }, 'somebody'],
    ['“unnamed” if the token names neither', { sub: undefined }, 'unnamed'],
  ])('is refused, and the log names %s', async (_, claims, caller) => {
    const token = await provider.signToken(claims, {});
    const verifying = tokenVerifier({ ...provider, apiScope })(`Bearer ${token}`);
    await expect(verifying).rejects.toMatchObject({ caller });
  });
});

describe('a token of an API that requires no claim beside the scope', () => {
  it.each([
    ['the scope', { scope, exp: IN_TEN_YEARS - 60 }, 'good'],
    ['the scope in a JSON array', { scope: ['other', scope] }, 'good'],
    ['the scope among others', { scope: `other ${scope} another` }, 'good'],
    ['the scope in scp', { scp: scope }, 'good'],
    ['a scope that begins with ours', { scope: `${scope}.all` }, 'not authorized'],
    ['a scope that ends with ours', { scope: `https://${scope}` }, 'not authorized'],
    ['the beginning of the scope', { scope: apiScope }, 'not authorized'],
    ['the scope in upper case', { scope: scope.toUpperCase() }, 'not authorized'],
    ['the API in aud, which any app of a tenant can get', { aud: apiScope }, 'not authorized'],
  ])('gives access to the API only with the scope: %s', async (_, claims, expected) => {
    expect(await outcome(claims)).toBe(expected);
  });
});

describe('a token of an API with a required role', () => {
  const role = { name: 'roles', value: 'Reports.Read' };
  it.each([
    ['the scope and the role', { scope, roles: ['Reports.Read'] }, 'good'],
    ['the API in aud and the role', { aud: apiScope, roles: ['Other', 'Reports.Read'] }, 'good'],
    ['the role as a text', { aud: [apiScope], roles: 'Reports.Read' }, 'good'],
    ['the scope and no role', { scope }, 'not authorized'],
    ['the API in aud and another role', { aud: apiScope, roles: ['Reports.ReadWrite'] }, 'not authorized'],
    ['only the role', { roles: ['Reports.Read'] }, 'not authorized'],
    ['another API in aud', { aud: `${apiScope}/`, roles: ['Reports.Read'] }, 'not authorized'],
  ])('gives access to the API only with the role, and the scope or aud: %s', async (_, claims, expected) => {
    expect(await outcome(claims, role)).toBe(expected);
  });
});

describe('a token with the scope', () => {
  it.each<[string, (issuer: string) => object, string]>([
    ...[undefined, 1e308, 1e20, IN_TEN_YEARS + 60].map((exp, nth): [string, () => object, string] => {
      return [`never expires, ${nth}`, () => ({ exp }), 'The access token does not expire within ten years.'];
    }),
    ['has expired', () => ({ exp: 1 }), BAD],
    ['is not valid yet', () => ({ nbf: 9e9, exp: 9e9 + 1 }), BAD],
    ['is of another issuer', () => ({ iss: 'https://elsewhere.example' }), BAD],
    ['names no issuer', () => ({ iss: undefined }), BAD],
    ['lists our issuer and another', (issuer) => ({ iss: [issuer, 'https://elsewhere.example'] }), BAD],
  ])('is refused if it %s', async (_, claims, message) => {
    const refusal = { constructor: Unauthenticated, message };
    expect(await outcome({ scope, ...claims(provider.issuer) })).toMatchObject(refusal);
  });
});

describe('a token with a list of scopes', () => {
  const verified = async (change: (token: string) => string, header: Record<string, unknown> = {}) => {
    const token = await provider.signToken({ scope: [scope, 'other'], company: 7 }, { header });
    return tokenVerifier({ ...provider, apiScope })(`Bearer ${change(token)}`);
  };
  const withCompany = (token: string, company: number) => {
    const [header, claims = '', signature] = token.split('.');
    const changed = { ...JSON.parse(Buffer.from(claims, 'base64url').toString()), company };
    return [header, Buffer.from(JSON.stringify(changed)).toString('base64url'), signature].join('.');
  };

  it('gives the signed claims unchanged', async () => {
    const claims = { scope: [scope, 'other'], company: 7, iss: provider.issuer };
    expect(await verified((token) => token)).toMatchObject(claims);
  });

  it('is refused if a claim or the signature was changed, or if its header marks an extension as critical', async () => {
    await expect(verified((token) => withCompany(token, 8))).rejects.toThrow(Unauthenticated);
    await expect(verified((token) => `${token.slice(0, -8)}AAAAAAAA`)).rejects.toThrow(Unauthenticated);
    await expect(verified((token) => `${token}.AAAA`)).rejects.toThrow(Unauthenticated);
    await expect(verified((token) => token, { crit: ['b64'], b64: true })).rejects.toThrow(Unauthenticated);
  });
});

describe('an Authorization header', () => {
  const verified = async (header: (token: string) => string | undefined) => {
    const token = await provider.signToken({ scope }, { algorithm: 'EdDSA' });
    return tokenVerifier({ ...provider, apiScope })(header(token));
  };

  it.each<[string, (token: string) => string]>([
    ['in lower case', (token) => `bearer ${token}`],
    ['followed by several blanks', (token) => `Bearer   ${token}`],
  ])('is accepted with the scheme %s', async (_, header) => {
    expect(await verified(header)).toMatchObject({ scope });
  });

  it.each<[string, (token: string) => string | undefined]>([
    ['is missing', () => undefined],
    ['is of another scheme', (token) => `Basic ${token}`],
    ['has no token', () => 'Bearer '],
    ['has no scheme', (token) => token],
    ['holds two tokens', (token) => `Bearer ${token}, Bearer ${token}`],
  ])('is answered with a request for a token if it %s', async (_, header) => {
    const message = 'Send the header "Authorization: Bearer <access_token>".';
    const refusal = { constructor: Unauthenticated, message, headers: { 'WWW-Authenticate': 'Bearer' } };
    await expect(verified(header)).rejects.toMatchObject(refusal);
  });

  it.each(['abc', 'a.b.c', 'W10.W10.AAAA'])('is refused if its token is no JWT: %s', async (token) => {
    const refusal = { constructor: Unauthenticated, message: BAD };
    await expect(verified(() => `Bearer ${token}`)).rejects.toMatchObject(refusal);
  });
});
