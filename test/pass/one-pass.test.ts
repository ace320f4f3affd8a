import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { PUBLIC_FUNCTION, routes } from '../../lib/routes.ts';
import { askService } from '../../tools/rollback/ask-service.ts';
import { type SmokeParts, smokeSteps } from '../../tools/smoke.ts';
import { expectedReport, type Question } from '../e2e/expected-report.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { ownService, queryOf, startService } from '../e2e/service.ts';

/** The functions' query wait: long enough for a first request on a busy machine. Slow queries take longer. */
const WAIT_MS = 2_500;
const SLOW_MS = 3_500;
const events = knownEvents(7, 300);
const window = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
const january: Question = { fields: ['Day', 'Clicks'], ...window };

const service = await ownService(events, { functionEnv: { QUERY_WAIT_MS: String(WAIT_MS) } });
beforeEach(() => service.stack.faults.set([]));

/** Sends a request, and follows redirects like a client; `hops` counts those to a waiting URL. */
async function get(path: string, headers: Record<string, string> = {}) {
  const { apiUrl } = service.stack;
  let url = apiUrl + path;
  for (let hops = -1; ; ) {
    const isOurs = url.startsWith(apiUrl);
    const response = await fetch(url, { headers: isOurs ? headers : {}, redirect: 'manual' });
    if (isOurs) hops += 1;
    const location = response.headers.get('location');
    if (!location) return { status: response.status, body: await response.text(), hops };
    url = new URL(location, url).href;
  }
}

const mine = { Authorization: `Bearer ${service.token}`, 'Accept-Encoding': 'identity' };
const report = (question: Question, headers = mine, name = 'publisherperformance') =>
  get(`/reporting/${name}?${queryOf(question)}`, headers);
const expected = (question: Question) =>
  expectedReport('publisherperformance', events.publisher_events, question);
const slugOf = ({ body }: { body: string }) => JSON.parse(body).type.split(':').at(-1);

it('the service gives both reports exactly, plain and gzipped, and a second time without a query', async () => {
  const wide: Question = {
    ...january,
    fields: ['DateTime', 'PlacementId', 'DeviceOrProxy', 'ServedAds', 'Opens', 'Clicks', 'Revenue'],
  };
  service.stack.faults.set([{ on: 'athena', match: 'StartQueryExecution' }]);
  for (const _time of ['first', 'again']) expect((await report(wide)).body).toBe(expected(wide));
  const gzipped = await fetch(`${service.stack.apiUrl}/reporting/publisherperformance?${queryOf(wide)}`, {
    headers: { ...mine, 'Accept-Encoding': 'gzip' },
    redirect: 'manual',
  });
  const location = new URL(gzipped.headers.get('location') ?? '');
  expect(location.pathname).toMatch(/\.csv\.gz$/);
  const stored = await fetch(location, { headers: { 'Accept-Encoding': 'identity' } });
  expect(stored.headers.get('content-encoding')).toBe('gzip');
  expect(await stored.text()).toBe(expected(wide));
  expect(service.stack.faults.current()[0]?.matched).toBe(1);
  const spend: Question = { ...january, fields: ['CampaignId', 'Impressions', 'Spend'] };
  const advertiser = await report(spend, mine, 'advertiserperformance');
  expect(advertiser.body).toBe(expectedReport('advertiserperformance', events.advertiser_events, spend));
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

it('the service says what is wrong with a request', async () => {
  const unknown = await report({ ...january, fields: ['Day', 'Click'] });
  expect([unknown.status, slugOf(unknown)]).toEqual([400, 'invalid-request']);
  const large = await get(`/reporting/publisherperformance?a=${'x'.repeat(11_000)}`, mine);
  expect(large.status).toBe(413);
  const gone = await get(`/reporting/downloads/${'A'.repeat(43)}/1`);
  expect([gone.status, slugOf(gone)]).toEqual([404, 'no-such-download']);
  expect((await get('/reporting/nothing', mine)).status).toBe(404);
  service.stack.faults.set([{ on: 'query', fail: 'cut-off' }]);
  const cutOff = await report({ ...january, end: '2026-01-23T00:00:00Z' });
  expect([cutOff.status, slugOf(cutOff)]).toEqual([400, 'report-too-large']);
});

describe('the steps of npm run smoke', () => {
  /** What became of each step: the text that the operator reads, or the fault. */
  async function outcomes(changes: Partial<SmokeParts> = {}): Promise<Readonly<Record<string, string>>> {
    const { clientId, clientSecret, tokenUrl, scope } = service.stack;
    const steps = smokeSteps({
      scope: scope as SmokeParts['scope'],
      serviceUrl: service.gatewayUrl,
      tokenUrl,
      clientSecretId: '',
      readSecret: async () => JSON.stringify({ clientId, clientSecret }),
      ...changes,
    });
    const seen: Record<string, string> = {};
    for (const [what, act] of steps) seen[what] = await act().catch(({ message }) => `FAILS ${message}`);
    return seen;
  }

  it('succeed on a service that delivers, and its report is made by a new query each time', async () => {
    service.stack.faults.set([{ on: 'athena', match: 'StartQueryExecution' }]);
    const started = () => service.stack.faults.current()[0]?.matched ?? Number.NaN;
    const delivered = 'given, delivered, rows: 0, 200, 404, 200, 401, 303, 303, 303, 303';
    expect(Object.values(await outcomes()).join(', ')).toBe(delivered);
    const before = started();
    expect(Object.values(await outcomes()).join(', ')).toBe(delivered);
    expect(started()).toBe(before + 1);
  });

  it('say each by itself what is wrong, and quote no secret', async () => {
    const readSecret = async () => JSON.stringify({ clientId: 'nobody', clientSecret: 'hush' });
    const seen = await outcomes({ readSecret });
    expect(seen).toMatchObject({
      'a token': 'FAILS The identity provider answers 401',
      'the days of the report': 'FAILS The identity provider answers 401',
      'the waiting room': '404',
      'a report without a token': '401',
    });
    expect(JSON.stringify(seen)).not.toContain('hush');
    service.stack.faults.set([{ on: 'query', fail: 'final' }]);
    expect(await outcomes()).toMatchObject({
      'a report of yesterday, by a new query': "FAILS The report's request ends with 500",
      'the days of the report': '200',
    });
  });
});

it('the service answers requests above its rate with 429', async () => {
  const busy = await startService(events, { throttling: { perSecond: 0.001, burst: 1 } });
  onTestFinished(() => busy.close());
  const accepted = await fetch(`${busy.stack.apiUrl}/openapi.json`);
  expect(await accepted.text()).toContain('accepts 0.001 requests a second for each report');
  const { status, headers } = await fetch(`${busy.stack.apiUrl}/openapi.json`);
  const values = ['retry-after', 'content-type', 'x-content-type-options'].map((name) => headers.get(name));
  expect([status, ...values]).toEqual([429, '5', 'application/problem+json', 'nosniff']);
});

it('the service names its release at every path, without a token, so that a rollback can ask for it', async () => {
  const functions = [...routes.map(({ functionName }) => functionName), PUBLIC_FUNCTION];
  const release = service.stack.environment['COMMIT'] ?? 'unknown';
  const until = Date.now() + 10_000;
  const waits = { pause: async () => {}, mayWait: () => Date.now() < until };
  const heard = await askService(service.gatewayUrl, release, functions, waits);
  expect(heard).toEqual({ others: [], unheard: [] });
});
