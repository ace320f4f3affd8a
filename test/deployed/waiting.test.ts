import { describe, expect, it } from 'vitest';
import { expectedReport, type Question } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { ownService, queryOf } from '../e2e/service.ts';
import { responsesFrom } from './deployed-functions.ts';
import { SLOWNESS } from './emulator-faults.ts';
import { changeEnvironment } from './function-environment.ts';
import { currentLane, type Lane } from './lane.ts';

/** API Gateway's limit for one request. */
const GATEWAY_MS = 29_000;

const events = knownEvents(78, 200);
const question: Question = {
  fields: ['Day', 'Opens'],
  start: '2026-01-01T00:00:00Z',
  end: '2026-02-01T00:00:00Z',
};

const service = await ownService(events);

describe('a query that takes longer than API Gateway allows for a request', () => {
  it('is delivered through the waiting room, and each step takes less than the gateway’s limit', async () => {
    service.stack.faults.set([{ on: 'query', match: 'SELECT', delayMs: 35_000 / SLOWNESS }]);
    const urls: string[] = [];
    const durations: number[] = [];
    let body = '';
    let from = Date.now();
    const first = await service.request('publisherperformance', queryOf(question));
    for await (const { url, response } of responsesFrom(service, first)) {
      if (response.status === 303) durations.push(Date.now() - from);
      urls.push(url);
      body = await response.text();
      from = Date.now();
    }
    expect(body).toBe(expectedReport('publisherperformance', events.publisher_events, question));
    const rooms = urls.filter((url) => url.startsWith(`${service.stack.apiUrl}/reporting/downloads/`));
    expect(rooms.length).toBeGreaterThan(0);
    expect(new Set(urls).size).toBe(urls.length);
    for (const duration of durations) expect(duration).toBeLessThan(GATEWAY_MS);
  });
});

describe('a large report whose publication fails each time', () => {
  it('is answered 500, because Lambda invokes the function abandon by its alias', async () => {
    const restore = await changeEnvironment(currentLane() as Lane, ['publish'], { RESULTS_BUCKET: 'gone' });
    try {
      service.stack.faults.set([{ on: 'query', resultBytes: 40_000_000 }]);
      const asked = queryOf({ ...question, fields: ['Day', 'Clicks'] });
      const response = await service.request('publisherperformance', asked, { redirect: 'follow' });
      expect(response.status).toBe(500);
    } finally {
      await restore();
    }
  });
});
