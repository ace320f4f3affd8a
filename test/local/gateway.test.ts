import { type IncomingMessage, request as send } from 'node:http';
import { text } from 'node:stream/consumers';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startGateway } from '../../local/gateway/gateway.ts';
import type { CallRate } from '../../local/token-bucket.ts';

/** Starts a gateway in front of one function. The function records its events and gives the test's answer. */
async function start(
  answer: object = { statusCode: 200, body: '' },
  throttling?: CallRate,
  isForPages = false,
) {
  const events: APIGatewayProxyEvent[] = [];
  const invoke = async (event: unknown) => {
    events.push(event as APIGatewayProxyEvent);
    return answer;
  };
  const routes = [
    { methods: ['GET'], path: '/report', sandbox: { invoke, kill: async () => {}, utilization: () => 0 } },
  ];
  const gateway = await startGateway(routes, 0, { throttling, isForPages });
  onTestFinished(() => gateway.close());
  /** Sends a request with this URL, and with header names in this case. (`fetch` would change both.) */
  const get = async (path: string, headers: Record<string, string | string[]> = {}) => {
    const { port } = new URL(gateway.url);
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      send({ host: '127.0.0.1', port, path, headers }, resolve).on('error', reject).end();
    });
    return { status: response.statusCode, headers: response.headers, body: await text(response) };
  };
  return { events, get };
}

describe('a function behind the gateway', () => {
  it('gets header names in the caller’s case, and each value of a repeated header', async () => {
    const { events, get } = await start();
    await get('/report', { 'X-Custom-NAME': 'one', aCCept: ['text/csv', 'text/*'] });
    const [event] = events;
    expect(event?.multiValueHeaders).toMatchObject({
      'X-Custom-NAME': ['one'],
      aCCept: ['text/csv', 'text/*'],
    });
    expect(event?.headers).toMatchObject({ 'X-Custom-NAME': 'one', aCCept: 'text/*' });
    expect(event?.headers).not.toHaveProperty('x-custom-name');
  });

  it('gets the gateway’s scheme and port, whatever the caller’s headers say', async () => {
    const { events, get } = await start();
    await get('/report', { 'x-forwarded-PROTO': 'https', 'X-Forwarded-Port': '443' });
    const { multiValueHeaders = {} } = events[0] ?? {};
    const forwarded = Object.entries(multiValueHeaders).filter(([name]) => /^x-forwarded/i.test(name));
    expect(forwarded).toEqual([
      ['X-Forwarded-Proto', ['http']],
      ['X-Forwarded-Port', [expect.not.stringMatching(/^443$/)]],
    ]);
  });

  it.each([
    ['a=1;b=2&c=3', { a: ['1'], b: ['2'], c: ['3'] }],
    ['a=1%3B2', { a: ['1;2'] }],
    ['a=%7C%7B%7D', { a: ['|{}'] }],
    ['filter[A]=1&filter%5BA%5D=2', { 'filter[A]': ['1', '2'] }],
    ['a=b+c%20d', { a: ['b c d'] }],
    ['a=1#b=2', { a: ['1'] }],
    ['', null],
  ])('gets the same parameters as from API Gateway for the query %s', async (query, expected) => {
    const { events, get } = await start();
    await get(`/report?${query}`);
    expect(events[0]).toMatchObject({ path: '/report', multiValueQueryStringParameters: expected });
  });

  it.each(['a|b', '{a', 'a}'])('is not called if the query has a raw %s', async (value) => {
    const { events, get } = await start();
    expect(await get(`/report?x=${value}`)).toMatchObject({ status: 400, body: '' });
    expect(events).toEqual([]);
  });
});

it('the gateway answers requests above the rate with 429 and Retry-After, until the rate allows more', async () => {
  vi.spyOn(performance, 'now').mockReturnValue(0);
  onTestFinished(() => void vi.restoreAllMocks());
  const { events, get } = await start(undefined, { perSecond: 2, burst: 3 });
  const statuses = async (count: number) =>
    (await Promise.all(Array.from({ length: count }, () => get('/report'))))
      .map(({ status }) => status)
      .sort();
  expect(await statuses(5)).toEqual([200, 200, 200, 429, 429]);
  expect(events).toHaveLength(3);
  const { headers, body } = await get('/report');
  expect(headers).toMatchObject({
    'retry-after': '5',
    'content-type': 'application/problem+json',
    'x-content-type-options': 'nosniff',
    'strict-transport-security': 'max-age=31536000',
  });
  expect(JSON.parse(body)).toMatchObject({ status: 429, title: 'Too many requests' });
  vi.spyOn(performance, 'now').mockReturnValue(1_000);
  expect(await statuses(3)).toEqual([200, 200, 429]);
});

it.each([true, false])('pages of any origin may read the gateway’s own answers: %s', async (isForPages) => {
  const { get } = await start(undefined, undefined, isForPages);
  const { status, headers } = await get('/nothing');
  expect([status, headers['access-control-allow-origin']]).toEqual([404, isForPages ? '*' : undefined]);
});

describe('a request that needs admission', () => {
  it('gets a 503 with Retry-After if it is not admitted, and never reaches its function', async () => {
    const invoke = vi.fn(async () => ({ statusCode: 200, body: '' }));
    const sandbox = { invoke, kill: async () => {}, utilization: () => 0 };
    const gateway = await startGateway(
      [
        { methods: ['GET'], path: '/report', sandbox, purpose: 'new' },
        { methods: ['GET'], path: '/fields', sandbox },
      ],
      0,
      { admission: { enter: async () => ({ retryAfterSeconds: 3 }), close: () => {} } },
    );
    onTestFinished(() => gateway.close());
    const response = await fetch(`${gateway.url}/report`);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '3']);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({
      type: 'urn:problem-type:performance-reports:unavailable',
      status: 503,
    });
    expect(invoke).not.toHaveBeenCalled();
    expect((await fetch(`${gateway.url}/fields`)).status).toBe(200);
  });

  it('has the time of its arrival at the gateway, not of its admission', async () => {
    const times: { readonly came: number; readonly admitted: number }[] = [];
    let admitted = 0;
    const invoke = async (event: unknown) => {
      times.push({ came: (event as APIGatewayProxyEvent).requestContext.requestTimeEpoch, admitted });
      return { statusCode: 200, body: '' };
    };
    const enter = async () => {
      const entered = Date.now();
      await vi.waitUntil(() => Date.now() > entered, { timeout: 60_000 });
      admitted = Date.now();
      return undefined;
    };
    const sandbox = { invoke, kill: async () => {}, utilization: () => 0 };
    const routes = [{ methods: ['GET'], path: '/report', sandbox, purpose: 'new' as const }];
    const gateway = await startGateway(routes, 0, { admission: { enter, close: () => {} } });
    onTestFinished(() => gateway.close());
    const began = Date.now();
    await fetch(`${gateway.url}/report`);
    const [{ came, admitted: since } = { came: 0, admitted: 0 }] = times;
    expect(came).toBeGreaterThanOrEqual(began);
    expect(came).toBeLessThan(since);
  });
});
