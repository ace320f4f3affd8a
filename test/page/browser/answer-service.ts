import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { ENV } from '../../../lib/names.ts';
import { type Service, startService } from '../../e2e/service.ts';
import { openPage, startBrowser } from './open-page.ts';
import { OPEN_DAY, weeksOfEvents } from './weeks-of-events.ts';

export const CONTACT = 'data@example.com';

/** The service over two weeks of events, of which the newest day is open. */
async function startAnswering(): Promise<Service> {
  const service = await startService(weeksOfEvents, {
    lastDay: async () => OPEN_DAY,
    functionEnv: { [ENV.currency]: 'EUR', [ENV.accessContact]: CONTACT },
  });
  for (const table of ['publisher_events', 'advertiser_events']) {
    const days = join(service.eventsDirectory, table);
    for (const day of (await readdir(days)).sort().slice(0, -1))
      await writeFile(join(days, day, '_SUCCESS'), '');
  }
  return service;
}

/** The service and a browser, for all tests of a file. */
export function answering() {
  let service: Service;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startAnswering(), startBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
  });
  return {
    service: () => service,
    /** Opens the page with a question; `prepare` is done before the page is asked for. */
    open: (hash = '', options = {}, prepare?: (page: Page) => Promise<unknown>) =>
      openPage(browser, `${service.gatewayUrl}/${hash}`, options, prepare),
  };
}

/** Waits until the report that was asked for is there; throws what the page says where there is none. */
export async function answered(page: Page): Promise<void> {
  const report = page.getByRole('link', { name: 'Download CSV' });
  await report.or(page.locator('.failure')).waitFor();
  if (!(await report.isVisible())) throw new Error(await page.locator('.failure').innerText());
}

/** Asks another question in a page that is open, by its address; `answered` is left to the caller. */
export async function askOtherwise(page: Page, hash: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
  await page.getByText('This is of the question before your last change.').waitFor();
  await unfold(page);
  await page.getByRole('button', { name: 'Run the report' }).click();
  await page.getByText('This is of the question before your last change.').waitFor({ state: 'hidden' });
}

/** Unfolds the form where it is folded. */
export async function unfold(page: Page): Promise<void> {
  const change = page.getByRole('button', { name: 'Change', exact: true });
  if (await change.isVisible()) await change.click();
}

/** The rows of the table that are drawn, by the names of their columns; the sign of the order is left out. */
export function drawnRows(page: Page): Promise<Record<string, string>[]> {
  return page.evaluate(() => {
    const text = (cell: Element) => (cell.textContent ?? '').replace(/^[▲▼] /, '');
    const names = [...document.querySelectorAll('thead th')].map(text);
    return [...document.querySelectorAll('tbody tr[aria-rowindex]')].map((row) =>
      Object.fromEntries([...row.children].map((cell, index) => [names[index] ?? '', text(cell)])),
    );
  });
}

/** The row of totals below the table, by the names of the columns. */
export function totalsRow(page: Page): Promise<string[]> {
  return page.locator('tfoot tr > *').allInnerTexts();
}

/** A tile of the totals: what it shows, and what its title holds. */
export async function tile(page: Page, metric: string): Promise<{ shown: string; exact: string }> {
  const figure = page
    .getByLabel('Totals of the whole file')
    .locator('div', { hasText: metric })
    .locator('.figure');
  return { shown: await figure.innerText(), exact: (await figure.getAttribute('title')) ?? '' };
}

/** The address of a question. */
export const hashOf = (parameters: Record<string, string>): string =>
  `#${new URLSearchParams(parameters).toString()}`;

export const POLL = { timeout: 20_000 };
