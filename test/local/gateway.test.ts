import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startGateway } from '../../local/gateway/gateway.ts';
import { rawRequest } from '../raw-request.ts';

/** Starts a gateway in front of one function. The function records its events. Only `/report` needs admission. */
async function start(options: Parameters<typeof startGateway>[2] = {}) {
  const events: APIGatewayProxyEvent[] = [];
  const invoke = async (event: unknown) => {
    events.push(event as APIGatewayProxyEvent);
    return { statusCode: 200, body: '' };
  };
  const route = { methods: ['GET'], sandbox: { invoke, kill: async () => {}, utilization: () => 0 } };
  const routes = [
    { ...route, path: '/report', purpose: 'new' as const },
    { ...route, path: '/fields' },
  ];
  const gateway = await startGateway(routes, 0, options);
  onTestFinished(() => gateway.close());
  const get = (path: string, headers: Record<string, string | string[]> = {}) =>
    rawRequest(gateway.url, path, headers);
  return { events, get };
}

describe('a function behind the gateway', () => {
  it('gets header names in the caller’s case, and each value of a repeated header', async () => {
    const { events, get } = await start();
    await get('/report', { 'X-Custom-NAME': 'one', aCCept: ['text/csv', 'text/*'] });
    const [event] = events;
    expect(event).toMatchObject({
      multiValueHeaders: { 'X-Custom-NAME': ['one'], aCCept: ['text/csv', 'text/*'] },
      headers: { 'X-Custom-NAME': 'one', aCCept: 'text/*' },
    });
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

it.each([true, false])('pages of any origin may read the gateway’s own answers: %s', async (isForPages) => {
  const { get } = await start({ isForPages });
  const { status, headers } = await get('/nothing');
  expect([status, headers['access-control-allow-origin']]).toEqual([404, isForPages ? '*' : undefined]);
});

it('the gateway admits the burst that is set, and then as many requests as the rate gives with time', async () => {
  let nowMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  onTestFinished(() => clock.mockRestore());
  const { events, get } = await start({ throttling: { perSecond: 2, burst: 3 } });
  const admitted: number[] = [];
  for (const passedMs of [0, 250, 250, 1_000, 3_600_000]) {
    nowMs += passedMs;
    for (let request = 0; request < 5; request++) await get('/fields');
    admitted.push(events.splice(0).length);
  }
  expect(admitted).toEqual([3, 0, 1, 2, 3]);
});

describe('a request that needs admission', () => {
  it('gets a 503 with Retry-After if it is not admitted, and never reaches its function', async () => {
    const admission = { enter: async () => ({ retryAfterSeconds: 3 }), close: () => {} };
    const { events, get } = await start({ admission });
    const { status, headers, body } = await get('/report');
    const [after, type] = [headers['retry-after'], headers['content-type']];
    expect([status, after, type]).toEqual([503, '3', 'application/problem+json']);
    const problem = { type: 'urn:problem-type:performance-reports:unavailable', status: 503 };
    expect(JSON.parse(body)).toMatchObject(problem);
    expect(events).toEqual([]);
    expect((await get('/fields')).status).toBe(200);
  });

  it('has the time of its arrival at the gateway, not of its admission', async () => {
    let admitted = 0;
    const enter = async () => {
      const entered = Date.now();
      await vi.waitUntil(() => Date.now() > entered, { timeout: 60_000 });
      admitted = Date.now();
      return undefined;
    };
    const began = Date.now();
    const { events, get } = await start({ admission: { enter, close: () => {} } });
    await get('/report');
    const came = events[0]?.requestContext.requestTimeEpoch;
    expect(came).toBeGreaterThanOrEqual(began);
    expect(came).toBeLessThan(admitted);
  });
});
