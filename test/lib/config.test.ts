import { describe, expect, it } from 'vitest';
import { isContact, isTokenEndpoint } from '../../lib/access/access-details.ts';
import { readConfig } from '../../lib/config.ts';
import { LEAST_ENVIRONMENT as env } from '../least-environment.ts';

describe('readConfig', () => {
  it('fills in the settings that may be left out', () => {
    expect(readConfig(env)).toEqual({
      commit: 'unknown',
      token: {
        issuer: 'https://issuer.example',
        jwksUri: 'https://issuer.example/keys',
        apiScope: 'api://reports',
        requiredClaim: undefined,
      },
      entitlements: { by: 'none' },
      athenaDatabase: 'reports',
      athenaWorkgroup: 'reports',
      resultsBucket: 'results',
      queryWaitMs: 25_000,
      longestQueryMs: 600_000,
      lake: undefined,
      listingMs: 0,
      scanLimit: undefined,
      queriesPerPartner: undefined,
      requestsPerSecond: undefined,
      downloadUrlSeconds: 300,
      corsOrigins: [],
      currency: undefined,
      access: {},
      pageFiles: undefined,
    });
  });

  it('reads the bucket of the register of partners, or which claim gives access to which report', () => {
    const register = readConfig({ ...env, ENTITLEMENTS: 'partners', PARTNERS_BUCKET: 'register' });
    expect(register.entitlements).toEqual({ by: 'partners', bucket: 'register' });
    const COMPANY_CLAIMS = '{"publisherCompanies":{"claim":"roles","prefix":"publisher-company:"}}';
    const claims = { ENTITLEMENTS: 'claims', COMPANY_CLAIMS, EVERY_COMPANY_VALUE: 'all' };
    const { entitlements } = readConfig({ ...env, ...claims });
    const rule = { claim: 'roles', prefix: 'publisher-company:', everyCompany: 'all' };
    expect(entitlements).toEqual({ by: 'claims', rules: { publisherCompanies: rule } });
  });

  it('reads the shortest and the longest wait, which leave time to answer, and the longest query', () => {
    for (const queryWaitMs of [100, 25_000])
      expect(readConfig({ ...env, QUERY_WAIT_MS: String(queryWaitMs) })).toMatchObject({ queryWaitMs });
    expect(readConfig({ ...env, LONGEST_QUERY_MS: '4000' })).toMatchObject({ longestQueryMs: 4_000 });
  });

  it('reads the place of the lake, the highest age of its listing, and the scan limit', () => {
    const lake = { EVENTS_BUCKET: 'events', LISTING_SECONDS: '60', MAX_BYTES_SCANNED: '10000000000' };
    const place = { bucket: 'events', prefix: '' };
    const limits = { listingMs: 60_000, scanLimit: 10_000_000_000 };
    expect(readConfig({ ...env, ...lake })).toMatchObject({ lake: place, ...limits });
    expect(readConfig({ ...env, ...lake, EVENTS_PREFIX: 'warehouse/' }).lake?.prefix).toBe('warehouse/');
  });

  it('treats 0 as no limit, both for the bytes that a query may scan and for the queries of a partner', () => {
    const unlimited = { scanLimit: undefined, queriesPerPartner: undefined };
    expect(readConfig({ ...env, MAX_BYTES_SCANNED: '0', QUERIES_PER_PARTNER: '0' })).toMatchObject(unlimited);
    expect(readConfig({ ...env, QUERIES_PER_PARTNER: '5' }).queriesPerPartner).toBe(5);
  });

  it('reads the token endpoint and the contact, each without the other', () => {
    const tokenEndpoint = 'https://login.example/token';
    const contact = 'reports@example.com';
    expect(readConfig({ ...env, ACCESS_TOKEN_ENDPOINT: tokenEndpoint }).access).toEqual({ tokenEndpoint });
    expect(readConfig({ ...env, ACCESS_CONTACT: contact }).access).toEqual({ contact });
  });

  it('refuses a `mailto:` URL as a contact, and says what a contact looks like', () => {
    expect(() => readConfig({ ...env, ACCESS_CONTACT: 'mailto:reports@example.com' })).toThrow(
      'ACCESS_CONTACT: expected an e-mail address without a name or mailto: (reports@example.com), or the https URL of a page',
    );
  });

  it('reads the claim that a token must carry beside the scope, and refuses one of its two variables without the other', () => {
    const claim = { REQUIRED_CLAIM: 'roles', REQUIRED_CLAIM_VALUE: 'Reports.Read' };
    const requiredClaim = { name: 'roles', value: 'Reports.Read' };
    expect(readConfig({ ...env, ...claim }).token).toMatchObject({ requiredClaim });
    const together = 'REQUIRED_CLAIM and REQUIRED_CLAIM_VALUE go together: set both or neither.';
    for (const name of Object.keys(claim))
      expect(() => readConfig({ ...env, ...claim, [name]: undefined })).toThrow(together);
  });

  it('names every variable that is missing', () => {
    expect(() => readConfig({})).toThrow(
      /TOKEN_ISSUER: .*\nTOKEN_JWKS_URI: .*\nAPI_SCOPE: .*\nENTITLEMENTS: .*\nATHENA_DATABASE: .*\nATHENA_WORKGROUP: .*\nRESULTS_BUCKET: /,
    );
  });

  it.each([
    ['ENTITLEMENTS', 'all'],
    ['QUERY_WAIT_MS', '99'],
    ['QUERY_WAIT_MS', '25001'],
    ['DOWNLOAD_URL_SECONDS', '0'],
    ['LISTING_SECONDS', '3601'],
    ['MAX_BYTES_SCANNED', '1 GB'],
    ['QUERIES_PER_PARTNER', 'many'],
    ['REQUESTS_PER_SECOND', '2/s'],
    ['EVENTS_PREFIX', 'warehouse'],
    ['EVENTS_BUCKET', ''],
    ['TOKEN_JWKS_URI', 'keys'],
    ['EVERY_COMPANY_VALUE', '1'],
    ['CORS_ORIGINS', 'https://good.example,https://with.a/path'],
    ['CURRENCY', 'dollars'],
    ['ACCESS_TOKEN_ENDPOINT', 'login.example/token'],
    ['ACCESS_CONTACT', 'the reports team'],
  ])('refuses %s=%s, with an error that names the variable', (name, value) => {
    expect(() => readConfig({ ...env, [name]: value })).toThrow(`${name}: `);
  });

  it.each<[string, string, string?]>([
    ['partners', 'PARTNERS_BUCKET'],
    ['claims', 'COMPANY_CLAIMS'],
    ['claims', 'COMPANY_CLAIMS', 'roles'],
    ['claims', 'COMPANY_CLAIMS', '{"nobodysCompanies":{"claim":"roles"}}'],
    ['claims', 'COMPANY_CLAIMS', '{"publisherCompanies":{"prefix":"publisher-company:"}}'],
  ])('refuses ENTITLEMENTS=%s with another value of %s than it needs: %s', (by, name, value) => {
    expect(() => readConfig({ ...env, ENTITLEMENTS: by, [name]: value })).toThrow(name);
  });
});

