import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { knownEvents } from '../../e2e/known-events.ts';
import { ownService } from '../../e2e/service.ts';
import { accessibilityFindings, openPage, ownBrowser } from './open-page.ts';

const CONTACT = 'reports@example.com';

const service = await ownService(knownEvents(18, 100), { functionEnv: { ACCESS_CONTACT: CONTACT } });
const browser = await ownBrowser();
let page: Page;
beforeEach(async () => {
  // Without sample partners, as in a deployed service, the form is open and the page asks nothing by itself.
  page = await openPage(browser, `${service.gatewayUrl}/?from=mail#report=advertiserperformance`, {
    ...{ isAsDeployed: true, permissions: ['clipboard-read', 'clipboard-write'] },
  });
  await page.getByLabel('Access token', { exact: true }).fill('the.own.token');
});

const copied = () => page.evaluate(() => navigator.clipboard.readText());

describe('the view of the request', () => {
  it('copies the request as it is shown, and a link without the token, and says that they are copied', async () => {
    await page.getByRole('tab', { name: 'curl' }).click();
    // The page has read where tokens come from.
    const source = `It comes from ${service.stack.tokenUrl} for a client id and secret, and those from ${CONTACT}.`;
    await page.getByRole('tabpanel').getByText(source).last().waitFor();
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    const copies = page.getByRole('status').filter({ hasText: /^Copied$/ });
    await copies.waitFor();
    expect(await copied()).toBe(await page.getByRole('tabpanel').locator('pre').innerText());
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByRole('status').filter({ hasText: 'Link copied' }).waitFor();
    expect(await copied()).toBe(page.url().replace('?from=mail', ''));
    expect(await copied()).not.toContain('the.own.token');
  });

  it('says what to do if the browser does not allow the copy', async () => {
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
});
