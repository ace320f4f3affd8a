import { EVERY_COMPANY } from '../../lib/access/partner-record.ts';
import { SAMPLE_PARTNERS } from '../../local/clients.ts';

/** The names of the claims in the tokens of stage `claims`, and the value that means every company. */
export const CLAIMS = { publisher: 'publisher_companies', advertiser: 'advertiser_companies', every: '*' };

const claimed = (companies: typeof EVERY_COMPANY | readonly string[]) =>
  companies === EVERY_COMPANY ? CLAIMS.every : companies;

/** The sample partners' clients, with the claims that name their companies. */
export const CLIENTS = SAMPLE_PARTNERS.map(({ record }) => ({
  clientId: record.client,
  clientSecret: `${record.client}-secret`,
  claims: {
    [CLAIMS.publisher]: claimed(record.publisherCompanies),
    [CLAIMS.advertiser]: claimed(record.advertiserCompanies),
  },
}));
