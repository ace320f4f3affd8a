import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { findBrowser } from './find-browser.ts';

/** Starts the browser of the machine. Throws where there is none. */
export async function startBrowser(): Promise<Browser> {
  const executablePath = await findBrowser();
  if (executablePath === undefined)
    throw new Error(
      'There is no Chromium on this machine. Install it (apt-get install chromium) or set CHROMIUM.',
    );
  // The sandbox does not work as root in containers. Only pages of this machine are opened.
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

/** A page that is watched: `close` throws if it did what it must never do. */
export interface WatchedPage {
  readonly page: Page;
  /** The hosts that it sent requests to. */
  readonly hosts: ReadonlySet<string>;
  /** How often the person has clicked. */
  clicks(): Promise<number>;
  /** Closes it; throws where it broke its content security policy, threw an error or logged one. */
  close(): Promise<void>;
}

export interface OpenOptions extends BrowserContextOptions {
  /** There are no sample partners, and so nothing is asked by itself. */
  readonly isAsDeployed?: boolean;
}

declare global {
  // In the page.
  var watched: { clicks: number; violations: string[] };
}

/**
 * Opens an address in a browser of its own, so that nothing is kept from another test.
 *
 * @param prepare what is done before the page is asked for
 */
export async function openPage(
  browser: Browser,
  url: string,
  { isAsDeployed = false, ...options }: OpenOptions = {},
  prepare: (page: Page) => Promise<unknown> = async () => undefined,
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  const hosts = new Set<string>();
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    const { url: from } = message.location();
    // 4xx answers that the page handles, but that the browser logs: of days, reports and sample partners.
    const isToldSo = /status of (4\d\d)/.test(message.text()) && /\/(days|reporting|\.local)/.test(from);
    if (['error', 'warning'].includes(message.type()) && !isToldSo)
      complaints.push(`${message.text()} ${from}`);
  });
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol.startsWith('http')) hosts.add(host);
  });
  await page.addInitScript(() => {
    globalThis.watched = { clicks: 0, violations: [] };
    addEventListener('click', ({ isTrusted, detail }) => isTrusted && detail > 0 && watched.clicks++, true);
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      watched.violations.push(`${violatedDirective} ${blockedURI}`),
    );
  });
  // Once: as long as there is a route, all requests of the page go by way of the test.
  if (isAsDeployed)
    await page.route('**/.local/partners', (route) => route.fulfill({ status: 404, body: '' }), { times: 1 });
  await prepare(page);
  await page.goto(url);
  await page.getByRole('heading', { name: 'Performance reports' }).waitFor();
  return {
    page,
    hosts,
    clicks: () => page.evaluate(() => watched.clicks),
    async close() {
      const violations = page.isClosed() ? [] : await page.evaluate(() => watched.violations);
      await context.close();
      expect([...violations, ...complaints]).toEqual([]);
    },
  };
}

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** What the accessibility checker finds in the page as it stands. */
export async function accessibilityFindings(page: Page): Promise<string[]> {
  // Evaluated by the test: the page's policy refuses a script element.
  await page.evaluate(await readFile(axe, 'utf8'));
  return page.evaluate(async () => {
    const { violations } = await (globalThis as never as { axe: typeof import('axe-core') }).axe.run(
      document,
      {
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
      },
    );
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
    );
  });
}

/** Waits until a report is there and read. */
export const reportRead = (page: Page): Promise<void> =>
  page.getByRole('link', { name: 'Download CSV' }).waitFor();

/** Unfolds the form, where it is folded. */
export async function openForm(page: Page): Promise<void> {
  const change = page.getByRole('button', { name: 'Change', exact: true });
  if (await change.isVisible()) await change.click();
  await page.locator('#builder').waitFor();
}

/** Asks for the report that is chosen. */
export async function pressRun(page: Page): Promise<void> {
  await openForm(page);
  await page.getByRole('button', { name: 'Run the report' }).click();
}

/** Runs the report that is chosen, and waits for its end. */
export async function runReport(page: Page): Promise<void> {
  await pressRun(page);
  await reportRead(page);
}

/** The name and the text of the downloaded file. */
export async function downloaded(page: Page): Promise<{ name: string; text: string }> {
  const coming = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download CSV' }).click();
  const download = await coming;
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
}

/** Keeps a picture of the whole page in the directory that SCREENSHOTS names, to be looked at. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const directory = process.env['SCREENSHOTS'];
  if (directory) await page.screenshot({ path: `${directory}/${name}.png`, fullPage: true });
}
