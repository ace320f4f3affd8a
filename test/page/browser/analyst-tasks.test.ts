import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { analystWeeks, day, OPEN, ORIGINS } from './analyst-weeks.ts';
import { answered, answering, drawnRows } from './answer-service.ts';

const { open } = answering(analystWeeks, day(OPEN));

// The campaigns that lost most are in answer.test.ts; the days that were restated are above.
describe('the tasks of an analyst, from the open page', () => {
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
