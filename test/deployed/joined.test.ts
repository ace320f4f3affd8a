import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectedReport, type Question } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { queryOf, type Service, startService } from '../e2e/service.ts';
import { SLOWNESS } from './emulator-faults.ts';

const events = knownEvents(77, 200);
const question: Question = {
  fields: ['Day', 'Clicks'],
  start: '2026-01-01T00:00:00Z',
  end: '2026-02-01T00:00:00Z',
};

let service: Service;
beforeAll(async () => {
  service = await startService(events);
});
afterAll(() => service.close());

describe('ten identical requests at once', () => {
  it('share one query, and their answers say so in Cache-Status', async () => {
    // The query takes longer than ten processes take to start, so all ten requests arrive while it runs.
    service.stack.faults.set([{ on: 'query', match: 'SELECT', delayMs: 15_000 / SLOWNESS }]);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => service.request('publisherperformance', queryOf(question))),
    );
    expect(service.stack.faults.current()[0]?.matched).toBe(1);
    const statuses = answers.map(({ headers }) => headers.get('cache-status'));
    expect(statuses.filter((status) => status === 'PerformanceReports; fwd=miss')).toHaveLength(1);
    expect(statuses.filter((status) => status === 'PerformanceReports; fwd=miss; collapsed')).toHaveLength(9);
    const files = await Promise.all(
      answers.map(async ({ headers }) => {
        const next = new URL(headers.get('location') ?? '', `${service.stack.apiUrl}/`);
        return (await fetch(next)).text();
      }),
    );
    expect(new Set(files)).toEqual(
      new Set([expectedReport('publisherperformance', events.publisher_events, question)]),
    );
  });
});
