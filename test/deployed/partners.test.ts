import { describe, expect, it } from 'vitest';
import { resourceNames } from '../../infra/resource-names.ts';
import { accessToken } from '../../local/access-token.ts';
import type { Question } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { ownService, queryOf } from '../e2e/service.ts';
import { CONTACT, clientIn } from './add-house.ts';
import { currentLane, type Lane } from './lane.ts';
import { operator } from './operator.ts';

const lane = currentLane() as Lane;
const { json, partner } = operator(lane);
const events = knownEvents(5, 300);
const question: Question = {
  fields: ['PublisherCompanyId', 'Opens', 'Revenue'],
  start: '2026-01-01T00:00:00Z',
  end: '2026-02-01T00:00:00Z',
};

const service = await ownService(events, { functionEnv: { QUERY_WAIT_MS: '1500' } });

/** Pulls a report as the partner with this client. Resolves to the status. */
async function pull(client: ReturnType<typeof clientIn>, fields = question.fields): Promise<number> {
  const headers = { Authorization: `Bearer ${await accessToken({ ...service.stack, ...client })}` };
  const asked = queryOf({ ...question, fields });
  return (await service.request('publisherperformance', asked, { redirect: 'follow', headers })).status;
}

async function linesOf(name: string): Promise<{ name: string; message?: string; partner?: string }[]> {
  const log = resourceNames(lane.stage).functionLog(name);
  const { events } = await json('logs filter-log-events --log-group-name', log);
  return (events as { message: string }[])
    .flatMap(({ message }) => message.split('\n'))
    .filter((line) => line.startsWith('{'))
    .map((line) => ({ ...JSON.parse(line), name }));
}

/** A function keeps the register's records for a minute. The rest of the timeout is for the requests. */
const MINUTE = { timeout: 75_000, interval: 2_000 };

describe('partners of a deployed stage', () => {
  it('are named in the logs of the report, downloads and publish functions', async () => {
    const client = clientIn(
      await partner('add', lane.stage, 'lane-logged', '--publisher-companies', '1000', ...CONTACT),
    );
    service.stack.faults.set([{ on: 'query', delayMs: 3_000, resultBytes: 40_000_000 }]);
    expect(await pull(client, ['Day', 'Opens'])).toBe(200);
    service.stack.faults.set([]);
    const named = async () =>
      (await Promise.all(['publisherperformance', 'downloads', 'publish'].map(linesOf)))
        .flat()
        .filter(({ partner }) => partner === 'lane-logged')
        .map(({ name, message }) => `${name}: ${message}`);
    const lines = ['downloads: request', 'downloads: download', 'publish: publication'];
    await expect
      .poll(async () => new Set(await named()), MINUTE)
      .toEqual(new Set(['publisherperformance: request', ...lines]));
  });
});
