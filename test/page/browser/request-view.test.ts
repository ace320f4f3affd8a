import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ENV } from '../../../lib/names.ts';
import { knownEvents } from '../../e2e/known-events.ts';
import { type Service, startService } from '../../e2e/service.ts';
import { accessibilityFindings, openPage, startBrowser, type WatchedPage } from './open-page.ts';

const CONTACT = 'reports@example.com';

let service: Service;
let browser: Browser;
let watched: WatchedPage;
let page: Page;
beforeAll(async () => {
  [service, browser] = await Promise.all([
    startService(knownEvents(18, 100), { functionEnv: { [ENV.accessContact]: CONTACT } }),
    startBrowser(),
  ]);
});
afterAll(async () => {
  await browser.close();
  await service.close();
});
beforeEach(async () => {
  const permissions = ['clipboard-read', 'clipboard-write'];
  watched = await openPage(browser, `${service.gatewayUrl}/?from=mail#report=advertiserperformance`, {
    permissions,
  });
  page = watched.page;
  // As deployed: the form is open, and nothing is asked by itself.
  await page.route('**/.local/partners', (route) => route.fulfill({ status: 404, body: '' }));
  await page.reload();
  await page.getByLabel('Access token', { exact: true }).fill('the.own.token');
});
afterEach(() => watched.close());

const copied = () => page.evaluate(() => navigator.clipboard.readText());

describe('the request to paste', () => {
  it('is copied as it stands, and says so', async () => {
    await page.getByRole('tab', { name: 'curl' }).click();
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await page
      .getByRole('status')
      .filter({ hasText: /^Copied$/ })
      .waitFor();
    expect(await copied()).toBe(await page.getByRole('tabpanel').locator('pre').innerText());
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  it('says where it could not be copied, and what to do', async () => {
    await page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new DOMException('', 'NotAllowedError'));
    });
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await page.getByText('Could not be copied: select the text and copy it.').waitFor();
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByText('Could not be copied: copy the address of this page.').waitFor();
    expect(await page.getByRole('button', { name: 'Copy link' }).isVisible()).toBe(true);
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  it('can be sent as a link to the page, which asks the same and holds no token', async () => {
    await page.getByRole('checkbox', { name: /^CampaignId / }).click();
    const text = await page.getByRole('tabpanel').locator('pre').innerText();
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByRole('status').filter({ hasText: 'Link copied' }).waitFor();
    const link = await copied();
    expect(link).toMatch(`${service.gatewayUrl}/#report=advertiserperformance&`);
    expect(link).not.toContain('the.own.token');

    await page.goto(link);
    await page.getByRole('tabpanel').waitFor();
    expect(await page.getByRole('tabpanel').locator('pre').innerText()).toBe(text);
  });

  it('names where a token comes from, as the service says it', async () => {
    for (const tab of await page.getByRole('tab').all()) {
      await tab.click();
      await page
        .getByRole('tabpanel')
        .getByText(
          `It comes from ${service.stack.tokenUrl} for a client id and secret, and those from ${CONTACT}.`,
        )
        .last()
        .waitFor();
    }
  });
});
