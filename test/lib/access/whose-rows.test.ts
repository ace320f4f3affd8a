import { describe, expect, it } from 'vitest';
import { readEntitlement } from '../../../lib/access/claims.ts';
import { type EntitlementTerms, verdictOnPartner, whoseRows } from '../../../lib/access/whose-rows.ts';
import { advertiserReport, publisherReport, type Report } from '../../../lib/report/catalogue.ts';
import { PARTNER } from '../http/setting.ts';

const record = { ...PARTNER, publisherCompanies: ['7'] };

/**
 * The verdict on a caller whose claim `publishers` gives access to company 5. `sought` lists the clients that were
 * looked up in the register.
 */
async function verdictOn(terms: EntitlementTerms, report: Report, client?: string) {
  const sought: string[] = [];
  const find = async (name: string) => {
    sought.push(name);
    return name === record.client ? record : undefined;
  };
  const claims = { ...(client && { client_id: client }), publishers: '5' };
  return { verdict: await whoseRows(terms, report, claims, { find }), sought };
}

const entitled = { state: 'entitled', entitlement: [5n] };
const refused = (refusal: string) => ({ state: 'refused', refusal });
const byClaim = (claim: string): EntitlementTerms => {
  const rule = { claim, prefix: undefined, everyCompany: undefined };
  return { by: 'claims', rules: { publisherCompanies: rule } };
};
const byRegister = { by: 'partners', bucket: 'register' } as const;
const partner = 'first-partner';

describe('whoseRows', () => {
  it('gives access to every row if the stage restricts no rows', async () => {
    const verdict = { state: 'entitled', entitlement: 'every-company' };
    expect(await verdictOn({ by: 'none' }, advertiserReport)).toEqual({ verdict, sought: [] });
  });

  it.each<[string, Report, string, object]>([
    ['gets the companies that its token names', publisherReport, 'publishers', entitled],
    ['is refused if its token names no company', publisherReport, 'other', refused('no-companies')],
    ['is refused if the report’s owner has no rule', advertiserReport, 'publishers', refused('no-companies')],
  ])('decides only by the token’s claims: a caller %s', async (_, report, claim, verdict) => {
    expect(await verdictOn(byClaim(claim), report, 'client-1')).toEqual({ verdict, sought: [] });
  });

  it.each<[string, Report, string | undefined, object]>([
    ['in the register', publisherReport, 'client-1', { partner, state: 'entitled', entitlement: [7n] }],
    ['of the other report only', advertiserReport, 'client-1', { partner, ...refused('no-companies') }],
    ['that is not in the register', publisherReport, 'stranger', refused('unknown-client')],
    ['only if its token names it', publisherReport, undefined, refused('unknown-client')],
  ])('asks the register about a client %s', async (_, report, client, verdict) => {
    expect(await verdictOn(byRegister, report, client)).toEqual({ verdict, sought: client ? [client] : [] });
  });
});

describe('verdictOnPartner', () => {
  it('refuses a suspended partner, whatever companies it has', () => {
    const all = { ...record, publisherCompanies: 'every-company' as const };
    expect(verdictOnPartner(all, publisherReport)).toMatchObject({ entitlement: 'every-company' });
    const suspended = verdictOnPartner({ ...all, active: false }, publisherReport);
    expect(suspended).toEqual({ partner, ...refused('inactive-client') });
  });
});

const rule = { claim: 'companies', prefix: undefined, everyCompany: '*' };
const roles = { claim: 'roles', prefix: 'publisher-company:', everyCompany: '*' };

describe('readEntitlement', () => {
  it.each<[unknown, string]>([
    [7, '7'],
    ['7', '7'],
    ['7 12  9', '7,9,12'],
    [[12, '7', 7], '7,12'],
    ['-3', '-3'],
    ['9223372036854775807', '9223372036854775807'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    ['*', 'every-company'],
    [['7', '*'], 'every-company'],
    ['007', '7'],
  ])('reads %j', (claim, expected) => {
    expect(String(readEntitlement({ companies: claim }, rule))).toBe(expected);
  });

  it.each<[string, unknown]>([
    ['missing', undefined],
    ['an empty text', ''],
    ['an empty list', []],
    ['an object', { id: 7 }],
    ['a fraction', 7.5],
    ['a number that JavaScript can’t hold exactly, among others', [7, 2 ** 53]],
    ['a number with an exponent', '1e3'],
    ['numbers separated by commas', '7,12'],
    ['a word among numbers', '7 all'],
    ['a null among numbers', [7, null]],
    ['a number that is too large for a signed 64-bit integer', '9223372036854775808'],
    ['digits of another script', '٧'],
  ])('gives no access for a claim that is %s', (_, claim) => {
    expect(readEntitlement({ companies: claim }, rule)).toBeUndefined();
  });

  it('never gives access to every company if the stage sets no value that means every company', () => {
    for (const claim of ['*', 'undefined', 'null', ''])
      expect(readEntitlement({ companies: claim }, { ...rule, everyCompany: undefined })).toBeUndefined();
  });

  it('reads role names by their prefix and ignores other roles', () => {
    expect(
      readEntitlement({ roles: ['reader', 'publisher-company:9', 'publisher-company:7'] }, roles),
    ).toEqual([7n, 9n]);
    expect(readEntitlement({ roles: 'publisher-company:7 reader' }, roles)).toEqual([7n]);
    expect(readEntitlement({ roles: ['publisher-company:*'] }, roles)).toBe('every-company');
  });

  it.each([
    ...['reader', '*', '7', 'advertiser-company:7', 'publisher-company:', 'Publisher-Company:7'],
    'publisher-company:7 publisher-company:x',
  ])('gives no access for the roles %s', (names) => {
    expect(readEntitlement({ roles: names.split(' ') }, roles)).toBeUndefined();
  });
});
