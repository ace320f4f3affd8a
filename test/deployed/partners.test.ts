import { describe, expect, it } from 'vitest';
import { resourceNames } from '../../infra/resource-names.ts';
import { accessToken } from '../../local/access-token.ts';
import type { Question } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { ownService, queryOf } from '../e2e/service.ts';
import { currentLane, type Lane } from './lane.ts';
import { operator } from './operator.ts';

const lane = currentLane() as Lane;
const { aws, outputs, partner } = operator(lane);
const events = knownEvents(5, 300);
const question: Question = {
  fields: ['PublisherCompanyId', 'Opens', 'Revenue'],
  start: '2026-01-01T00:00:00Z',
  end: '2026-02-01T00:00:00Z',
};

const service = await ownService(events, { functionEnv: { QUERY_WAIT_MS: '1500' } });

const CONTACT = ['--contact', 'reports@partner.example'];
const read = (output: string, name: string) => RegExp(`${name} +(\\S+)`).exec(output)?.[1] ?? '';
const tokenOf = (clientId: string, clientSecret: string) =>
  accessToken({ ...service.stack, clientId, clientSecret });

/** Adds a partner as an operator does. Resolves to a token for the partner. */
async function added(name: string, companies: string): Promise<string> {
  const output = await partner('add', lane.stage, name, '--publisher-companies', companies, ...CONTACT);
  return tokenOf(read(output, 'client id'), read(output, 'client secret'));
}

const get = async (token: string, asked = question) => {
  const response = await service.request('publisherperformance', queryOf(asked), {
    redirect: 'follow',
    headers: { Authorization: `Bearer ${token}` },
  });
  return { status: response.status, body: await response.text() };
};

async function linesOf(name: string): Promise<{ name: string; message?: string; partner?: string }[]> {
  const log = ['--log-group-name', resourceNames(lane.stage).functionLog(name)];
  const { events } = JSON.parse(await aws('logs', 'filter-log-events', ...log, '--output', 'json'));
  return (events as { message: string }[])
    .flatMap(({ message }) => message.split('\n'))
    .filter((line) => line.startsWith('{'))
    .map((line) => ({ ...JSON.parse(line), name }));
}

/** A function keeps the register's records for a minute. The rest of the timeout is for the requests. */
const MINUTE = { timeout: 75_000, interval: 2_000 };

describe('partners of a deployed stage', () => {
  it('are only the clients in the register: a client that was made directly in Cognito gets a 401', async () => {
    const { UserPoolId = '' } = await outputs(lane.stage, 'identity');
    const flows = ['--allowed-o-auth-flows', 'client_credentials', '--allowed-o-auth-flows-user-pool-client'];
    const made = await aws(
      'cognito-idp',
      'create-user-pool-client',
      ...['--user-pool-id', UserPoolId, '--client-name', 'lane-one', '--generate-secret', ...flows],
      ...['--allowed-o-auth-scopes', service.stack.scope, '--output', 'json'],
    );
    const { ClientId, ClientSecret } = JSON.parse(made).UserPoolClient;
    expect(await get(await tokenOf(ClientId, ClientSecret))).toMatchObject({ status: 401 });
    expect(await partner('list', lane.stage)).toContain(
      `(client ${ClientId}, "lane-one" in Cognito, is no partner`,
    );
  });

  it('are named in the logs of the report, downloads and publish functions', async () => {
    const token = await added('lane-logged', '1000');
    service.stack.faults.set([{ on: 'query', delayMs: 3_000, resultBytes: 40_000_000 }]);
    const large = { ...question, fields: ['Day', 'Opens'] };
    expect((await get(token, large)).status).toBe(200);
    service.stack.faults.set([]);
    const named = async () =>
      (await Promise.all(['publisherperformance', 'downloads', 'publish'].map(linesOf)))
        .flat()
        .filter(({ partner }) => partner === 'lane-logged')
        .map(({ name, message }) => `${name}: ${message}`);
    await expect
      .poll(async () => new Set(await named()), MINUTE)
      .toEqual(
        new Set([
          'publisherperformance: request',
          'downloads: request',
          'downloads: download',
          'publish: publication',
        ]),
      );
  });
});
