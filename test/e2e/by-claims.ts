import { ENV } from '../../lib/names.ts';

/** With this environment, functions read a caller's companies from the token's claims, not from the register. */
export const BY_CLAIMS = {
  [ENV.entitlements]: 'claims',
  [ENV.companyClaims]: JSON.stringify({
    publisherCompanies: { claim: 'publisher_companies' },
    advertiserCompanies: { claim: 'advertiser_companies' },
  }),
  [ENV.everyCompanyValue]: '*',
};
