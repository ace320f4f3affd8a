import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { analystWeeks, day, hours, LONG_ID, OPEN, ORIGINS } from './analyst-weeks.ts';
import { answered, answering, downloadedTable, drawnRows, tile } from './answer-service.ts';
import { downloaded } from './open-page.ts';
import { amount, sumOf, withCommas } from './weeks-of-events.ts';

const { open } = answering(analystWeeks, day(OPEN));

// The campaigns that lost most are in answer.test.ts; the days that were restated are above.
describe('the tasks of an analyst, from the open page', () => {
  const latest = hours.filter((row) => row.day >= 0);
  const check = (page: Page, name: string) =>
    page.getByRole('checkbox', { name: RegExp(`^${name} `) }).click();
  const run = async (page: Page) => {
    await page.getByRole('button', { name: 'Run the report' }).click();
    await page.getByRole('button', { name: 'The table as shown (Excel)' }).waitFor();
  };
  const firstColumns = async (page: Page, ...names: string[]) =>
    (await drawnRows(page)).map((row) => names.map((name) => row[name]).join(' '));

  it.each<[task: string, clicks: number, act: (page: Page) => Promise<unknown>, found: unknown]>([
    [
      'the daily revenue by device, as a file',
      7,
      async (page) => {
        for (const field of ['DeviceOrProxy', 'ServedAds', 'Opens', 'Clicks']) await check(page, field);
        await run(page);
        return (await downloaded(page)).text.split('\n').slice(1, -1);
      },
      [0, 1, 2, 3, 4, 5, 6].flatMap((one) =>
        ['Desktop', 'Mobile', null].map((device) => {
          const those = latest.filter((row) => row.day === one && row.device === device);
          const name = device === null ? '' : `"${device}"`;
          return `"${day(one)}T00:00:00Z",${name},${amount(sumOf(those, (row) => row.revenue))}`;
        }),
      ),
    ],
    [
      'the five best conversion rates by origin',
      6,
      async (page) => {
        await page.getByLabel('Advertiser', { exact: true }).click();
        for (const field of ['Day', 'DemandOrigin']) await check(page, field);
        await run(page);
        await page.getByRole('button', { name: 'Conversion rate derived' }).click();
        await page.locator('th[aria-sort=descending]').waitFor();
        return (await firstColumns(page, 'DemandOrigin', 'Conversion rate derived')).slice(0, 5);
      },
      ORIGINS.map((name, rank) => `${name} ${(rank + 1) * 10}.00 %`)
        .toReversed()
        .slice(0, 5),
    ],
    [
      'one placement on two days',
      3,
      async (page) => {
        await page.getByLabel('First day', { exact: true }).fill(day(2));
        await page.getByLabel('Last day', { exact: true }).fill(day(3));
        await page.getByLabel('Add a filter').selectOption('PlacementId');
        await page.getByRole('button', { name: 'Add the filter' }).click();
        await page.getByLabel('PlacementId, value 1', { exact: true }).fill('12');
        await run(page);
        return firstColumns(page, 'Day', 'Clicks');
      },
      [2, 3].map(
        (one) =>
          `${day(one)} ${withCommas(
            sumOf(
              latest.filter((row) => row.day === one && row.placement === 12n),
              (row) => row.clicks,
            ),
          )}`,
      ),
    ],
    [
      'the share of each device',
      3,
      async (page) => {
        await check(page, 'DeviceOrProxy');
        await run(page);
        await page.getByRole('combobox', { name: 'as', exact: true }).selectOption('bars of all days');
        return page.locator('.bars .hint').allInnerTexts();
      },
      ['50.0 %', '50.0 %', '0.0 %'],
    ],
    [
      'totals that are those added up by hand',
      0,
      async (page) => [(await tile(page, 'Clicks')).exact, (await tile(page, 'Revenue')).exact],
      [
        withCommas(sumOf(latest, (row) => row.clicks)),
        `${withCommas(amount(sumOf(latest, (row) => row.revenue)))} EUR`,
      ],
    ],
    [
      'the hours of the day',
      3,
      async (page) => {
        await check(page, 'DateTime');
        await run(page);
        await page.getByRole('combobox', { name: 'as', exact: true }).selectOption('by hour of the day');
        await page.getByRole('img', { name: /by hour of the day, UTC/ }).waitFor();
        return page.getByRole('slider', { name: 'Read the chart at' }).getAttribute('max');
      },
      '23',
    ],
    [
      'a spreadsheet without loss',
      4,
      async (page) => {
        await check(page, 'PlacementId');
        await run(page);
        const { table } = await downloadedTable(page);
        return table.some((row) => row.some(({ type, text }) => type === 'text' && text === String(LONG_ID)));
      },
      true,
    ],
  ])('are possible: %s, in %i clicks', async (_, most, act, found) => {
    const watched = await open('');
    const { page, clicks } = watched;
    await answered(page);
    if (most > 0) await page.getByRole('button', { name: 'Change', exact: true }).click();
    expect(await act(page)).toEqual(found);
    expect(await clicks()).toBe(most);
    await watched.close();
  });
});
