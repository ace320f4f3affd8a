import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { serve } from '../../../local/serve.ts';
import { expectedReport } from '../../e2e/expected-report.ts';
import { knownEvents } from '../../e2e/known-events.ts';
import { ownService, queryOf } from '../../e2e/service.ts';
import { openPage, ownBrowser } from './open-page.ts';

const events = knownEvents(18, 300);
const question = (hour: number) => ({
  fields: ['Day', 'Clicks'],
  start: `2026-01-01T0${hour}:00:00Z`,
  end: '2026-02-01T00:00:00Z',
});

const partner = await serve((_, response) =>
  response.setHeader('content-type', 'text/html').end('<h1>Performance reports</h1>'),
);
afterAll(() => partner.close());
const browser = await ownBrowser();
const openAt = (url: string, isAsDeployed = false) =>
  openPage(browser, url, { isAsDeployed, mayComplain: true });

describe.each([
  ['straight from the bucket', false],
  ['through the downloads edge', true],
])('downloads %s', async (_, hasDownloadsEdge) => {
  const functionEnv = { QUERY_WAIT_MS: '400' };
  const service = await ownService(events, { corsOrigins: [partner.url], hasDownloadsEdge, functionEnv });

  /** Lets a script of the page send a request with a token. Resolves to the answer as the script sees it. */
  const fetchIn = (page: Page, url: string) =>
    page.evaluate(
      async ({ url, token }) => {
        try {
          const response = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
          return { status: response.status, text: await response.text() };
        } catch (error) {
          return { failed: String(error) };
        }
      },
      { url, token: service.token },
    );

  /** Records a page's requests with the headers that the browser really sends. Returns a function that lists them. */
  async function sentBy(page: Page) {
    const cdp = await page.context().newCDPSession(page);
    const urls: Record<string, string[]> = {};
    const headers: Record<string, Record<string, string>[]> = {};
    cdp.on('Network.requestWillBeSent', ({ requestId, request }) => {
      urls[requestId] = [...(urls[requestId] ?? []), request.url];
    });
    cdp.on('Network.requestWillBeSentExtraInfo', ({ requestId, headers: those }) => {
      const lower = Object.fromEntries(
        Object.entries(those).map(([name, value]) => [name.toLowerCase(), value]),
      );
      headers[requestId] = [...(headers[requestId] ?? []), lower];
    });
    await cdp.send('Network.enable');
    return () =>
      Object.entries(urls).flatMap(([id, those]) =>
        those.map((url, hop) => ({
          url,
          origin: headers[id]?.[hop]?.['origin'],
          isAuthorized: headers[id]?.[hop]?.['authorization'] !== undefined,
        })),
      );
  }

  const downloadOrigin = (): string =>
    (hasDownloadsEdge && service.stack.environment['DOWNLOADS_EDGE_ORIGIN']) || service.stack.storageUrl;

  const urlFor = (hour: number) =>
    `${service.gatewayUrl}/reporting/publisherperformance?${queryOf(question(hour))}`;

  it('a page of a partner’s own origin gets the report with one fetch, which leads through the waiting room to the download', async () => {
    const page = await openAt(partner.url);
    const sent = await sentBy(page);
    service.stack.faults.set([{ on: 'query', delayMs: 1_500 }]);
    const answer = await fetchIn(page, urlFor(0));
    service.stack.faults.set([]);
    expect(answer).toMatchObject({
      status: 200,
      text: expectedReport('publisherperformance', events.publisher_events, question(0)),
    });
    // The browser reports the headers some time after the request.
    const requests = () =>
      sent().filter(({ url, origin }) => origin !== undefined && !url.startsWith(partner.url));
    const download = () => requests().find(({ url }) => url.startsWith(downloadOrigin()));
    // After the redirect the browser sends the origin `null` and no token: the bucket's CORS rule must allow that.
    await expect.poll(download).toMatchObject({ origin: 'null', isAuthorized: false });
    expect(requests().filter(({ url }) => url.includes('/downloads/')).length).toBeGreaterThan(1);
    // A preflight to the same URL has no token. The request itself has one.
    expect(requests().find(({ url, isAuthorized }) => url === urlFor(0) && isAuthorized)).toMatchObject({
      origin: partner.url,
    });
  });

  it('the service’s own page can read a download, although its origin is not one of the allowed origins', async () => {
    const page = await openAt(service.gatewayUrl, true);
    const sent = await sentBy(page);
    expect(await fetchIn(page, urlFor(3))).toMatchObject({
      status: 200,
      text: expectedReport('publisherperformance', events.publisher_events, question(3)),
    });
    const download = () => sent().find(({ url }) => url.startsWith(downloadOrigin()));
    await expect.poll(download).toMatchObject({ origin: service.gatewayUrl, isAuthorized: false });
  });
});
