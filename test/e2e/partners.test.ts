import { afterEach, expect, it } from 'vitest';
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

const aPartner = (client: string, publisherCompanies: string[]): PartnerRecord => {
  const rest = { contact: 'reports@partner.example', since: '2026-01-01T00:00:00Z', active: true };
  return { form: 1, client, name: client, ...byOwner(() => []), ...rest, publisherCompanies };
};

it('a sample partner of the register gets the reports and the 401 answers that the guide promises', async () => {
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

it.each<[string, string, string[] | undefined]>([
  ['gives the new rows, if there are any', 'changing', ['1001']],
  ['is answered 404 if the record is gone', 'leaving', undefined],
])('a change of the register holds for a partner that waits: the hop %s', async (_, client, companies) => {
  const { stack } = service;
  await stack.register(client, aPartner(client, ['1000', '1001']));
  const token = await stack.identityProvider.signToken({ scope: stack.scope, client_id: client });
  const question = { ...january, fields: ['PublisherCompanyId', companies ? 'ServedAds' : 'Clicks'] };
  stack.faults.set([{ on: 'query', delayMs: 700 }]);
  const headers = { Authorization: `Bearer ${token}` };
  const first = await service.request('publisherperformance', queryOf(question), { headers });
  const location = first.headers.get('location') ?? '';
  expect(location).toContain('/reporting/downloads/');
  await stack.register(client, companies && aPartner(client, companies));
  await forget();
  const response = await fetch(new URL(location, stack.apiUrl));
  const [status, body] = [response.status, await response.text()];
  const rows = events.publisher_events.filter((row) =>
    companies?.includes(String(row['publisher_company_id'])),
  );
  if (companies)
    expect([status, body]).toEqual([200, expectedReport('publisherperformance', rows, question)]);
  else expect([status, JSON.parse(body).type]).toEqual([404, expect.stringMatching(/:no-such-download$/)]);
});
