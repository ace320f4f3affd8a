import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serve } from '../../../local/serve.ts';
import { expectedReport } from '../../e2e/expected-report.ts';
import { knownEvents } from '../../e2e/known-events.ts';
import { keptLog } from '../../kept-log.ts';
import { answering, pre, tokenOf } from './answer-service.ts';
import {
  addFilter,
  clicksOn,
  downloaded,
  openForm,
  openPage,
  openUnasked,
  pressRun,
  REPORTS,
  refuseReports,
  reportRead,
  runReport,
} from './open-page.ts';

const known = knownEvents(18, 3_000);
const isOfLatestDays = ({ event_time }: { readonly event_time?: unknown }) =>
  String(event_time) < '2026-01-07';
/**
 * Events up to the stack's `lastDay`. The page learns the newest day first from `lastDay`, and later from the days that
 * the service reports. Both must therefore be the same day.
 */
const events = {
  publisher_events: known.publisher_events.filter(isOfLatestDays),
  advertiser_events: known.advertiser_events.filter(isOfLatestDays),
};
const LATEST = { start: '2025-12-31T00:00:00Z', end: '2026-01-07T00:00:00Z' };

/**
 * The lines that the service has logged. The tests count the requests of the page's worker by them, because Playwright
 * sometimes reports no requests of a worker that has just started.
 */
const logged: string[] = [];
const linesOf = (message: string) =>
  logged.map((line) => JSON.parse(line)).filter((line) => line.message === message);

const { service, browser, ask } = await answering(events, '2026-01-06', {
  // A request waits only one second for its query, so a slow query leads through the waiting room.
  functionEnv: { QUERY_WAIT_MS: '1000', FINAL_AFTER_HOURS: '6' },
  log(text) {
    logged.push(...text.trimEnd().split('\n'));
    keptLog(text);
  },
});

/** Opens the page, waits for its first report, which the page asks for by itself, and unfolds the form. */
async function open(...given: Parameters<typeof ask>): Promise<Page> {
  const page = await ask(...given);
  await openForm(page);
  return page;
}

const field = (page: Page, name: string) => page.getByRole('checkbox', { name: RegExp(`^${name} `) });

const openOrder = (page: Page) => page.getByText('Order of columns').click();

/** Sends the request that the page shows, with a token of the partner. Resolves to the text that any client gets. */
async function byUrl(page: Page, partner: string): Promise<string> {
  const headers = { Authorization: `Bearer ${await tokenOf(service, partner)}` };
  return (await fetch(await pre(page), { headers })).text();
}

describe('the way from the open page to a correct CSV', () => {
  it('takes seven clicks, with requests only to the service and to the download store', async () => {
    const hosts = new Set<string>();
    const page = await open({}, {}, async (page) => {
      page.on('request', (request) => hosts.add(new URL(request.url()).host));
    });
    await page.getByLabel('Advertiser', { exact: true }).click();
    await field(page, 'CampaignId').click();
    for (const metric of ['Conversions', 'ConversionRevenue']) await field(page, metric).click();
    await pressRun(page);
    const { name, text } = await downloaded(page);
    expect(await clicksOn(page)).toBe(7);
    expect(name).toMatch(/\.csv$/);
    expect(text).toBe(
      expectedReport('advertiserperformance', events.advertiser_events, {
        fields: ['Day', 'CampaignId', 'Impressions', 'Clicks', 'Spend'],
        ...LATEST,
      }),
    );
    expect(text).toBe(await byUrl(page, 'house'));
    expect([...hosts].sort()).toEqual(
      [service.gatewayUrl, service.stack.storageUrl].map((url) => new URL(url).host).sort(),
    );
  });

  it('begins with a pasted token if there are no sample partners', async () => {
    const page = await openPage(browser, service.gatewayUrl, { isAsDeployed: true });
    const token = page.getByLabel('Access token', { exact: true });
    await page.getByRole('button', { name: 'Run the report' }).click();
    await page.getByText('Paste an access token.').waitFor();
    expect(await page.getByRole('status').filter({ hasText: 'report is' }).count()).toBe(0);
    // The pasted text has `Bearer` and a line end, as people copy it from a header.
    await token.fill(`Bearer ${service.token}\n`);
    await page.getByLabel('First day', { exact: true }).fill('2026-01-01');
    await page.getByLabel('Last day', { exact: true }).fill('2026-01-05');
    await runReport(page);
    expect((await downloaded(page)).text).toBe(await byUrl(page, 'house'));
    expect(await page.getByText('publisher-one').count()).toBe(0);
  });

  it('ends with a message if the sample partner gets no token', async () => {
    const page = await open();
    await page.route('**/.local/partners/house/token', (route) => route.fulfill({ status: 404, body: '{}' }));
    await pressRun(page);
    await page.getByText('No token could be had for the sample partner.').waitFor();
  });
});

