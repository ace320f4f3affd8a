import { describe, expect, it } from 'vitest';
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

  it.each<[string, Report, string, object]>([
    ['in the register', publisherReport, 'client-1', { partner, state: 'entitled', entitlement: [7n] }],
    ['of the other report only', advertiserReport, 'client-1', { partner, ...refused('no-companies') }],
    ['that is not in the register', publisherReport, 'stranger', refused('unknown-client')],
  ])('asks the register about a client %s', async (_, report, client, verdict) => {
    expect(await verdictOn(byRegister, report, client)).toEqual({ verdict, sought: [client] });
  });

  it('refuses a token that names no client, and does not ask the register', async () => {
    const verdict = refused('unknown-client');
    expect(await verdictOn(byRegister, publisherReport)).toEqual({ verdict, sought: [] });
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
