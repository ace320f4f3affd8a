import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { ENV } from '../../lib/names.ts';
import { writeEvents } from '../../local/events/write-events.ts';
import type { StackOptions } from '../../local/stack.ts';
import { expectedReport, type Question } from '../e2e/expected-report.ts';
import { knownEvents, randomNumbers } from '../e2e/known-events.ts';
import { queryOf, type Service, startService } from '../e2e/service.ts';

const REPORT = 'publisherperformance';
const REPORTS = 200;
const CALLERS_OF_ONE = 500;
const SHORTEST_MS = 5_000;
const LONGEST_MS = 30_000;

const events = knownEvents(41, 200);
const questionUntil = (seconds: number): Question => ({
  fields: ['Day', 'Clicks'],
  start: '2026-01-01T00:00:00Z',
  end: `2026-01-20T${new Date(seconds * 1_000).toISOString().slice(11, 19)}Z`,
});
const expected = (question: Question, rows = events.publisher_events) =>
  expectedReport(REPORT, rows, question);

const services: Service[] = [];
async function start(options: Partial<StackOptions>): Promise<Service> {
  const service = await startService(events, { admitsAll: false, ...options });
  services.push(service);
  return service;
}
afterEach(() => services.at(-1)?.stack.faults.set([]));
afterAll(() => Promise.all(services.map((service) => service.close())));

const most = (counts: Iterable<readonly unknown[]>) => Math.max(...[...counts].map((list) => list.length));

describe('200 reports of 5 to 30 seconds, one of them requested by 500 more callers', () => {
  it('are all delivered within the account’s quotas, with at most 12 polls of Athena for each query', async () => {
    // All 200 queries may run at the same time, as many as the account allows.
    const service = await start({ maxRunning: REPORTS });
    const random = randomNumbers(7);
    const questions = Array.from({ length: REPORTS }, (_, index) => questionUntil(index + 1));
    service.stack.faults.set(
      questions.map(({ end }) => ({
        on: 'query',
        match: end.replace('T', ' ').replace('Z', ''),
        // The query waits in the queue for this long. While it waits, it does not occupy this machine's only engine.
        queuedMs: Math.round(SHORTEST_MS + random() * (LONGEST_MS - SHORTEST_MS)),
      })),
    );
    const [shared] = questions as [Question];
    const callers = questions.concat(Array.from({ length: CALLERS_OF_ONE }, () => shared));
    callers.sort(() => random() - 0.5);
    const began = Date.now();
    const answers = await Promise.all(
      callers.map(async (question, index) => {
        // All callers come within ten seconds.
        await delay((index * 10_000) / callers.length);
        for (;;) {
          const response = await service.request(REPORT, queryOf(question), { redirect: 'follow' });
          const body = await response.text();
          const retryAfter = response.headers.get('retry-after');
          // The local gateway can't serve all callers at once. It refuses some with a `Retry-After` of at most 3 s.
          // A 503 of the service itself has a longer `Retry-After`.
          if (response.status === 503 && Number(retryAfter) <= 3) await delay(1_000 * Number(retryAfter));
          else
            return response.status === 200 && body === expected(question)
              ? 'right'
              : `${response.status} ${body}`;
        }
      }),
    );
    expect(answers.filter((answer) => answer !== 'right')).toEqual([]);

    const calls = service.stack.athenaCalls();
    const gets = calls.filter(({ operation }) => operation === 'GetQueryExecution');
    const perQuery = most(Map.groupBy(gets, ({ queryExecutionId }) => queryExecutionId).values());
    // The most calls within any second that begins with a call.
    const perSecond = Math.max(
      ...gets.map(({ at }) => gets.filter((other) => other.at >= at && other.at < at + 1_000).length),
    );
    const starts = calls.filter(({ operation }) => operation === 'StartQueryExecution').length;
    process.stdout.write(
      `${JSON.stringify({ starts, gets: gets.length, perQuery, perSecond, seconds: (Date.now() - began) / 1_000 })}\n`,
    );
    expect(perQuery).toBeLessThanOrEqual(12);
    expect(perSecond).toBeLessThanOrEqual(50);
  });
});

describe('an Athena that throttles one call in three', () => {
  it('leads to the right report or to a 503 for each of 200 reports', async () => {
    const service = await start({});
    service.stack.faults.set([{ on: 'athena', every: 3, throttle: true }]);
    const answers = await Promise.all(
      Array.from({ length: REPORTS }, async (_, index) => {
        const question = questionUntil(10_000 + index);
        const response = await service.request(REPORT, queryOf(question), { redirect: 'follow' });
        const body = await response.text();
        return response.status === 503 || (response.status === 200 && body === expected(question));
      }),
    );
    expect(answers).not.toContain(false);
  });
});

describe('a lake that gets a file every five seconds', () => {
  it('needs at most three queries for 100 callers within a minute if listings may be a minute old', async () => {
    const service = await start({ functionEnv: { [ENV.listingSeconds]: '60' } });
    service.stack.faults.set([{ on: 'query', match: 'SELECT' }]);
    const question = questionUntil(1);
    const arriving = Array.from({ length: 12 }, (_, index) => ({
      event_time: `2026-01-12T10:00:${String(index).padStart(2, '0')}.000Z`,
      container_id: 1n,
      clicks: 1n,
      served_ads: 0n,
    }));
    const writer = (async () => {
      for (const row of arriving) {
        await writeEvents(service.eventsDirectory, 'publisher_events', [row]);
        await delay(5_000);
      }
    })();
    const possible = new Set(
      Array.from({ length: arriving.length + 1 }, (_, count) =>
        expected(question, [...events.publisher_events, ...(arriving.slice(0, count) as never[])]),
      ),
    );
    const bodies = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        await delay(index * 600);
        return service.pull(REPORT, question);
      }),
    );
    await writer;
    expect(bodies.filter((body) => !possible.has(body))).toEqual([]);
    expect(service.stack.faults.current()[0]?.matched).toBeLessThanOrEqual(3);
  });
});
