import { expect, it } from 'vitest';
import { knownEvents } from '../../e2e/known-events.ts';
import { ownService } from '../../e2e/service.ts';
import { accessibilityFindings, keepPicture, ownBrowser } from './open-page.ts';

const service = await ownService(knownEvents(3, 10));
const browser = await ownBrowser();

it.each(['light', 'dark'] as const)(
  'on a phone, the documents are read by everyone, in the %s theme, without scrolling sideways',
  async (colorScheme) => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, colorScheme });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    await page.goto(`${service.gatewayUrl}/docs/`);
    const urls = await page
      .locator('header a')
      .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href));
    expect(urls.length).toBeGreaterThan(15);
    for (const url of urls.filter((url) => url.includes('/docs'))) {
      await page.goto(url);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect({ url, width, findings: await accessibilityFindings(page) }).toEqual({
        url,
        width: 390,
        findings: [],
      });
    }
    await keepPicture(page, `documents-${colorScheme}`);
    expect(complaints).toEqual([]);
    await context.close();
  },
);
