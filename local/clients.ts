import type { Client } from './identity-provider/answer-token-request.ts';

/** The claims that this machine's tokens carry, and the value in them that means every company. */
export const CLAIMS = { publisher: 'publisher_companies', advertiser: 'advertiser_companies', every: '*' };

/** A client of this machine's; `sees` says for people which rows it sees. */
interface SampleClient extends Client {
  readonly sees: string;
}

const client = (clientId: string, sees: string, claims: Record<string, unknown> = {}): SampleClient => ({
  clientId,
  clientSecret: `${clientId}-secret`,
  sees,
  claims,
});

/** Sees every row of both reports, like the house's own staff. */
export const HOUSE = client('house', 'every row of both reports', {
  [CLAIMS.publisher]: CLAIMS.every,
  [CLAIMS.advertiser]: CLAIMS.every,
});

/**
 * The clients that the local identity provider knows: the companies are the largest of the sample events, in the
 * forms that identity providers can issue.
 */
export const CLIENTS: readonly SampleClient[] = [
  HOUSE,
  client('publisher-one', 'publisher company 1000', { [CLAIMS.publisher]: [1000] }),
  client('publisher-two', 'publisher companies 1001 and 1002', { [CLAIMS.publisher]: '1001 1002' }),
  client('advertiser', 'advertiser company 2000', { [CLAIMS.advertiser]: '2000' }),
  client('nobody', 'nothing'),
];

/** What the page offers to pick from. */
export const SAMPLE_PARTNERS = CLIENTS.map(({ clientId, sees }) => ({ clientId, sees }));

/** Throws where there is no such client. */
export function clientOf(id: string): Client {
  const found = CLIENTS.find(({ clientId }) => clientId === id);
  if (!found) throw new TypeError(`There is no client ${id}.`);
  return found;
}
