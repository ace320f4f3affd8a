import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { DOWNLOADS_EDGE, EDGE_CACHE_CONTROL, type EdgeSettings } from '../../lib/downloads-edge.ts';
import { startDownloadsEdge } from '../../local/downloads-edge/downloads-edge.ts';
import { serve } from '../../local/serve.ts';

interface Scripted {
  readonly status?: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

/** Gives the bucket's answer to a request. Each test sets it, and may delay the answer. */
let answer: (asked: IncomingMessage) => Scripted | Promise<Scripted>;
let asked: IncomingMessage[];
beforeEach(() => {
  asked = [];
});
const { url: origin, close } = await serve(async (incoming, response) => {
  asked.push(incoming);
  const { status = 200, headers, body = '' } = await answer(incoming);
  response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers });
  response.end(incoming.method === 'HEAD' ? undefined : body);
});
afterAll(close);

/** Requests a URL of an edge. Resolves to the answer, without decompressing the body. */
async function get(url: string, headers: OutgoingHttpHeaders = {}, method = 'GET') {
  const outgoing = request(url, { headers, method, agent: false }).end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const body = (await buffer(response)).toString();
  return { status: response.statusCode, headers: response.headers, body };
}

const statusOf = async (...parameters: Parameters<typeof get>) => (await get(...parameters)).status;

/** Resolves once the origin has received `count` requests. */
const reached = (count: number) => vi.waitFor(() => expect(asked).toHaveLength(count), { timeout: 60_000 });

const FILE = 'Day,Clicks\n"2026-01-01T00:00:00Z",1\n';
/** S3's answer to a link of the service. */
const file: Scripted = { headers: { 'cache-control': EDGE_CACHE_CONTROL, etag: '"1"' }, body: FILE };
const expired: Scripted = { status: 403, body: '<Code>AccessDenied</Code>' };

interface Case {
  /** The value of a setting that is not ours. */
  readonly changed: Partial<EdgeSettings>;
  readonly act: (edge: string) => Promise<unknown>;
  /** To what `act` resolves with our settings, and with the changed one. */
  readonly ours: unknown;
  readonly other: unknown;
}

const { key, ttlSeconds } = DOWNLOADS_EDGE;

/** The statuses of two requests of one link, if the bucket's answer changes between them. */
const inTurn =
  (first: Scripted, then: Scripted, laterMs = 0) =>
  async (edge: string) => {
    answer = () => first;
    const status = await statusOf(`${edge}/r.csv?a`);
    answer = () => then;
    vi.useFakeTimers({ now: Date.now() + laterMs, toFake: ['Date'] });
    return [status, await statusOf(`${edge}/r.csv?a`).finally(() => vi.useRealTimers())];
  };

