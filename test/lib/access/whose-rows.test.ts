import { describe, expect, it } from 'vitest';
import type { EntitlementRule } from '../../../lib/access/claims.ts';
import type { PartnerRecord } from '../../../lib/access/partner-record.ts';
import { type EntitlementTerms, verdictOnPartner, whoseRows } from '../../../lib/access/whose-rows.ts';
import { advertiserReport, byOwner, publisherReport, type Report } from '../../../lib/report/catalogue.ts';

const rule = (claim: string): EntitlementRule => ({ claim, prefix: undefined, everyCompany: undefined });
const record: PartnerRecord = {
  form: 1,
  client: 'client-1',
  name: 'first-partner',
  ...byOwner(() => []),
  publisherCompanies: ['7'],
  contact: '',
  since: '2026-01-01T00:00:00Z',
  active: true,
};

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

describe('whoseRows', () => {
  it('gives access to every row if the stage restricts no rows', async () => {
    expect(await verdictOn({ by: 'none' }, advertiserReport)).toEqual({
      verdict: { state: 'entitled', entitlement: 'every-company' },
      sought: [],
    });
  });

  it.each<[string, Report, Record<string, EntitlementRule>, object]>([
    [
      'gets the companies that its token names',
      publisherReport,
      { publisherCompanies: rule('publishers') },
      entitled,
    ],
    [
      'is refused if its token names no company',
      publisherReport,
      { publisherCompanies: rule('other') },
      refused('no-companies'),
    ],
    [
      'is refused if the report’s owner has no rule',
      advertiserReport,
      { publisherCompanies: rule('publishers') },
      refused('no-companies'),
    ],
  ])('decides only by the token’s claims: a caller %s', async (_, report, rules, verdict) => {
    expect(await verdictOn({ by: 'claims', rules }, report, 'client-1')).toEqual({ verdict, sought: [] });
  });

  it.each<[string, Report, string | undefined, object]>([
    [
      'that is in the register',
      publisherReport,
      'client-1',
      { partner: 'first-partner', state: 'entitled', entitlement: [7n] },
    ],
    [
      'that has companies of the other report only',
      advertiserReport,
      'client-1',
      { partner: 'first-partner', ...refused('no-companies') },
    ],
    ['that is not in the register', publisherReport, 'stranger', refused('unknown-client')],
  ])('asks the register about a client %s', async (_, report, client, verdict) => {
    expect(await verdictOn({ by: 'partners', bucket: 'register' }, report, client)).toEqual({
      verdict,
      sought: [client],
    });
  });

  it('refuses a token that names no client, and does not ask the register', async () => {
    expect(await verdictOn({ by: 'partners', bucket: 'register' }, publisherReport)).toEqual({
      verdict: refused('unknown-client'),
      sought: [],
    });
  });
});

describe('verdictOnPartner', () => {
  it('refuses a suspended partner, whatever companies it has', () => {
    const all = { ...record, publisherCompanies: 'every-company' as const };
    expect(verdictOnPartner(all, publisherReport)).toMatchObject({ entitlement: 'every-company' });
    expect(verdictOnPartner({ ...all, active: false }, publisherReport)).toEqual({
      partner: 'first-partner',
      ...refused('inactive-client'),
    });
  });
});
