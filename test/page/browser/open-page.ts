import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page, type Route } from 'playwright-core';
import { afterAll, expect, onTestFinished } from 'vitest';
import type { Service } from '../../e2e/service.ts';
import { findBrowser } from './find-browser.ts';

/** Starts the machine's Chromium for all tests of a file. It is closed after the last. Throws if the machine has none. */
export async function ownBrowser(): Promise<Browser> {
  const executablePath = await findBrowser();
  if (executablePath === undefined)
    throw new Error(
      'There is no Chromium on this machine. Install it (apt-get install chromium) or set CHROMIUM.',
    );
  // Chromium's sandbox does not work as root in containers. The tests open only pages of this machine.
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  afterAll(() => browser.close());
  return browser;
}

export interface OpenOptions extends BrowserContextOptions {
  /** Whether the service offers no sample partners. The page then asks nothing by itself. */
  readonly isAsDeployed?: boolean;
  /** Whether the browser logs errors that the page handles, such as an answer 503. */
  readonly mayComplain?: boolean;
}

declare global {
  // This variable exists in the page, not in the test.
  var watched: { clicks: number; violations: string[] };
}

/**
 * Opens an address in a browser context of its own, which holds nothing from another test. After the test, closes it; the
 * test fails if the page broke its content security policy, or threw or logged an error or a warning.
 *
 * @param prepare runs before the page loads
 */
export async function openPage(
  browser: Browser,
  url: string,
  { isAsDeployed = false, mayComplain = false, ...options }: OpenOptions = {},
  prepare: (page: Page) => Promise<unknown> = async () => undefined,
): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    const { url: from } = message.location();
    // The browser logs 4xx answers to requests for days, reports and sample partners, although the page handles them.
    const isToldSo = /status of (4\d\d)/.test(message.text()) && /\/(days|reporting|\.local)/.test(from);
    if (['error', 'warning'].includes(message.type()) && !isToldSo)
      complaints.push(`${message.text()} ${from}`);
  });
  await page.addInitScript(() => {
    globalThis.watched = { clicks: 0, violations: [] };
    addEventListener('click', ({ isTrusted, detail }) => isTrusted && detail > 0 && watched.clicks++, true);
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      watched.violations.push(`${violatedDirective} ${blockedURI}`),
    );
  });
  // Removes the route after one request: as long as a page has a route, all its requests go through the test.
  if (isAsDeployed)
    await page.route('**/.local/partners', (route) => route.fulfill({ status: 404, body: '' }), { times: 1 });
  await prepare(page);
  await page.goto(url);
  await page.getByRole('heading', { name: 'Performance reports' }).waitFor();
  onTestFinished(async () => {
    const violations = await page.evaluate(() => watched.violations);
    await context.close();
    expect([...violations, ...(mayComplain ? [] : complaints)]).toEqual([]);
  });
  return page;
}

/** The number of clicks of the mouse. Presses of a key do not count. */
export const clicksOn = (page: Page): Promise<number> => page.evaluate(() => watched.clicks);

/** Opens the page as deployed, and fills in a token. The page asks nothing by itself. */
export async function openUnasked(
  browser: Browser,
  { gatewayUrl, token }: Service,
  hash: string,
  options: OpenOptions = {},
): Promise<Page> {
  const page = await openPage(browser, `${gatewayUrl}/${hash}`, { isAsDeployed: true, ...options });
  await page.getByLabel('Access token', { exact: true }).fill(token);
  return page;
}

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Resolves to the faults that the accessibility checker finds in the present state of the page. */
export async function accessibilityFindings(page: Page): Promise<string[]> {
  // The test evaluates the script, because the page's content security policy refuses a script element.
  await page.evaluate(await readFile(axe, 'utf8'));
  return page.evaluate(async () => {
    const { axe } = globalThis as never as { axe: typeof import('axe-core') };
    const runOnly = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    const { violations } = await axe.run(document, { runOnly });
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
    );
  });
}

export const PHONE = { width: 390, height: 844 };
export const SCREEN = { width: 1280, height: 800 };
export const sidewaysOf = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

export const reportRead = (page: Page): Promise<void> =>
  page.getByRole('link', { name: 'Download CSV' }).waitFor();

/** Unfolds the form if it is folded. */
export async function openForm(page: Page): Promise<void> {
  const change = page.getByRole('button', { name: 'Change', exact: true });
  if (await change.isVisible()) await change.click();
  await page.locator('#builder').waitFor();
}

export async function pressRun(page: Page): Promise<void> {
  await openForm(page);
  await page.getByRole('button', { name: 'Run the report' }).click();
}

export async function runReport(page: Page): Promise<void> {
  await pressRun(page);
  await reportRead(page);
}

/** Adds an empty filter in the open form. */
export async function addFilter(page: Page, name: string): Promise<void> {
  await page.getByLabel('Add a filter', { exact: true }).selectOption(name);
  await page.getByRole('button', { name: 'Add the filter' }).click();
}

/**
 * Answers the page's requests for publisher reports with a problem, in place of the service; at most `times` times.
 * Resolves to a function that counts them.
 */
export async function refuseReports(page: Page, problem: Problem, times = Infinity): Promise<() => number> {
  const { retryAfter, ...document } = problem;
  const headers = {
    'Content-Type': 'application/problem+json',
    ...(retryAfter && { 'Retry-After': retryAfter }),
  };
  let count = 0;
  const refuse = (route: Route) => {
    count += 1;
    return route.fulfill({ status: problem.status, headers, body: JSON.stringify(document) });
  };
  await page.route(REPORTS, refuse, times === Infinity ? {} : { times });
  return () => count;
}

/** The requests for publisher reports, as a page's routes name them. */
export const REPORTS = '**/reporting/publisherperformance?**';

interface Problem {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly instance?: string;
  readonly errors?: readonly object[];
  /** The header. */
  readonly retryAfter?: string;
}

export async function downloaded(page: Page): Promise<{ name: string; text: string }> {
  const coming = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download CSV' }).click();
  const download = await coming;
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
}

/** Saves a picture of the whole page in the directory that SCREENSHOTS names. Without SCREENSHOTS, does nothing. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const directory = process.env['SCREENSHOTS'];
  if (directory) await page.screenshot({ path: `${directory}/${name}.png`, fullPage: true });
}
