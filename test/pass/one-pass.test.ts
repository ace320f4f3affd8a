/**
 * Tests the whole service over HTTP, once: every route, every status except those that only AWS gives (403, 504), and
 * every way through delivery. All further cases are in `npm run test:e2e` and in the tests of the parts.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ENV } from '../../lib/names.ts';
import { PUBLIC_FUNCTION, routes } from '../../lib/routes.ts';
import { askService } from '../../tools/rollback/ask-service.ts';
import { type EventRow, expectedReport, type Question } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { queryOf, type Service, startService } from '../e2e/service.ts';

/** The functions' query wait: long enough for a first request on a busy machine. Slow queries take longer. */
const WAIT_MS = 2_500;
const SLOW_MS = 3_500;
const events = knownEvents(7, 300);
const january: Question = {
  fields: ['Day', 'Clicks'],
  start: '2026-01-01T00:00:00Z',
  end: '2026-02-01T00:00:00Z',
};

let service: Service;

beforeAll(async () => {
  service = await startService(events, { functionEnv: { [ENV.queryWaitMs]: String(WAIT_MS) } });
});
beforeEach(() => service.stack.faults.set([]));
afterAll(() => service.close());

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** The number of redirects to a waiting URL. */
  readonly hops: number;
}

/** Sends a request, and follows redirects like a client. */
async function get(
  path: string,
  headers: Record<string, string> = {},
  { apiUrl } = service.stack,
): Promise<Answer> {
  let url = apiUrl + path;
  for (let hops = -1; ; ) {
    const isOurs = url.startsWith(apiUrl);
    const response = await fetch(url, { headers: isOurs ? headers : {}, redirect: 'manual' });
    if (isOurs) hops += 1;
    const location = response.headers.get('location');
    if (!location)
      return { status: response.status, headers: response.headers, body: await response.text(), hops };
    url = new URL(location, url).href;
  }
}

const mine = (token = service.token) => ({ Authorization: `Bearer ${token}`, 'Accept-Encoding': 'identity' });
const report = (question: Question, headers = mine(), name = 'publisherperformance') =>
  get(`/reporting/${name}?${queryOf(question)}`, headers);
const expected = (question: Question, rows: readonly EventRow[] = events.publisher_events) =>
  expectedReport('publisherperformance', [...rows], question);
const slugOf = ({ body }: Answer) => JSON.parse(body).type.split(':').at(-1);

it('the service gives both reports exactly, plain and gzipped, and a second time without a query', async () => {
  const wide: Question = {
    ...january,
    fields: ['DateTime', 'PlacementId', 'DeviceOrProxy', 'ServedAds', 'Opens', 'Clicks', 'Revenue'],
  };
  service.stack.faults.set([{ on: 'athena', match: 'StartQueryExecution' }]);
  for (const _time of ['first', 'again']) expect((await report(wide)).body).toBe(expected(wide));
  const gzipped = await fetch(`${service.stack.apiUrl}/reporting/publisherperformance?${queryOf(wide)}`, {
    headers: { Authorization: `Bearer ${service.token}`, 'Accept-Encoding': 'gzip' },
    redirect: 'manual',
  });
  const location = new URL(gzipped.headers.get('location') ?? '');
  expect(location.pathname).toMatch(/\.csv\.gz$/);
  const stored = await fetch(location, { headers: { 'Accept-Encoding': 'identity' } });
  expect(stored.headers.get('content-encoding')).toBe('gzip');
  expect(await stored.text()).toBe(expected(wide));
  expect(service.stack.faults.current()[0]?.matched).toBe(1);
  const spend: Question = { ...january, fields: ['CampaignId', 'Impressions', 'Spend'] };
  const advertiser = await report(spend, mine(), 'advertiserperformance');
  expect(advertiser.body).toBe(expectedReport('advertiserperformance', events.advertiser_events, spend));
});

it('the service gives two partners their own rows of one report, and answers 401 to an unknown client', async () => {
  const tokenOf = (client_id: string) =>
    service.stack.identityProvider.signToken({ scope: service.stack.scope, client_id });
  for (const company of [1000n, 1001n]) {
    await service.stack.register(`partner-${company}`, {
      form: 1,
      client: `partner-${company}`,
      name: `partner-${company}`,
      contact: 'reports@partner.example',
      since: '2026-01-01T00:00:00Z',
      active: true,
      publisherCompanies: [`${company}`],
      advertiserCompanies: [],
    });
    const rows = events.publisher_events.filter((row) => row['publisher_company_id'] === company);
    const answer = await report(january, mine(await tokenOf(`partner-${company}`)));
    expect(answer.body).toBe(expected(january, rows));
    expect(rows.length).toBeGreaterThan(0);
  }
  const unknown = mine(await tokenOf('nobody-knows'));
  expect((await report(january, unknown)).status).toBe(401);
  expect((await get(`/reporting/publisherperformance?${queryOf(january)}`)).status).toBe(401);
});

it('the service leads all callers of a slow query through waiting URLs to one report', async () => {
  const slow = { ...january, end: '2026-01-21T00:00:00Z' };
  service.stack.faults.set([
    { on: 'query', delayMs: SLOW_MS },
    { on: 'query', match: 'SELECT' },
  ]);
  const callers = await Promise.all(Array.from({ length: 5 }, () => report(slow)));
  expect(new Set(callers.map(({ body }) => body))).toEqual(new Set([expected(slow)]));
  expect(Math.min(...callers.map(({ hops }) => hops))).toBeGreaterThanOrEqual(1);
  expect(service.stack.faults.current()[1]?.matched).toBe(1);
});

