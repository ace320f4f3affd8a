import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { expectedReport, type Question } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { queryOf, startService } from '../e2e/service.ts';

/** API Gateway's limit for one request. */
const GATEWAY_MS = 29_000;

it('the report of a 70-second query reaches curl -L and fetch, and no request takes longer than the gateway allows', async () => {
  const events = knownEvents(31, 100);
  const service = await startService(events);
  try {
    service.stack.faults.set([{ on: 'query', delayMs: 70_000 }]);
    const question: Question = {
      fields: ['Day', 'Clicks'],
      start: '2026-01-01T00:00:00Z',
      end: '2026-02-01T00:00:00Z',
    };
    const url = `${service.stack.apiUrl}/reporting/publisherperformance?${queryOf(question)}`;
    const expected = expectedReport('publisherperformance', events.publisher_events, question);

    const steps: number[] = [];
    const followed = (async () => {
      let at = url;
      for (;;) {
        const from = Date.now();
        const response = await fetch(at, {
          redirect: 'manual',
          headers: { Authorization: `Bearer ${service.token}` },
        });
        steps.push(Date.now() - from);
        const location = response.headers.get('location');
        if (!location) return response.status;
        at = new URL(location, at).href;
        if (at.startsWith(service.stack.storageUrl)) return (await fetch(at)).text();
      }
    })();
    const [curl, fetched, hand] = await Promise.all([
      promisify(execFile)('curl', ['-sSL', '-H', `Authorization: Bearer ${service.token}`, url]),
      service.pull('publisherperformance', question),
      followed,
    ]);
    expect([curl.stdout, fetched, hand]).toEqual([expected, expected, expected]);
    expect(Math.max(...steps)).toBeLessThan(GATEWAY_MS);
    process.stdout.write(`steps of ${steps.map((ms) => (ms / 1_000).toFixed(1)).join(', ')} s\n`);
  } finally {
    await service.close();
  }
});
