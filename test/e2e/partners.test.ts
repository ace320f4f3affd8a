import { afterEach, describe, expect, it } from 'vitest';
import { EVERY_COMPANY, type PartnerRecord } from '../../lib/access/partner-record.ts';
import { byOwner } from '../../lib/report/catalogue.ts';
import { accessToken } from '../../local/access-token.ts';
import { type EventRow, expectedReport, type Question } from './expected-report.ts';
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
const headersOf = async (claims: object) => ({ Authorization: `Bearer ${await tokenOf(claims)}` });
const get = async (report: string, question: Question, claims: object) => {
  const response = await service.request(report, queryOf(question), {
    redirect: 'follow',
    headers: await headersOf(claims),
  });
  return { status: response.status, body: await response.text() };
};
const reportOf = (companies: readonly bigint[], question = revenue) => ({
  status: 200,
  body: expectedReport(
    'publisherperformance',
    events.publisher_events.filter((row: EventRow) =>
      companies.includes(row['publisher_company_id'] as bigint),
    ),
    question,
  ),
});
const notAuthorized = {
  status: 401,
  body: expect.stringContaining('"detail":"Not authorized to this endpoint."'),
};

describe('a partner of the register', () => {
  it.each(['client_id', 'azp', 'appid'])('is recognized by the claim %s of its token', async (claim) => {
    const client = await registered({ publisherCompanies: ['1000', '1002'] });
    expect(await get('publisherperformance', revenue, { [claim]: client })).toEqual(reportOf([1000n, 1002n]));
  });

  it('is not recognized by any other claim', async () => {
    const client = await registered({ publisherCompanies: EVERY_COMPANY });
    for (const claims of [{ sub: client }, { client_id: [client] }, { client_id: '', sub: client }, {}])
      expect(await get('publisherperformance', revenue, claims)).toEqual(notAuthorized);
  });

  it('gets no additional rows if claims of its token name companies', async () => {
    const client = await registered({ publisherCompanies: ['1000'] });
    const claims = { client_id: client, publisher_companies: '*', advertiser_companies: '*' };
    expect(await get('publisherperformance', revenue, claims)).toEqual(reportOf([1000n]));
    expect(await get('advertiserperformance', spend, claims)).toEqual(notAuthorized);
  });

  it.each<[string, (client: string) => unknown]>([
    ['does not exist', () => undefined],
    ['is inactive', (client) => aPartner({ client, publisherCompanies: EVERY_COMPANY, active: false })],
    ['has a newer form', (client) => ({ ...aPartner({ client, publisherCompanies: ['1000'] }), form: 2 })],
  ])('is refused if its record %s', async (_, recordOf) => {
    const client = `refused-${clients++}`;
    await service.stack.register(client, recordOf(client));
    expect(await get('publisherperformance', revenue, { client_id: client })).toEqual(notAuthorized);
  });

  it('gets the reports and the 401 answers that the guide promises, if it is a sample partner', async () => {
    const statuses = await Promise.all(
      service.stack.clients.map(async (client) => {
        const token = await accessToken({ ...service.stack, ...client });
        const init = { redirect: 'follow', headers: { Authorization: `Bearer ${token}` } } as const;
        const answers = await Promise.all([
          service.request('publisherperformance', queryOf(revenue), init),
          service.request('advertiserperformance', queryOf(spend), init),
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
  it('applies to tokens issued before the change, as soon as the functions read the register again', async () => {
    const client = await registered({ publisherCompanies: ['1000'] });
    const claims = { client_id: client };
    expect(await get('publisherperformance', revenue, claims)).toEqual(reportOf([1000n]));
    await service.stack.register(client, aPartner({ client, publisherCompanies: ['1001'] }));
    expect(await get('publisherperformance', revenue, claims)).toEqual(reportOf([1000n]));
    await forget();
    expect(await get('publisherperformance', revenue, claims)).toEqual(reportOf([1001n]));
    await service.stack.register(client, undefined);
    await forget();
    expect(await get('publisherperformance', revenue, claims)).toEqual(notAuthorized);
  });

  /** Requests a slow report. Resolves to the waiting URL in the answer. */
  const waitingUrl = async (client: string, question: Question) => {
    service.stack.faults.set([{ on: 'query', delayMs: 700 }]);
    const response = await service.request('publisherperformance', queryOf(question), {
      headers: await headersOf({ client_id: client }),
    });
    const location = response.headers.get('location') ?? '';
    expect(location).toContain('/reporting/downloads/');
    return new URL(location, service.stack.apiUrl);
  };
  const question = (fields: string[]): Question => ({
    ...january,
    fields: ['PublisherCompanyId', ...fields],
  });

  it.each<[string, string[], (client: string) => unknown]>([
    ['removed', ['Opens'], () => undefined],
    ['inactive', ['Clicks'], (client) => aPartner({ client, publisherCompanies: ['1000'], active: false })],
  ])('makes a partner’s waiting URL answer 404 if the record is now %s', async (_, fields, recordOf) => {
    const client = await registered({ publisherCompanies: ['1000'] });
    const url = await waitingUrl(client, question(fields));
    await service.stack.register(client, recordOf(client));
    await forget();
    const response = await fetch(url);
    expect({ status: response.status, ...((await response.json()) as object) }).toMatchObject({
      status: 404,
      type: 'urn:problem-type:performance-reports:no-such-download',
    });
  });

  it('narrows or widens the rows of a report for which the partner is waiting', async () => {
    for (const [fields, before, after] of [
      [['ServedAds'], ['1000', '1001'], ['1001']],
      [['ServedAds', 'Revenue'], EVERY_COMPANY, ['1002']],
    ] as const) {
      const asked = question([...fields]);
      const client = await registered({
        publisherCompanies: typeof before === 'string' ? before : [...before],
      });
      const url = await waitingUrl(client, asked);
      await service.stack.register(client, aPartner({ client, publisherCompanies: [...after] }));
      await forget();
      const response = await fetch(url);
      expect({ status: response.status, body: await response.text() }).toEqual(
        reportOf(after.map(BigInt), asked),
      );
    }
  });
});
