import { ENV } from '../../lib/names.ts';

/** The functions' environment where tokens say whose rows they open, and no register does. */
export const BY_CLAIMS = {
  [ENV.entitlements]: 'claims',
  [ENV.companyClaims]: JSON.stringify({
    publisherCompanies: { claim: 'publisher_companies' },
    advertiserCompanies: { claim: 'advertiser_companies' },
  }),
  [ENV.everyCompanyValue]: '*',
};
