import type { Client } from './identity-provider/answer-token-request.ts';

/** The claims that this machine's tokens carry, and the value in them that means every company. */
export const CLAIMS = { publisher: 'publisher_companies', advertiser: 'advertiser_companies', every: '*' };

const client = (clientId: string, claims: Record<string, unknown> = {}): Client => ({
  clientId,
  clientSecret: `${clientId}-secret`,
  claims,
});

/** Sees every row of both reports, like the house's own staff. */
export const HOUSE = client('house', { [CLAIMS.publisher]: CLAIMS.every, [CLAIMS.advertiser]: CLAIMS.every });

/**
 * The clients that the local identity provider knows: the companies are the largest of the sample events, in the
 * forms that identity providers can issue.
 */
export const CLIENTS: readonly Client[] = [
  HOUSE,
  client('publisher-one', { [CLAIMS.publisher]: [1000] }),
  client('publisher-two', { [CLAIMS.publisher]: '1001 1002' }),
  client('advertiser', { [CLAIMS.advertiser]: '2000' }),
  client('nobody'),
];
