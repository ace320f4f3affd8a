import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import {
  analystWeeks,
  BEGUN,
  CAMPAIGNS,
  DAY_MS,
  day,
  ENDED,
  hoursOf,
  LONG_ID,
  MONDAY_MS,
  OPEN,
  spent,
  TUE_TO_FRI,
} from './analyst-weeks.ts';
import {
  answered,
  answering,
  askOtherwise,
  downloadedTable,
  drawnRows,
  pre,
  tokenOf,
} from './answer-service.ts';
import { accessibilityFindings, downloaded } from './open-page.ts';
import { amount } from './weeks-of-events.ts';

const { service, open, ask } = await answering(analystWeeks, day(OPEN));

describe('the table as shown', () => {
  it('is a workbook in the order of the page, with ids as texts, days as days, ratios and names', async () => {
    const page = await ask({
      requestedFields: 'Day,PlacementId,DeviceOrProxy,ServedAds,Clicks,Revenue',
      ...TUE_TO_FRI,
      order: '-Clicks',
      search: 'mobile',
      top: '3',
    });
    const file = await downloadedTable(page);
    const stem = 'publisherperformance_Day-PlacementId-DeviceOrProxy-ServedAds-Clicks-Revenue';
    expect(file.name).toBe(`${stem}_${day(1)}_${day(4)}_as-shown.xlsx`);
    const [header, ...rows] = file.table;
    expect(header?.map(({ text }) => text)).toEqual([
      ...['Day', 'PlacementId', 'DeviceOrProxy', 'ServedAds', 'Clicks', 'Revenue'],
      ...['CTR (derived, %)', 'eCPM (derived)', 'Revenue per click (derived)'],
    ]);
    const expected = [4, 3, 2].map((one) => {
      const sum = (of: Parameters<typeof hoursOf>[0]) => hoursOf(of, [one], 'Mobile');
      const [clicks, served] = [sum((row) => row.clicks), sum((row) => row.served)];
      return [
        // Days since 1899-12-30.
        `number ${(MONDAY_MS + one * DAY_MS - Date.UTC(1899, 11, 30)) / DAY_MS}`,
        ...[`text ${LONG_ID}`, 'text Mobile', `number ${served}`, `number ${clicks}`],
        `number ${amount(sum((row) => row.revenue))}`,
        // Half away from zero, to six places.
        `number ${amount(((clicks * 100n * 10_000_000n) / served + 5n) / 10n)}`,
      ];
    });
    expect(rows.map((row) => row.map(({ type, text }) => `${type} ${text}`).slice(0, 7))).toEqual(expected);
    expect(rows[0]?.[0]?.style).toBe('1');
    const about = Object.fromEntries(file.about.map(([name, value]) => [name?.text, value?.text]));
    expect(about).toMatchObject({
      'Asked as': 'house',
      Order: 'Clicks, descending',
      Search: 'mobile',
      Rows: 'the first 3',
    });
    expect(about['Request']?.replaceAll('&amp;', '&')).toBe(await pre(page));
    expect((await downloaded(page)).name).toBe(`${stem}_${day(1)}_${day(4)}.csv`);

    // In a comparison, the columns of both periods are there.
    await askOtherwise(page, {
      ...CAMPAIGNS,
      ...TUE_TO_FRI,
      compare: 'weekdays-before',
      order: 'CampaignId',
    });
    await answered(page);
    const compared = (await downloadedTable(page)).table;
    expect(compared.map((row) => row.map(({ text }) => text))).toEqual([
      ['CampaignId', 'Spend', 'Spend before', 'Spend change', 'Spend change %'],
      ['31', amount(spent([1, 2, 3, 4])), amount(spent([-6, -5, -4, -3])), '-92.000000', '-9.20'],
      ['32', 'no row', amount(4n * ENDED), `-${amount(4n * ENDED)}`, '-100.00'],
      ['33', amount(4n * BEGUN), 'no row', amount(4n * BEGUN)],
    ]);
  });
});

describe('the link', () => {
  it('holds metric, split, axis, order and search, and says if it was made as another client', async () => {
    const question = { requestedFields: 'Day,PlacementId,DeviceOrProxy,Clicks,Revenue', ...TUE_TO_FRI };
    const page = await ask(question);
    await page.getByRole('combobox', { name: 'Show', exact: true }).selectOption('Revenue');
    await page.getByRole('combobox', { name: 'split by' }).selectOption('PlacementId (2 values)');
    await page.getByRole('combobox', { name: 'as', exact: true }).selectOption('bars of all days');
    await page.getByRole('button', { name: 'Clicks', exact: true }).click();
    await page.getByRole('searchbox', { name: 'Search the rows' }).fill('desk');
    await page.getByText('4 of 8 rows').waitFor();
    const seen = async (on: Page) => [
      await on.locator('.bars li').allInnerTexts(),
      await drawnRows(on),
      await on.getByRole('searchbox', { name: 'Search the rows' }).inputValue(),
    ];
    await expect.poll(async () => (await drawnRows(page))[0]?.['Day']).toBe(day(4));
    const shown = await seen(page);
    const [mobile, desktop] = ['Mobile', 'Desktop'].map((device) =>
      hoursOf(({ revenue }) => revenue, [1, 2, 3, 4], device),
    );
    // The bars have their shares.
    expect(mobile).toBe(desktop);
    expect(String(shown[0])).toMatch(/50\.0 %.*50\.0 %/s);
    const link = page.url();
    expect(link).toContain(
      '&metric=Revenue&split=PlacementId&axis=all&order=-Clicks&search=desk&client=house',
    );

    const linked = Object.fromEntries(new URLSearchParams(new URL(link).hash.slice(1)));
    const other = await ask(linked);
    await expect.poll(async () => (await drawnRows(other))[0]?.['Day']).toBe(day(4));
    expect(await seen(other)).toEqual(shown);
    expect(await other.getByText('This link was made as').count()).toBe(0);

    // Another client opens the same link.
    const colleague = await open(linked, { isAsDeployed: true });
    const accessToken = await tokenOf(service, 'publisher-one');
    await colleague.getByLabel('Access token', { exact: true }).fill(accessToken);
    const words =
      'This link was made as house. You ask as publisher-one, and may see other rows and other numbers.';
    await colleague.getByText(words).waitFor();
    expect(colleague.url()).toContain('client=publisher-one');
    expect(colleague.url()).not.toContain(accessToken.slice(0, 10));
    expect(await accessibilityFindings(colleague)).toEqual([]);
  });
});
