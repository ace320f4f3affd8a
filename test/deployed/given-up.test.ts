import { expect, it } from 'vitest';
import { knownEvents } from '../e2e/known-events.ts';
import { ownService, queryOf } from '../e2e/service.ts';
import { changeEnvironment } from './function-environment.ts';
import { currentLane, type Lane } from './lane.ts';

const service = await ownService(knownEvents(78, 200));

it('a large report whose publication fails each time is answered 500, because Lambda invokes abandon by its alias', async () => {
  const restore = await changeEnvironment(currentLane() as Lane, ['publish'], { RESULTS_BUCKET: 'gone' });
  try {
    service.stack.faults.set([{ on: 'query', resultBytes: 40_000_000 }]);
    const window = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
    const asked = queryOf({ fields: ['Day', 'Clicks'], ...window });
    const response = await service.request('publisherperformance', asked, { redirect: 'follow' });
    expect(response.status).toBe(500);
  } finally {
    await restore();
  }
});
