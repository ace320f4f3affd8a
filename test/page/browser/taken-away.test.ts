import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import {
  analystWeeks,
  BEGUN,
  CAMPAIGNS,
  DAY_MS,
  day,
  ENDED,
  hours,
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
  hashOf,
  POLL,
  pre,
  tokenOf,
} from './answer-service.ts';
import { accessibilityFindings, downloaded } from './open-page.ts';
import { amount, sumOf } from './weeks-of-events.ts';

const { service, open } = answering(analystWeeks, day(OPEN));

describe('the table as shown', () => {
  it('is a workbook in the order of the page, with ids as texts, days as days, ratios and names', async () => {
    const watched = await open(
      hashOf({
        requestedFields: 'Day,PlacementId,DeviceOrProxy,ServedAds,Clicks,Revenue',
        ...TUE_TO_FRI,
        order: '-Clicks',
        search: 'mobile',
        top: '3',
      }),
    );
    const { page } = watched;
    await answered(page);
    const file = await downloadedTable(page);
    const stem = 'publisherperformance_Day-PlacementId-DeviceOrProxy-ServedAds-Clicks-Revenue';
    expect(file.name).toBe(`${stem}_${day(1)}_${day(4)}_as-shown.xlsx`);
    const [header, ...rows] = file.table;
    expect(header?.map(({ text }) => text)).toEqual([
      ...['Day', 'PlacementId', 'DeviceOrProxy', 'ServedAds', 'Clicks', 'Revenue'],
      ...['CTR (derived, %)', 'eCPM (derived)', 'Revenue per click (derived)'],
    ]);
    const expected = [4, 3, 2].map((one) => {
      const those = hours.filter((row) => row.day === one && row.device === 'Mobile');
      const [clicks, served] = [sumOf(those, (row) => row.clicks), sumOf(those, (row) => row.served)];
      // Half away from zero, to six places.
      const ctr = (clicks * 100n * 10_000_000n) / served;
      return {
        // Days since 1899-12-30.
        day: (MONDAY_MS + one * DAY_MS - Date.UTC(1899, 11, 30)) / DAY_MS,
        clicks,
        revenue: sumOf(those, (row) => row.revenue),
        ctr: amount((ctr + 5n) / 10n),
      };
    });
    expect(rows.map((row) => row.map(({ type, text }) => `${type} ${text}`).slice(0, 7))).toEqual(
      expected.map(({ day: serial, clicks, revenue, ctr }) => [
        `number ${serial}`,
        `text ${LONG_ID}`,
        'text Mobile',
        `number ${sumOf(
          hours.filter((row) => row.day === 1 && row.device === 'Mobile'),
          (row) => row.served,
        )}`,
        `number ${clicks}`,
        `number ${amount(revenue)}`,
        `number ${ctr}`,
      ]),
    );
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
    await askOtherwise(
      page,
      hashOf({ ...CAMPAIGNS, ...TUE_TO_FRI, compare: 'weekdays-before', order: 'CampaignId' }),
    );
    await answered(page);
    const compared = (await downloadedTable(page)).table;
    expect(compared.map((row) => row.map(({ text }) => text))).toEqual([
      ['CampaignId', 'Spend', 'Spend before', 'Spend change', 'Spend change %'],
      ['31', amount(spent([1, 2, 3, 4])), amount(spent([-6, -5, -4, -3])), '-92.000000', '-9.20'],
      ['32', 'no row', amount(4n * ENDED), `-${amount(4n * ENDED)}`, '-100.00'],
      ['33', amount(4n * BEGUN), 'no row', amount(4n * BEGUN)],
    ]);
    await watched.close();
  });
});

describe('the link', () => {
  it('holds metric, split, axis, order and search, and says if it was made as another client', async () => {
    const question = { requestedFields: 'Day,PlacementId,DeviceOrProxy,Clicks,Revenue', ...TUE_TO_FRI };
    const watched = await open(hashOf(question));
    const { page } = watched;
    await answered(page);
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
    await expect.poll(async () => (await drawnRows(page))[0]?.['Day'], POLL).toBe(day(4));
    const shown = await seen(page);
    const [mobile, desktop] = ['Mobile', 'Desktop'].map((device) =>
      sumOf(
        hours.filter((row) => row.device === device && row.day >= 1 && row.day <= 4),
        ({ revenue }) => revenue,
      ),
    );
    // The bars have their shares.
    expect(mobile).toBe(desktop);
    expect(String(shown[0])).toMatch(/50\.0 %.*50\.0 %/s);
    const link = page.url();
    expect(link).toContain(
      '&metric=Revenue&split=PlacementId&axis=all&order=-Clicks&search=desk&client=house',
    );

    const other = await open(new URL(link).hash);
    await answered(other.page);
    await expect.poll(async () => (await drawnRows(other.page))[0]?.['Day'], POLL).toBe(day(4));
    expect(await seen(other.page)).toEqual(shown);
    expect(await other.page.getByText('This link was made as').count()).toBe(0);
    await other.close();

    // Another client opens the same link.
    const colleague = await open(new URL(link).hash, { isAsDeployed: true });
    const accessToken = await tokenOf(service(), 'publisher-one');
    await colleague.page.getByLabel('Access token', { exact: true }).fill(accessToken);
    await colleague.page
      .getByText(
        'This link was made as house. You ask as publisher-one, and may see other rows and other numbers.',
      )
      .waitFor();
    expect(colleague.page.url()).toContain('client=publisher-one');
    expect(colleague.page.url()).not.toContain(accessToken.slice(0, 10));
    expect(await accessibilityFindings(colleague.page)).toEqual([]);
    await colleague.close();
    await watched.close();
  });
});
