import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { EDGE_CACHE_CONTROL } from '../../lib/downloads-edge.ts';
import { startDownloadsEdge } from '../../local/downloads-edge/downloads-edge.ts';
import { type Listener, serve } from '../../local/serve.ts';
import { rawRequest } from '../raw-request.ts';

interface Scripted {
  readonly status?: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

/** Gives the bucket's answer to a request. Each test sets it, and may delay the answer. */
let answer: (asked: IncomingMessage) => Scripted | Promise<Scripted>;
let asked: IncomingMessage[];
let edge: Listener;
beforeEach(async () => {
  asked = [];
  edge = await startDownloadsEdge(origin);
  return () => edge.close();
});
const { url: origin, close } = await serve(async (incoming, response) => {
  asked.push(incoming);
  const { status = 200, headers, body = '' } = await answer(incoming);
  response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers });
  response.end(incoming.method === 'HEAD' ? undefined : body);
});
afterAll(close);

const get = (path = '/r.csv?a', headers: OutgoingHttpHeaders = {}, method = 'GET') =>
  rawRequest(edge.url, path, headers, method);
const statusOf = async (...parameters: Parameters<typeof get>) => (await get(...parameters)).status;

const reached = (count: number) => vi.waitFor(() => expect(asked).toHaveLength(count), { timeout: 60_000 });

const FILE = 'Day,Clicks\n"2026-01-01T00:00:00Z",1\n';
/** S3's answer to a link of the service. */
const file: Scripted = { headers: { 'cache-control': EDGE_CACHE_CONTROL, etag: '"1"' }, body: FILE };
const expired: Scripted = { status: 403, body: '<Code>AccessDenied</Code>' };

/** The statuses of two requests of one link, if the bucket's answer changes between them. */
const inTurn = (first: Scripted, then: Scripted) => async () => {
  answer = () => first;
  const status = await statusOf();
  answer = () => then;
  return [status, await statusOf()];
};

// test/infra/api.test.ts has the values of the settings.
describe('the stand-in of CloudFront, with our settings', () => {
  it.each<[string, () => Promise<unknown>, unknown]>([
    [
      'gives no link the answer to an expired link of the same file',
      async () => {
        const { promise, resolve } = Promise.withResolvers<Scripted>();
        answer = ({ url }) => (url === '/r.csv?expired' ? promise : file);
        const late = statusOf('/r.csv?expired');
        await reached(1);
        const good = statusOf('/r.csv?good');
        // The answer to a third request shows that the edge already has the second request.
        await statusOf('/other.csv?good');
        resolve(expired);
        return Promise.all([late, good]);
      },
      [403, 200],
    ],
    ['gives no file for an expired link, although it gave it before', inTurn(file, expired), [200, 403]],
    ['gives no old file if S3 fails when a link is used again', inTurn(file, { status: 500 }), [200, 500]],
    ['keeps no error: the next request reaches S3', inTurn({ status: 503 }, file), [503, 200]],
    [
      'lets a page of another origin read the file',
      async () => {
        answer = ({ headers }) =>
          headers.origin === undefined ? {} : { headers: { 'access-control-allow-origin': '*' } };
        return (await get(undefined, { origin: 'null' })).headers['access-control-allow-origin'];
      },
      '*',
    ],
    [
      'passes a page’s preflight on to S3 with its headers',
      async () => {
        const preflight = {
          origin: 'https://page.example',
          'access-control-request-method': 'GET',
          'access-control-request-headers': 'range',
        };
        answer = ({ method, headers }) => {
          const isWhole = Object.entries(preflight).every(([name, value]) => headers[name] === value);
          return { status: method === 'OPTIONS' && isWhole ? 200 : 403 };
        };
        return statusOf(undefined, preflight, 'OPTIONS');
      },
      200,
    ],
    [
      'keeps the token from S3',
      async () => {
        answer = ({ headers }) => (headers.authorization === undefined ? file : { status: 400 });
        return statusOf(undefined, { authorization: 'Bearer token', cookie: 'a=b' });
      },
      200,
    ],
  ])('%s', async (_, act, expected) => {
    expect(await act()).toEqual(expected);
  });

  it('sends the same path and query to the bucket, with the bucket’s host as Host header', async () => {
    answer = () => file;
    const path = '/results/reports/a%20b/report.csv?X-Amz-Expires=300&response-cache-control=no-store&x=%2F+';
    expect((await get(path)).body).toBe(FILE);
    expect([asked[0]?.url, asked[0]?.headers.host]).toEqual([path, new URL(origin).host]);
  });

  it('passes on the range and the conditions of a request', async () => {
    answer = () => ({ status: 206 });
    const headers = { range: 'bytes=2-3', 'if-none-match': '"1"', 'if-range': '"1"', 'if-match': 'x' };
    await get(undefined, headers);
    expect(asked[0]?.headers).toMatchObject(headers);
  });
});
