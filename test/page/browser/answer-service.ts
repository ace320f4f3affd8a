import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import type { Page } from 'playwright-core';
import { beforeEach, expect } from 'vitest';
import type { StackOptions } from '../../../local/stack.ts';
import type { KnownEvents } from '../../e2e/known-events.ts';
import { ownService, type Service } from '../../e2e/service.ts';
import { type OpenOptions, openPage, ownBrowser, pressRun } from './open-page.ts';
import { OPEN_DAY, weeksOfEvents } from './weeks-of-events.ts';

export const CONTACT = 'data@example.com';

const hashOf = (question: Question): string => `#${new URLSearchParams(question).toString()}`;
type Question = Readonly<Record<string, string>>;

/**
 * A service and a browser for the tests of a file. In both tables, only the newest day is open.
 *
 * @param openDay the newest day of the events
 */
export async function answering(
  events: KnownEvents = weeksOfEvents,
  openDay: string = OPEN_DAY,
  options: Partial<StackOptions> = {},
) {
  const functionEnv = { CURRENCY: 'EUR', ACCESS_CONTACT: CONTACT, ...options.functionEnv };
  const service = await ownService(events, { lastDay: async () => openDay, ...options, functionEnv });
  for (const table of ['publisher_events', 'advertiser_events']) {
    const days = join(service.eventsDirectory, table);
    for (const day of (await readdir(days)).sort().slice(0, -1))
      await writeFile(join(days, day, '_SUCCESS'), '');
  }
  beforeEach(() => service.stack.faults.set([]));
  const browser = await ownBrowser();
  /** Opens the page with a question. Runs `prepare` before the page loads. */
  const open = (question: Question = {}, options?: OpenOptions, prepare?: (page: Page) => Promise<unknown>) =>
    openPage(browser, `${service.gatewayUrl}/${hashOf(question)}`, options, prepare);
  async function ask(...given: Parameters<typeof open>): Promise<Page> {
    const page = await open(...given);
    await answered(page);
    return page;
  }
  return { service, browser, open, ask };
}

/** Waits until the page has read the report. If the run fails, throws the page's words about the failure. */
export async function answered(page: Page): Promise<void> {
  const report = page.getByRole('link', { name: 'Download CSV' });
  await report.or(page.locator('.failure')).waitFor();
  if (!(await report.isVisible())) throw new Error(await page.locator('.failure').innerText());
}

/** The words of an answer whose question was changed since. */
export const STALE = 'This is of the question before your last change.';

/** Changes the address of an open page to another question, and runs it. Does not wait for the answer. */
export async function askOtherwise(page: Page, question: Question): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to;
  }, hashOf(question));
  await page.getByText(STALE).waitFor();
  await pressRun(page);
  await page.getByText(STALE).waitFor({ state: 'hidden' });
}

/** A table whose rows do not have the order of its headers yet, or a row whose cells are still empty. */
const NOT_DRAWN = '.rows[aria-busy=true], tbody tr[aria-rowindex]:not(:has(> :not(:empty)))';

/** Waits for the rows of the table. A row has each cell's text by its column's name, without the sort order's arrow. */
export async function drawnRows(page: Page): Promise<Record<string, string>[]> {
  await page.locator(NOT_DRAWN).first().waitFor({ state: 'detached' });
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

export const pre = (page: Page): Promise<string> => page.getByRole('tabpanel').locator('pre').innerText();

/** A token of a sample partner. */
export async function tokenOf({ gatewayUrl }: Service, partner: string): Promise<string> {
  const answer = await fetch(`${gatewayUrl}/.local/partners/${partner}/token`, { method: 'POST' });
  return ((await answer.json()) as { accessToken: string }).accessToken;
}

/** Downloads the table as it is shown. Resolves to the file's name, and to the cells of its two sheets. */
export async function downloadedTable(page: Page) {
  const coming = page.waitForEvent('download');
  await page.getByRole('button', { name: 'The table as shown (Excel)' }).click();
  const download = await coming;
  const parts = unzipSync(await readFile(await download.path()));
  const texts = Object.values(parts).map((part) => Buffer.from(part).toString());
  expect(await page.evaluate(xmlFaults, texts)).toEqual([]);
  const [table, about] = [1, 2].map((sheet) => cellsIn(parts[`xl/worksheets/sheet${sheet}.xml`]));
  return { name: download.suggestedFilename(), table: table ?? [], about: about ?? [] };
}

/** What a browser finds wrong with XML, and text where a workbook has only elements. */
const xmlFaults = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => {
    const { documentElement } = new DOMParser().parseFromString(text, 'application/xml');
    const fault = documentElement.querySelector('parsererror')?.textContent;
    const stray =
      documentElement.matches('Relationships, Types, workbook, styleSheet') && documentElement.textContent;
    return [fault, stray].filter((each) => typeof each === 'string' && each !== '') as string[];
  });

/** The texts of a sheet's cells, row by row. */
const cellsIn = (xml: Uint8Array = new Uint8Array()): string[][] =>
  [...String(Buffer.from(xml)).matchAll(/<row [^>]*>(.*?)<\/row>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<c [^>]*>(.*?)<\/c>/gs)].map(([, cell = '']) => cell.replaceAll(/<[^>]+>/g, '')),
  );
