import { ENV } from '../../lib/names.ts';

/** The environment of functions that read from a token's claims, not from a register, whose rows its caller sees. */
export const BY_CLAIMS = {
  [ENV.entitlements]: 'claims',
  [ENV.companyClaims]: JSON.stringify({
    publisherCompanies: { claim: 'publisher_companies' },
    advertiserCompanies: { claim: 'advertiser_companies' },
  }),
  [ENV.everyCompanyValue]: '*',
};
