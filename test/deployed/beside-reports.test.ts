/** Tests what a deployed stage serves beside reports: days, fields, the OpenAPI document, the page and the edge. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { knownEvents } from '../e2e/known-events.ts';
import { ownService, queryOf } from '../e2e/service.ts';
import { siteOf } from './deployed-service.ts';
import { currentLane, type Lane } from './lane.ts';
import { operator } from './operator.ts';

const lane = currentLane() as Lane;
const events = knownEvents(18, 200);
const WINDOW = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };

const service = await ownService(events);
const api = await operator(lane).outputs(lane.stage, 'api');

async function send(path: string, headers: Record<string, string>, method = 'GET') {
  // The headers are a list: Node.js would check the certificate against the `host` in an object.
  const outgoing = request(lane.endpoint + path, { method, headers: Object.entries(headers).flat() }).end();
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}

/** Sends a request without the suites' proxy, because the proxy knows only the routes of the OpenAPI document. */
function ask(path: string) {
  const { host, basePath } = siteOf(api['ApiUrl'] ?? '', lane.endpoint);
  return send(basePath + path, { host });
}

it('the stage has a page whose files all load; the page may connect to the results bucket and the edge', async () => {
  const page = await ask('/');
  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  const { ResultsBucket = '' } = await operator(lane).outputs(lane.stage, 'data');
  expect(page.headers['content-security-policy']).toMatch(
    RegExp(`connect-src 'self' https://(${ResultsBucket}\\.)?[^ ]+ ${api['DownloadsEdge']};`),
  );
  const loaded = [...page.body.matchAll(/<(?:link|script)[^>]* (?:src|href)="([^"]+)"/g)].map(
    ([, path = '']) => path,
  );
  expect(loaded.length).toBeGreaterThanOrEqual(3);
  for (const path of loaded) {
    expect(path).toMatch(RegExp(`^/${lane.stage}/page/`));
    const file = await ask(path.slice(`/${lane.stage}`.length));
    expect([path, file.status]).toEqual([path, 200]);
    expect(file.body.length).toBeGreaterThan(100);
  }
  for (const path of ['/docs', '/docs/problems', '/llms.txt']) {
    const { status, body } = await ask(path);
    expect([path, status, body.includes(`/${lane.stage}/docs`)]).toEqual([path, 200, true]);
  }
});

/** The text of a report, and the presigned link to the report's file. */
async function links() {
  const question = { fields: ['PlacementId', 'Clicks'], ...WINDOW };
  const response = await service.request('publisherperformance', queryOf(question));
  const link = new URL(response.headers.get('location') ?? '');
  return { report: await service.pull('publisherperformance', question), link };
}

/**
 * Requests a presigned link from the edge. The emulator finds the distribution by the `Host` header, and reads from
 * `x-forwarded-proto` whether the request used TLS.
 */
function byEdge(link: URL, headers: Record<string, string> = {}, method?: string) {
  const { host } = new URL(api['DownloadsEdge'] ?? '');
  return send(link.pathname + link.search, { host, 'x-forwarded-proto': 'https', ...headers }, method);
}

describe('the edge for downloads', () => {
  it('gives the file to a client that also sends its access token', async () => {
    const { report, link } = await links();
    const { status, headers, body } = await byEdge(link, { authorization: `Bearer ${service.token}` });
    expect([status, body]).toEqual([200, report]);
    expect(headers['x-cache']).toMatch(/from cloudfront/i);
    expect((await byEdge(link, { range: 'bytes=0-4' })).body).toBe(report.slice(0, 5));
  });

  it('answers 403 to a wrong signature, a missing signature, PUT and plain HTTP', async () => {
    const { link } = await links();
    const altered = new URL(link);
    altered.searchParams.set('X-Amz-Signature', '0'.repeat(64));
    const unsigned = new URL(link.pathname, link);
    const [refused, closed] = [await byEdge(altered), await byEdge(unsigned)];
    expect([refused.status, closed.status]).toEqual([403, 403]);
    expect((await byEdge(link, {}, 'PUT')).status).toBe(403);
    expect((await byEdge(link, { 'x-forwarded-proto': 'http' })).status).toBe(403);
  });
});