describe('faults', () => {
  it('are shown at their inputs in the page’s words, and the page sends no request', async () => {
    const page = await open();
    await page.getByLabel('First day', { exact: true }).fill('2025-11-01');
    const days = page.getByRole('region', { name: /^Days/ });
    expect(await days.getByRole('alert').innerText()).toBe(
      'At most 32 days. From 2025-11-01 on, the last day can be 2025-12-02.',
    );
    await addFilter(page, 'PlacementId');
    const filters = page.getByRole('region', { name: /^Filters/ });
    expect(await filters.getByRole('alert').count()).toBe(0);
    await page.getByLabel('PlacementId, value 1', { exact: true }).fill('1x');
    expect(await filters.getByRole('alert').innerText()).toBe('1x is no whole number.');
    await openOrder(page);
    for (const name of ['Day', 'ServedAds', 'Opens', 'Clicks', 'Revenue'])
      await page.getByRole('button', { name: `Drop ${name}` }).click();
    const fields = page.getByRole('region', { name: 'Fields' });
    expect(await fields.getByRole('alert').innerText()).toBe('Choose at least one field.');
    await page.getByText('Use a token of your own').click();
    for (const token of ['another', '']) await page.getByLabel('Access token', { exact: true }).fill(token);

    const asked: string[] = [];
    // Ignores the page's own files, because the browser may fetch the icon only now.
    page.on('request', (request) => request.url().includes('/page/') || asked.push(request.url()));
    await page.getByRole('button', { name: 'Run the report' }).click();
    await page.getByText('The request has 3 faults, told where they are.').waitFor();
    await page.getByText('Choose who asks.').waitFor();
    expect(asked).toEqual([]);
  });

  it('that only the service finds are also shown at their inputs', async () => {
    const page = await open();
    const errors = [{ parameter: 'endExclusive', detail: 'Not on a Sunday.' }];
    const problem = { title: 'Invalid request', detail: 'The request has a fault.', status: 400 };
    await refuseReports(page, { ...problem, instance: 'urn:uuid:1', errors });
    await pressRun(page);
    await page.getByText('The service refused the question.').waitFor();
    await page.getByRole('button', { name: 'Change the question' }).click();
    expect(await page.getByRole('region', { name: /^Days/ }).getByRole('alert').innerText()).toBe(
      'Not on a Sunday.',
    );
    await page.getByText('Last month', { exact: true }).click();
    expect(await page.getByText('Not on a Sunday.').count()).toBe(1);
  });

  it.each([
    ['it has characters that no token has', async () => 'eyJ…', /characters that no token has/],
    ['it gives no access', () => tokenOf(service, 'nobody'), /Not authorized to this endpoint/],
  ])('of the token are shown at its input: %s', async (_, token, words) => {
    const page = await open();
    await page.getByText('Use a token of your own').click();
    await page.getByLabel('Access token', { exact: true }).fill(await token());
    await pressRun(page);
    await page.getByText('There is no report.').waitFor();
    const failure = page.getByRole('alert').filter({ hasText: 'The service refused the token: ' });
    expect(await failure.innerText()).toMatch(words);
    await page.getByRole('button', { name: 'Change the question' }).click();
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('token');
    expect(await page.getByRole('group', { name: 'Ask as' }).getByRole('alert').innerText()).toMatch(words);
  });
});

describe('a run', () => {
  it('shows that it is under way, and leads through the waiting room', async () => {
    const page = await open();
    service.stack.faults.set([{ on: 'query', delayMs: 60_000 }]);
    logged.length = 0;
    await field(page, 'DeviceOrProxy').check();
    await pressRun(page);
    await page.getByText('The report is being made.').waitFor();
    await expect.poll(() => linesOf('request').some(({ hop }) => hop >= 1)).toBe(true);
    service.stack.faults.set([]);
    await reportRead(page);
    expect((await downloaded(page)).text).toBe(await byUrl(page, 'house'));
  });

  it('asks again if the browser follows no more redirects, and joins the query that still runs', async () => {
    const page = await openUnasked(
      browser,
      service,
      '#requestedFields=Day,Opens&first=2026-01-02&last=2026-01-03',
      // The browser's own error about too many redirects.
      { mayComplain: true },
    );
    logged.length = 0;
    // The query takes longer than twenty waiting hops of one second each.
    service.stack.faults.set([{ on: 'query', delayMs: 24_000 }]);
    await pressRun(page);
    await page.getByRole('link', { name: 'Download CSV' }).waitFor({ timeout: 90_000 });
    expect(service.stack.faults.current()).toMatchObject([{ struck: 1 }]);
    service.stack.faults.set([]);
    const isFirst = ({ status, hop }: { status: number; hop?: number }) =>
      status === 303 && hop === undefined;
    expect(linesOf('request').filter(isFirst)).toHaveLength(2);
    expect((await downloaded(page)).text).toBe(await byUrl(page, 'house'));
  }, 120_000);

  it.each([
    ['ends in the middle of a row', '"Day","Clicks"\n"2026-01-0', 'The file ends in the middle of a row.'],
    ['is no CSV', '<html>\nSign in</html>\n', 'What came is not the report that was asked for.'],
  ])('fails with a reason and without a download if the file %s', async (_, body, words) => {
    const hash = '#requestedFields=Day,Clicks&first=2026-01-01&last=2026-01-02';
    const page = await openUnasked(browser, service, hash);
    await page.route(REPORTS, (route) => route.fulfill({ body, contentType: 'text/csv' }));
    await pressRun(page);
    await page.getByText('There is no report.').waitFor();
    expect(await page.getByRole('alert').getByText(words).innerText()).toBe(`${words} Run the report again.`);
    expect(await page.getByRole('link', { name: 'Download CSV' }).count()).toBe(0);
  });
});

