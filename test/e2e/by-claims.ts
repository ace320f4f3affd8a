import { ENV } from '../../lib/names.ts';

/** The functions' environment if the tokens' claims, and not a register, say whose rows a caller sees. */
export const BY_CLAIMS = {
  [ENV.entitlements]: 'claims',
  [ENV.companyClaims]: JSON.stringify({
    publisherCompanies: { claim: 'publisher_companies' },
    advertiserCompanies: { claim: 'advertiser_companies' },
  }),
  [ENV.everyCompanyValue]: '*',
};