it('the service publishes a large result with a separate function', async () => {
  const large = { ...january, end: '2026-01-22T00:00:00Z' };
  service.stack.faults.set([{ on: 'query', resultBytes: 20_000_000 }]);
  const { body } = await report(large);
  const [header = '', rows = ''] = expected(large).split(/(?<=^[^\n]*\n)/);
  expect(body.length).toBeGreaterThan(10_000_000);
  expect(body).toBe(header + rows.repeat((body.length - header.length) / rows.length));
});

it('the service gives the states of days, for both reports', async () => {
  const window = 'startInclusive=2026-01-01T00:00:00Z&endExclusive=2026-01-04T00:00:00Z&api-version=1.0';
  await writeFile(join(service.eventsDirectory, 'publisher_events/day=2026-01-01/_SUCCESS'), '');
  for (const name of ['publisherperformance', 'advertiserperformance']) {
    const { status, body } = await get(`/reporting/${name}/days?${window}`, mine());
    expect([status, JSON.parse(body).days.length]).toEqual([200, 3]);
  }
  expect((await get('/reporting/publisherperformance/days', mine())).status).toBe(400);
  expect((await get(`/reporting/publisherperformance/days?${window}`)).status).toBe(401);
});

it('the service gives every caller the OpenAPI document, the catalogue and the page', async () => {
  expect(JSON.parse((await get('/openapi.json')).body).openapi).toMatch(/^3\./);
  expect(JSON.parse((await get('/reporting/fields')).body).reports).toHaveLength(2);
  const page = await fetch(service.gatewayUrl);
  const script = /src="([^"]+)"/.exec(await page.text())?.[1] ?? '';
  expect((await fetch(service.gatewayUrl + script)).status).toBe(200);
});

it('the service says what is wrong with a request', async () => {
  const unknown = await report({ ...january, fields: ['Day', 'Click'] });
  expect([unknown.status, slugOf(unknown)]).toEqual([400, 'invalid-request']);
  expect(unknown.body).toContain('Did you mean \\"Clicks\\"?');
  const large = await get(`/reporting/publisherperformance?a=${'x'.repeat(11_000)}`, mine());
  expect(large.status).toBe(413);
  const gone = await get(`/reporting/downloads/${'A'.repeat(43)}/1`);
  expect([gone.status, slugOf(gone)]).toEqual([404, 'no-such-download']);
  expect((await get('/reporting/nothing', mine())).status).toBe(404);
});

it('the service has different statuses for a failed query, an exceeded scan limit and a throttled S3', async () => {
  const until = (hour: number) => ({ ...january, end: `2026-01-23T${String(hour).padStart(2, '0')}:00:00Z` });
  service.stack.faults.set([{ on: 'query', fail: 'retryable', times: 1 }]);
  expect((await report(until(1))).body).toBe(expected(until(1)));
  service.stack.faults.set([{ on: 'query', delayMs: SLOW_MS, fail: 'final' }]);
  const failed = await report(until(2));
  expect([failed.status, slugOf(failed), failed.hops > 0]).toEqual([500, 'internal-error', true]);
  service.stack.faults.set([{ on: 'query', fail: 'cut-off' }]);
  const cutOff = await report(until(3));
  expect([cutOff.status, slugOf(cutOff)]).toEqual([400, 'report-too-large']);
  service.stack.faults.set([{ on: 's3', throttle: true }]);
  const throttled = await report(until(4));
  expect([throttled.status, throttled.headers.get('retry-after')]).toEqual([503, '30']);
});

it('the service answers requests above its rate with 429', async () => {
  const busy = await startService(events, { throttling: { perSecond: 0.001, burst: 1 } });
  try {
    const both = [await get('/openapi.json', {}, busy.stack), await get('/openapi.json', {}, busy.stack)];
    expect(both.map(({ status }) => status)).toEqual([200, 429]);
  } finally {
    await busy.close();
  }
});

it('the service answers 502 if the function dies during the request', async () => {
  // This service has the default wait of 8 s, so the request still waits for its query when its function is killed.
  const dying = await startService(events);
  try {
    dying.stack.faults.set([{ on: 'query', delayMs: 5_000 }]);
    const response = get(
      `/reporting/publisherperformance?${queryOf(january)}`,
      mine(dying.token),
      dying.stack,
    );
    await expect.poll(() => dying.stack.faults.current()[0]?.matched, { timeout: 60_000 }).toBe(1);
    await dying.stack.sandboxes.get('publisherperformance')?.kill();
    expect((await response).status).toBe(502);
  } finally {
    await dying.close();
  }
});

it('the service names its release at every path, without a token, so that a rollback can ask for it', async () => {
  const functions = [...routes.map(({ functionName }) => functionName), PUBLIC_FUNCTION];
  const release = service.stack.environment[ENV.commit] ?? 'unknown';
  const until = Date.now() + 10_000;
  const waits = { pause: async () => {}, mayWait: () => Date.now() < until };
  expect(await askService(service.gatewayUrl, release, functions, waits)).toEqual({
    others: [],
    unheard: [],
  });
});