describe('the page’s address', () => {
  it('holds every choice, but neither the caller nor a token', async () => {
    const page = await open();
    await page.getByLabel('Advertiser', { exact: true }).check();
    await field(page, 'DemandOrigin').check();
    await openOrder(page);
    await page.getByRole('button', { name: 'Move DemandOrigin left' }).click();
    await page.getByText('Last month', { exact: true }).click();
    await addFilter(page, 'DemandOrigin');
    await page.getByLabel('DemandOrigin, value 1', { exact: true }).fill(`O'Brien" & #1`);
    await page.getByLabel('house').check();
    await page.getByText('Use a token of your own').click();
    await page.getByLabel('Access token', { exact: true }).fill('eyJsecret');
    const request = await pre(page);
    const address = page.url();
    expect(address).not.toMatch(/house|eyJ/);
    // The browser keeps the versions of the days that were seen, and nothing else.
    const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]));
    expect(kept).toMatch(/^\[\{"seen http[^{]*\{[^{}]*\{[^{}]*\{[^{}]*\}\}\}"\},\{\},""\]$/);
    expect(kept).not.toContain('eyJ');

    const again = await openPage(browser, address);
    expect(await pre(again)).toBe(request);
    expect(await again.getByLabel('Access token', { exact: true }).inputValue()).toBe('');
  });

  it('may have a stage in its path, which the page keeps in its requests', async () => {
    const page = await openBehind('/dev');
    await reportRead(page);
    await runReport(page);
    expect(await pre(page)).toContain('/dev/reporting/publisherperformance?');
  });
});

/** Opens the page behind a gateway with a stage: every path begins with the stage. */
async function openBehind(stage: string): Promise<Page> {
  const { url, close } = await serve(async ({ url = '', method = 'GET', headers }, response) => {
    if (!url.startsWith(stage)) return response.writeHead(403).end();
    const { host: _, connection: __, ...sent } = headers as Record<string, string>;
    const path = url.slice(stage.length) || '/';
    const answer = await fetch(service.gatewayUrl + path, { method, headers: sent, redirect: 'manual' });
    const body = (await answer.text()).replaceAll('"/page/', `"${stage}/page/`);
    const { 'content-length': ___, 'content-encoding': ____, ...kept } = Object.fromEntries(answer.headers);
    const location = kept['location']?.startsWith('/') ? { location: stage + kept['location'] } : {};
    return response.writeHead(answer.status, { ...kept, ...location }).end(body);
  });
  onTestFinished(close);
  return openPage(browser, `${url}${stage}/`);
}

describe('the days of the window', () => {
  it('show the states that the service reports', async () => {
    const page = await open();
    await page.getByText('5 days final').waitFor();
    expect(await page.locator('.day-words').innerText()).toBe(
      '5 days final\n1 day open: more events may come: 2026-01-06 (late since 2026-01-07 06:00 UTC)\n1 day without events: 2026-01-04',
    );
    expect(await page.locator('.day-strip .day').count()).toBe(7);
  });

  it('are hidden for a report whose table is missing, and shown for another report', async () => {
    const page = await open();
    await page.route('**/advertiserperformance/days?**', (route) =>
      route.fulfill({ status: 404, contentType: 'application/problem+json', body: '{}' }),
    );
    await page.getByText('5 days final').waitFor();
    const refused = page.waitForResponse((response) => response.status() === 404);
    await page.getByLabel('Advertiser', { exact: true }).check();
    await refused;
    await expect.poll(() => page.locator('.day-strip').count()).toBe(0);
    await page.getByLabel('Publisher', { exact: true }).check();
    await page.getByText('5 days final').waitFor();
  });
});
