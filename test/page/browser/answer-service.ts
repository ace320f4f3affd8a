import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import type { KnownEvents } from '../../e2e/known-events.ts';
import { type Service, startService } from '../../e2e/service.ts';
import { openForm, openPage, startBrowser } from './open-page.ts';
import { OPEN_DAY, weeksOfEvents } from './weeks-of-events.ts';

export const CONTACT = 'data@example.com';

/** Starts the service. In both tables, only the newest day is open. */
async function startAnswering(events: KnownEvents, openDay: string): Promise<Service> {
  const service = await startService(events, {
    lastDay: async () => openDay,
    functionEnv: { CURRENCY: 'EUR', ACCESS_CONTACT: CONTACT },
  });
  for (const table of ['publisher_events', 'advertiser_events']) {
    const days = join(service.eventsDirectory, table);
    for (const day of (await readdir(days)).sort().slice(0, -1))
      await writeFile(join(days, day, '_SUCCESS'), '');
  }
  return service;
}

/**
 * Starts the service and a browser before the tests of a file, and closes both after the tests.
 *
 * @param openDay the newest day of the events
 */
export function answering(events: KnownEvents = weeksOfEvents, openDay: string = OPEN_DAY) {
  let service: Service;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startAnswering(events, openDay), startBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
  });
  return {
    service: () => service,
    /** Opens the page with the question that `hash` holds. Runs `prepare` before the page loads. */
    open: (hash = '', options = {}, prepare?: (page: Page) => Promise<unknown>) =>
      openPage(browser, `${service.gatewayUrl}/${hash}`, options, prepare),
  };
}

/** Waits until the page has read the report. If the run fails, throws the page's words about the failure. */
export async function answered(page: Page): Promise<void> {
  const report = page.getByRole('link', { name: 'Download CSV' });
  await report.or(page.locator('.failure')).waitFor();
  if (!(await report.isVisible())) throw new Error(await page.locator('.failure').innerText());
}

/** Changes the address of an open page to another question, and runs it. Does not wait for the answer. */
export async function askOtherwise(page: Page, hash: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
  await page.getByText('This is of the question before your last change.').waitFor();
  await openForm(page);
  await page.getByRole('button', { name: 'Run the report' }).click();
  await page.getByText('This is of the question before your last change.').waitFor({ state: 'hidden' });
}

/** The drawn rows of the table: the text of each cell, by its column's name, without the sign of the sort order. */
export function drawnRows(page: Page): Promise<Record<string, string>[]> {
  return page.evaluate(() => {
    const text = (cell: Element) => (cell.textContent ?? '').replace(/^[▲▼] /, '');
    const names = [...document.querySelectorAll('thead th')].map(text);
    return [...document.querySelectorAll('tbody tr[aria-rowindex]')].map((row) =>
      Object.fromEntries([...row.children].map((cell, index) => [names[index] ?? '', text(cell)])),
    );
  });
}

/** The texts of the row of totals below the table, in the order of the columns. */
export function totalsRow(page: Page): Promise<string[]> {
  return page.locator('tfoot tr > *').allInnerTexts();
}

/** The total of a metric: the text that its tile shows, and the exact text of its tooltip. */
export async function tile(page: Page, metric: string): Promise<{ shown: string; exact: string }> {
  const figure = page
    .getByLabel('Totals of the whole file')
    .locator('div', { hasText: metric })
    .locator('.figure');
  return { shown: await figure.innerText(), exact: (await figure.getAttribute('title')) ?? '' };
}

/** The part of the page's address that holds a question, from `#` on. */
export const hashOf = (parameters: Record<string, string>): string =>
  `#${new URLSearchParams(parameters).toString()}`;

export const POLL = { timeout: 20_000 };

export const pre = (page: Page): Promise<string> => page.getByRole('tabpanel').locator('pre').innerText();

/** A token of a sample partner. */
export async function tokenOf({ gatewayUrl }: Service, partner: string): Promise<string> {
  const answer = await fetch(`${gatewayUrl}/.local/partners/${partner}/token`, { method: 'POST' });
  return ((await answer.json()) as { accessToken: string }).accessToken;
}

/** Downloads the table as it is shown. Resolves to the file's name, and to the cells of its two sheets. */
export async function downloadedTable(
  page: Page,
): Promise<{ name: string; table: Cell[][]; about: Cell[][] }> {
  const coming = page.waitForEvent('download');
  await page.getByRole('button', { name: 'The table as shown (Excel)' }).click();
  const download = await coming;
  const parts = unzipSync(await readFile(await download.path()));
  const [table, about] = [1, 2].map((sheet) => cellsIn(parts[`xl/worksheets/sheet${sheet}.xml`]));
  return { name: download.suggestedFilename(), table: table ?? [], about: about ?? [] };
}

interface Cell {
  readonly type: string;
  readonly style: string | undefined;
  readonly text: string;
}

/** The cells of a sheet of a workbook, row by row, as its XML has them. */
const cellsIn = (xml: Uint8Array = new Uint8Array()): Cell[][] =>
  [
    ...Buffer.from(xml)
      .toString()
      .matchAll(/<row [^>]*>(.*?)<\/row>/gs),
  ].map(([, row = '']) =>
    [...row.matchAll(/<c r="\w+"(?: s="(\d)")?( t="inlineStr")?>(.*?)<\/c>/gs)].map(
      ([, style, type, inner = '']) => ({
        type: type ? 'text' : 'number',
        style,
        text: inner.replaceAll(/<[^>]+>/g, ''),
      }),
    ),
  );
