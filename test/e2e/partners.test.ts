import { afterEach, describe, expect, it } from 'vitest';
import type { PartnerRecord } from '../../lib/access/partner-record.ts';
import { byOwner } from '../../lib/report/catalogue.ts';
import { accessToken } from '../../local/access-token.ts';
import { expectedReport, type Question } from './expected-report.ts';
import { knownEvents } from './known-events.ts';
import { ownService, queryOf } from './service.ts';

const events = knownEvents(5, 800);
const january = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
const revenue: Question = { ...january, fields: ['PublisherCompanyId', 'Opens', 'Revenue'] };
const spend: Question = { ...january, fields: ['Spend'] };

const service = await ownService(events, { functionEnv: { QUERY_WAIT_MS: '300' } });
afterEach(() => service.stack.faults.set([]));

/** Makes the functions forget the partners that they have read from the register, as they do after a minute. */
const forget = async () => {
  for (const sandbox of service.stack.sandboxes.values()) await sandbox.kill();
};

let clients = 0;
const aPartner = (facts: Partial<PartnerRecord>): PartnerRecord => {
  const client = `client-${clients++}`;
  const rest = { contact: 'reports@partner.example', since: '2026-01-01T00:00:00Z', active: true };
  return { form: 1, client, name: client, ...byOwner(() => []), ...rest, ...facts };
};
const registered = async (facts: Partial<PartnerRecord>) => {
  const record = aPartner(facts);
  await service.stack.register(record.client, record);
  return record.client;
};
const tokenOf = (claims: object) =>
  service.stack.identityProvider.signToken({ scope: service.stack.scope, ...claims });
const get = async (report: string, question: Question, claims: object) =>
  service.answerTo(await tokenOf(claims), report, question);
const reportOf = (companies: readonly bigint[], question = revenue) => ({
  status: 200,
  body: expectedReport(
    'publisherperformance',
    events.publisher_events.filter((row) => companies.includes(row['publisher_company_id'] as bigint)),
    question,
  ),
});
const notAuthorized = {
  status: 401,
  body: expect.stringContaining('"detail":"Not authorized to this endpoint."'),
};

describe('a partner of the register', () => {
  it('gets its rows and no others, and is refused if its record does not exist', async () => {
    const client = await registered({ publisherCompanies: ['1000', '1002'] });
    const claims = { client_id: client, publisher_companies: '*' };
    expect(await get('publisherperformance', revenue, claims)).toEqual(reportOf([1000n, 1002n]));
    expect(await get('advertiserperformance', spend, claims)).toEqual(notAuthorized);
    expect(await get('publisherperformance', revenue, { client_id: 'nobody-knows' })).toEqual(notAuthorized);
  });

  it('gets the reports and the 401 answers that the guide promises, if it is a sample partner', async () => {
    const statuses = await Promise.all(
      service.stack.clients.map(async (client) => {
        const token = await accessToken({ ...service.stack, ...client });
        const answers = await Promise.all([
          service.answerTo(token, 'publisherperformance', revenue),
          service.answerTo(token, 'advertiserperformance', spend),
        ]);
        return [client.clientId, ...answers.map(({ status }) => status)];
      }),
    );
    expect(statuses).toEqual([
      ['house', 200, 200],
      ['publisher-one', 200, 401],
      ['publisher-two', 200, 401],
      ['advertiser', 401, 200],
      ['nobody', 401, 401],
    ]);
  });
});

describe('a change of the register', () => {
  it.each<[string, string[] | undefined]>([
    ['gives the new rows, if there are any', ['1001']],
    ['is answered 404 if the record is gone', undefined],
  ])('holds for a partner that waits: the hop %s', async (_, companies) => {
    const client = await registered({ publisherCompanies: ['1000', '1001'] });
    const question = { ...january, fields: ['PublisherCompanyId', companies ? 'ServedAds' : 'Clicks'] };
    service.stack.faults.set([{ on: 'query', delayMs: 700 }]);
    const first = await service.request('publisherperformance', queryOf(question), {
      headers: { Authorization: `Bearer ${await tokenOf({ client_id: client })}` },
    });
    const location = first.headers.get('location') ?? '';
    expect(location).toContain('/reporting/downloads/');
    await service.stack.register(client, companies && aPartner({ client, publisherCompanies: companies }));
    await forget();
    const response = await fetch(new URL(location, service.stack.apiUrl));
    const [status, body] = [response.status, await response.text()];
    if (companies) expect({ status, body }).toEqual(reportOf(companies.map(BigInt), question));
    else expect([status, JSON.parse(body).type]).toEqual([404, expect.stringMatching(/:no-such-download$/)]);
  });
});