const CASES: Readonly<Record<string, Case>> = {
  'a good link does not get the answer to an expired link of the same file': {
    changed: { key: { ...key, query: 'none' } },
    async act(edge) {
      const { promise, resolve } = Promise.withResolvers<Scripted>();
      answer = ({ url }) => (url === '/r.csv?expired' ? promise : file);
      const late = statusOf(`${edge}/r.csv?expired`);
      await reached(1);
      const good = statusOf(`${edge}/r.csv?good`);
      // The answer to a third request shows that the edge already has the second request.
      await statusOf(`${edge}/other.csv?good`);
      resolve(expired);
      return Promise.all([late, good]);
    },
    ours: [403, 200],
    other: [403, 403],
  },
  'a link that has expired gives no file, although it gave the file before': {
    changed: { ttlSeconds: { ...ttlSeconds, minimum: 3_600 } },
    act: inTurn(file, expired),
    ours: [200, 403],
    other: [200, 200],
  },
  'an answer without Cache-Control is not cached': {
    changed: { ttlSeconds: { ...ttlSeconds, default: 3_600 } },
    act: inTurn({ body: FILE }, expired),
    ours: [200, 403],
    other: [200, 200],
  },
  'an answer is no longer cached after two seconds, although its max-age is a day': {
    changed: { ttlSeconds: { ...ttlSeconds, maximum: 3_600 } },
    act: inTurn({ headers: { 'cache-control': 'max-age=86400' }, body: FILE }, expired, 2_000),
    ours: [200, 403],
    other: [200, 200],
  },
  'no error is cached: the next request reaches S3': {
    changed: { errorTtlSeconds: 3_600 },
    act: inTurn({ status: 503, body: '<Code>SlowDown</Code>' }, file),
    ours: [503, 200],
    other: [503, 503],
  },
  'a page of another origin may read the file': {
    changed: { key: { ...key, headers: [] } },
    async act(edge) {
      answer = ({ headers }) => ({
        ...file,
        headers: headers.origin === undefined ? {} : { 'access-control-allow-origin': '*' },
      });
      const { headers } = await get(`${edge}/r.csv?a`, { origin: 'null' });
      return headers['access-control-allow-origin'];
    },
    ours: '*',
    other: undefined,
  },
  'a page’s preflight reaches S3 with its headers': {
    changed: { methods: ['GET', 'HEAD'] },
    async act(edge) {
      const preflight = {
        origin: 'https://page.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'range',
      };
      answer = ({ method, headers }) => {
        const isWhole = Object.entries(preflight).every(([name, value]) => headers[name] === value);
        return { status: method === 'OPTIONS' && isWhole ? 200 : 403 };
      };
      return statusOf(`${edge}/r.csv?a`, preflight, 'OPTIONS');
    },
    ours: 200,
    other: 403,
  },
  'the token does not reach S3': {
    changed: { key: { ...key, headers: [...key.headers, 'Authorization'] } },
    async act(edge) {
      answer = ({ headers }) => (headers.authorization === undefined ? file : { status: 400 });
      return statusOf(`${edge}/r.csv?a`, { authorization: 'Bearer token', cookie: 'a=b' });
    },
    ours: 200,
    other: 400,
  },
  'the edge gives S3’s bytes and ETag, and does not compress them': {
    changed: { compresses: true },
    async act(edge) {
      answer = () => ({ headers: { etag: '"1"' }, body: 'a'.repeat(2_000) });
      const { headers } = await get(`${edge}/r.csv?a`, { 'accept-encoding': 'gzip' });
      return [headers.etag, headers['content-length'], headers['content-encoding']];
    },
    ours: ['"1"', '2000', undefined],
    other: ['W/"1"', undefined, 'gzip'],
  },
};

describe.each(Object.entries(CASES))('%s', (_, { changed, act, ours, other }) => {
  it.each([
    ['is true with our settings', {}, ours],
    ['is false if the tested setting is changed', changed, other],
  ])('%s', async (_, settings, expected) => {
    const edge = await startDownloadsEdge(origin, { ...DOWNLOADS_EDGE, ...settings });
    expect(await act(edge.url).finally(() => edge.close())).toEqual(expected);
  });
});

describe('the stand-in of CloudFront, with our settings', () => {
  let edge: Awaited<ReturnType<typeof startDownloadsEdge>>;
  beforeEach(async () => {
    edge = await startDownloadsEdge(origin);
    return () => edge.close();
  });

  it('sends the same path and query to the bucket, with the bucket’s host as Host header', async () => {
    answer = () => file;
    const path = '/results/reports/a%20b/report.csv?X-Amz-Expires=300&response-cache-control=no-store&x=%2F+';
    expect((await get(`${edge.url}${path}`)).body).toBe(FILE);
    expect([asked[0]?.url, asked[0]?.headers.host]).toEqual([path, new URL(origin).host]);
  });

  it('passes on the range and the conditions of a request', async () => {
    answer = () => ({ status: 206 });
    const headers = { range: 'bytes=2-3', 'if-none-match': '"1"', 'if-range': '"1"', 'if-match': 'x' };
    await get(`${edge.url}/r.csv?a`, headers);
    expect(asked[0]?.headers).toMatchObject(headers);
  });

  it('gives no old file if S3 fails when a link is used again', async () => {
    answer = () => file;
    expect(await statusOf(`${edge.url}/r.csv?a`)).toBe(200);
    answer = () => ({ status: 500 });
    expect(await statusOf(`${edge.url}/r.csv?a`)).toBe(500);
  });
});
