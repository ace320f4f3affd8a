import type { Client } from '../../local/identity-provider/answer-token-request.ts';

/** The claims by which stage `claims` goes, and the value in them that means every company. */
export const CLAIMS = { publisher: 'publisher_companies', advertiser: 'advertiser_companies', every: '*' };

/** The house's own client of the identity provider that was there before: it sees every row. */
export const HOUSE: Client = {
  clientId: 'house',
  clientSecret: 'house-secret',
  claims: { [CLAIMS.publisher]: CLAIMS.every, [CLAIMS.advertiser]: CLAIMS.every },
};
