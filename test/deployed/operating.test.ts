/** Tests what an operator sees of a deployed stage: smoke, doctor, and throttled queries in the log. */
import { describe, expect, it } from 'vitest';
import { resourceNames } from '../../infra/resource-names.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { ownService, queryOf } from '../e2e/service.ts';
import { currentLane, type Lane } from './lane.ts';
import { operator } from './operator.ts';

const lane = currentLane() as Lane;
const { aws, doctor, smoke } = operator(lane);
const names = resourceNames(lane.stage);

const service = await ownService(knownEvents(41, 200));

describe('npm run smoke', () => {
  it('proves that the stage delivers, as the client of the probe', async () => {
    const output = await smoke(lane.stage);
    expect(output).toMatch(/^a report of yesterday, by a new query +delivered, rows: \d+$/m);
    expect(output).not.toContain('FAILS');
  });
});

describe('npm run doctor', () => {
  it('finds nothing wrong with the stage itself', async () => {
    const output = await doctor(lane.stage);
    expect(output).not.toMatch(/no query starts|lacks|sees no publisher|answered 401|lead elsewhere/);
  });
});

it('a query whose start Athena throttles is counted in the line of its request, though the report comes', async () => {
  service.stack.faults.set([{ on: 'athena', match: 'StartQueryExecution', throttle: true, times: 2 }]);
  const window = { start: '2026-01-01T00:00:00Z', end: '2026-01-03T00:00:00Z' };
  const asked = queryOf({ fields: ['Day', 'Opens'], ...window });
  const answer = await service.request('publisherperformance', asked, { redirect: 'follow' });
  expect(answer.status).toBe(200);
  service.stack.faults.set([]);
  const log = names.functionLog('publisherperformance');
  const lines = () => aws('logs', 'filter-log-events', '--log-group-name', log, '--output', 'json');
  await expect.poll(lines, { timeout: 60_000 }).toMatch(/\\"throttledStarts\\":2\b/);
  expect(await lines()).toMatch(/\\"ThrottledStarts\\":(\[2\]|2)/);
});
