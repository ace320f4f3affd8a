import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { currentLane } from '../deployed/lane.ts';
import { rawRequest } from '../raw-request.ts';
import { expectedReport, type Question } from './expected-report.ts';
import { freshQuestions } from './fresh-questions.ts';
import { knownEvents } from './known-events.ts';
import { ownService, queryOf } from './service.ts';

const events = knownEvents(11, 200);
const freshQuestion = freshQuestions();
const expected = (question: Question) =>
  expectedReport('publisherperformance', events.publisher_events, question);

const functionEnv = { QUERY_WAIT_MS: '400' };
const service = await ownService(events, { functionEnv, asyncRetryPausesMs: [100, 100] });
beforeEach(() => service.stack.faults.set([]));

const ask = (question: Question) => service.request('publisherperformance', queryOf(question));

/**
 * Follows redirects like a client. On the slow emulator of the deployed tests, a request may run out of time and get a
 * 503: then `follow` requests the report again, as the guide says.
 */
async function follow(question: Question) {
  let response = await ask(question);
  for (;;) {
    const location = response.headers.get('location');
    if (response.status === 503 && currentLane()) {
      await delay(1_000);
      response = await ask(question);
    } else if (location === null) return response.text();
    else response = await fetch(new URL(location, service.stack.apiUrl), { redirect: 'manual' });
  }
}

describe('a query that takes longer than one request waits', () => {
  it('leads to a 400 from S3 if the client keeps Authorization', async () => {
    service.stack.faults.set([{ on: 'query', delayMs: 1_000 }]);
    const headers = { Authorization: `Bearer ${service.token}` };
    const get = (url: string) => rawRequest(url, url.slice(new URL(url).origin.length), headers);
    let url = `${service.stack.apiUrl}/reporting/publisherperformance?${queryOf(freshQuestion())}`;
    let answer = await get(url);
    for (; answer.headers.location; answer = await get(url)) url = new URL(answer.headers.location, url).href;
    expect(url.startsWith(service.stack.storageUrl)).toBe(true);
    expect(answer).toMatchObject({ status: 400, body: expect.stringContaining('Only one auth mechanism') });
    // The guide tells this client to fetch the Location without the Authorization header.
    expect((await fetch(url)).status).toBe(200);
  });

  const elsewhere = ['A'.repeat(43), '..%2Freports'].map((ticket) => `/reporting/downloads/${ticket}/1`);
  it.each(elsewhere)('has no report at %s, no query’s waiting URL: the answer is 404', async (path) => {
    const response = await fetch(service.stack.apiUrl + path);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      type: 'urn:problem-type:performance-reports:no-such-download',
      detail: 'There is no such download, or it has expired. Request the report again.',
    });
  });
});

describe('identical requests', () => {
  it('share one query while it runs, and their answers say so in Cache-Status', async () => {
    service.stack.faults.set([{ on: 'query', delayMs: 300 }]);
    const question = freshQuestion();
    const statuses = await Promise.all(
      Array.from({ length: 10 }, async () => (await ask(question)).headers.get('cache-status')),
    );
    expect(statuses.filter((status) => status === 'PerformanceReports; fwd=miss')).toHaveLength(1);
    expect(statuses.filter((status) => status === 'PerformanceReports; fwd=miss; collapsed')).toHaveLength(9);
  });
});

it('throttling of every call of S3 leads to a 503 with Retry-After', async () => {
  service.stack.faults.set([{ on: 's3', throttle: true }]);
  const { status, headers } = await ask(freshQuestion());
  expect([status, headers.get('retry-after')]).toEqual([503, '30']);
});

it('a result too large to publish while the caller waits is delivered even when the process that publishes it is killed', async () => {
  service.stack.faults.set([
    { on: 'query', resultBytes: 40_000_000 },
    { on: 's3', match: 'PUT reports/', delayMs: 300 },
  ]);
  const question = freshQuestion();
  const following = follow(question);
  const uploading = () => service.stack.faults.current()[1]?.matched ?? 0;
  await expect.poll(uploading).toBeGreaterThan(0);
  await service.stack.sandboxes.get('publish')?.kill();
  const body = await following;
  const rowsOf = (csv: string) => csv.slice(csv.indexOf('\n') + 1);
  expect(rowsOf(body).length % rowsOf(expected(question)).length).toBe(0);
  expect(body.length).toBeGreaterThan(20_000_000);
});