const [NEITHER, ENDPOINT, CONTACT, BOTH] = ['neither', 'an endpoint', 'a contact', 'both'] as const;

it.each([
  ['https://login.example/oauth2/token', BOTH],
  ['https://login.example', BOTH],
  ['https://login.example:8443/tenant/oauth2/v2.0/token?api-version=1.0', BOTH],
  ['http://127.0.0.1:8080/token', ENDPOINT],
  ['http://help.example/access', ENDPOINT],
  ['reports@example.com', CONTACT],
  ['first.last+reports@mail.example.co.uk', CONTACT],
  ['https://help.example/access#reports', CONTACT],
  ['mailto:reports@example.com', NEITHER],
  ['Reports <reports@example.com>', NEITHER],
  ['@example.com', NEITHER],
  ['a@example.com, b@example.com', NEITHER],
  // No valid URLs, or URLs that could be misread.
  ['', NEITHER],
  ['login.example/token', NEITHER],
  ['ftp://login.example/token', NEITHER],
  ['https://user:secret@login.example/token', NEITHER],
  ['https://login.example/to ken', NEITHER],
  ['urn:https://login.example/token', NEITHER],
  ['https://login.example/$(id)', NEITHER],
  ["https://login.example/'token'", NEITHER],
  // The page writes these texts into commands: no shell may read a part of them as a command.
  ['https://login.example/`id`', NEITHER],
  ['https://login.example/"token"', NEITHER],
  ['https://login.example/!token', NEITHER],
  ['a`id`@example.com', NEITHER],
  ['`id`@example.com', NEITHER],
  ['reports@example', NEITHER],
  ['https://login.example/{tenant}', NEITHER],
  ['https://login.example/token\n', NEITHER],
])('%j can be a token endpoint or a contact: %s', (text, expected) => {
  const kinds = [NEITHER, ENDPOINT, CONTACT, BOTH];
  expect(kinds[Number(isTokenEndpoint(text)) + 2 * Number(isContact(text))]).toBe(expected);
});
