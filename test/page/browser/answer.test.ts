import { describe, expect, it } from 'vitest';
import { withWeekday } from '../../../page/src/question/presets.ts';
import { answered, answering, askOtherwise, drawnRows, hashOf, POLL, totalsRow } from './answer-service.ts';
import { downloaded } from './open-page.ts';
import {
  amount,
  campaignDays,
  DEVICES,
  daysBack,
  deviceDays,
  FULL_DAY,
  fullDay,
  OPEN_DAY,
  sumOf,
  WEEK,
  withCommas,
} from './weeks-of-events.ts';

const { open } = answering();

describe('a comparison of the campaigns’ spend', () => {
  it('shows the largest falls since the week before in eight clicks, without the open day', async () => {
    const watched = await open();
    const { page, clicks } = watched;
    await answered(page);
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByLabel('Advertiser', { exact: true }).click();
    await page.getByRole('checkbox', { name: /^CampaignId / }).click();
    await page.getByRole('checkbox', { name: /^Day / }).click();
    await page.getByLabel('The same weekdays before').click();
    await page.getByRole('button', { name: 'Run the report' }).click();
    await page.getByRole('button', { name: 'Spend change', exact: true }).click();
    await page
      .getByRole('columnheader', { name: 'Spend change', exact: true })
      .and(page.locator('[aria-sort=descending]'))
      .waitFor();
    await page.getByRole('button', { name: 'Spend change', exact: true }).click();

    /** The spend of a campaign in six days: from `first` to `first + 5` days before the newest day. */
    const spent = (campaign: bigint, first: number) =>
      sumOf(
        campaignDays.filter((row) => row.campaign === campaign && row.back >= first && row.back < first + 6),
        ({ spend }) => spend,
      );
    const campaigns = [...new Set(campaignDays.map(({ campaign }) => campaign))];
    const falls = campaigns
      .map((campaign) => ({ campaign, now: spent(campaign, 1), before: spent(campaign, 8) }))
      .sort((a, b) => Number(a.now - a.before - (b.now - b.before)));
    const three = falls.slice(0, 3).map(({ campaign, now, before }) => ({
      CampaignId: String(campaign),
      Spend: campaign === 27n ? 'no row' : withCommas(amount(now)),
      'Spend before': withCommas(amount(before)),
      'Spend change': withCommas(amount(now - before)),
    }));
    expect(three.map(({ CampaignId }) => CampaignId)).toEqual(['21', '27', '23']);
    await expect
      .poll(async () => (await drawnRows(page)).slice(0, 3), POLL)
      .toEqual(three.map((row) => expect.objectContaining(row)));
    expect(await clicks()).toBeLessThanOrEqual(8);

    const rows = await drawnRows(page);
    expect(rows).toHaveLength(campaigns.length);
    // The table also has campaign 27, which only the week before has.
    expect(await page.locator('.table-controls h3').innerText()).toBe(`${campaigns.length} rows`);
    expect((await totalsRow(page))[0]).toBe('All rows');
    const words = await page.locator('.compared > p').innerText();
    const [first, last, before, end] = [6, 1, 13, 8].map((back) => withWeekday(daysBack(back)));
    expect(words).toBe(
      `6 days against as many: ${first} to ${last} with ${before} to ${end}. ` +
        `Left out on both sides, since a day is open: ${OPEN_DAY} against ${daysBack(7)}. ` +
        'The file to download is of the days that are compared.',
    );
    await watched.close();
  });
});

describe('the table', () => {
  const QUESTION = hashOf({ requestedFields: 'PlacementId,Clicks', first: FULL_DAY, last: FULL_DAY });

  it('sorts all rows exactly, searches them, limits their number, and adds them up', async () => {
    const watched = await open(QUESTION);
    const { page } = watched;
    await answered(page);
    const header = (name: string) => page.getByRole('columnheader', { name, exact: true });
    const sortBy = (name: string) => page.getByRole('button', { name, exact: true }).click();
    const sorted = async (name: string, direction: string) =>
      expect.poll(() => header(name).getAttribute('aria-sort'), POLL).toBe(direction);
    const first = (count: number) =>
      expect.poll(
        async () =>
          (await drawnRows(page)).slice(0, count).map((row) => `${row['PlacementId']} ${row['Clicks']}`),
        POLL,
      );
    const asShown = ({ placement, clicks }: (typeof fullDay)[number]) => `${placement} ${withCommas(clicks)}`;
    const by = (order: (a: (typeof fullDay)[number], b: (typeof fullDay)[number]) => bigint) =>
      fullDay.toSorted((a, b) => (order(a, b) < 0n ? -1 : 1)).map(asShown);
    const largestFirst = by((a, b) => b.clicks - a.clicks);
    const all = withCommas(sumOf(fullDay, ({ clicks }) => clicks));
    expect(largestFirst[0]).toBe('9007199254740992 9,007,199,254,740,993');

    await sorted('Clicks', 'none');
    await sortBy('Clicks');
    await first(5).toEqual(largestFirst.slice(0, 5));
    await sorted('Clicks', 'descending');
    expect(await totalsRow(page)).toEqual(['All rows', all]);
    await sortBy('Clicks');
    await first(3).toEqual(by((a, b) => a.clicks - b.clicks).slice(0, 3));
    await sorted('Clicks', 'ascending');
    await sortBy('PlacementId');
    await sorted('PlacementId', 'ascending');
    await sorted('Clicks', 'none');
    await sortBy('PlacementId');
    await sorted('PlacementId', 'descending');
    const byId = by((a, b) => b.placement - a.placement);
    expect(byId[0]).toMatch(/^9007199254740994 /);
    await first(4).toEqual(byId.slice(0, 4));
    // The End key leads to the last row, although the page has not loaded the rows in between.
    await page.getByRole('region', { name: 'Rows of the report' }).focus();
    await page.keyboard.press('End');
    await expect.poll(async () => (await drawnRows(page)).at(-1)?.['PlacementId'], POLL).toBe('1');
    const rowIndex = page.locator(`tr[aria-rowindex="${fullDay.length + 1}"]`);
    expect(await rowIndex.evaluate((row) => row.getBoundingClientRect().bottom <= innerHeight)).toBe(true);
    await sortBy('PlacementId');
    await sorted('PlacementId', 'none');

    await page.getByLabel('Search the rows').fill('99');
    const found = fullDay.filter(({ placement }) => String(placement).includes('99'));
    const some = withCommas(String(found.length));
    await page.getByText(`${some} of ${withCommas(String(fullDay.length))} rows`).waitFor();
    expect(await totalsRow(page)).toEqual([
      `These ${some} rows`,
      withCommas(sumOf(found, ({ clicks }) => clicks)),
    ]);
    await page.getByLabel('Search the rows').fill('');
    await sortBy('Clicks');
    await page.getByLabel('How many rows').selectOption('the first 10');
    await page.getByText(`10 of ${withCommas(String(fullDay.length))} rows`).waitFor();
    await expect
      .poll(async () => (await drawnRows(page)).map((row) => `${row['PlacementId']} ${row['Clicks']}`), POLL)
      .toEqual(largestFirst.slice(0, 10));
    const ten = fullDay.toSorted((a, b) => (b.clicks > a.clicks ? 1 : -1)).slice(0, 10);
    expect(await totalsRow(page)).toEqual(['These 10 rows', withCommas(sumOf(ten, ({ clicks }) => clicks))]);
    // The download still has all rows of the file.
    expect((await downloaded(page)).text.trim().split('\n')).toHaveLength(fullDay.length + 1);
    await watched.close();
  });
});

describe('the chart', () => {
  const metricOf = (device: string, of: 'clicks' | 'revenue') =>
    sumOf(
      deviceDays.filter((row) => row.device === device && row.back < 7),
      (row) => row[of],
    );

  it('has a default split of at least two values, or the chosen split, and says what it omits', async () => {
    const watched = await open(
      hashOf({ requestedFields: 'Day,ContainerId,DeviceOrProxy,PlacementId,Clicks,Revenue', ...WEEK }),
    );
    const { page } = watched;
    await answered(page);
    const split = page.getByRole('combobox', { name: 'split by' });
    const shape = page.getByRole('combobox', { name: 'as', exact: true });
    const names = async () =>
      (await page.locator('.legend li').allInnerTexts()).map((text) => text.split(/\s/)[0]);
    expect(await split.inputValue()).toBe('PlacementId');
    expect(await split.locator('option').allInnerTexts()).toEqual([
      'nothing',
      'ContainerId (1 value)',
      'DeviceOrProxy (16 values)',
      'PlacementId (3 values)',
    ]);
    expect((await names()).slice(0, 3).sort()).toEqual(['11', '12', '13']);

    await split.selectOption('DeviceOrProxy (16 values)');
    const all = sumOf(DEVICES, (device) => metricOf(device, 'clicks'));
    const drawn = sumOf(DEVICES.slice(0, 7), (device) => metricOf(device, 'clicks'));
    const rest = Math.round((100 * Number(all - drawn)) / Number(all));
    await page
      .getByText(`The 7 largest of DeviceOrProxy, and 9 others: ${rest} %.`, { exact: true })
      .waitFor();
    expect(await page.locator('.legend li').allInnerTexts()).toEqual([
      ...DEVICES.slice(0, 7).map((device) => `${device} ${withCommas(metricOf(device, 'clicks'))}`),
      'open day: more events may come',
    ]);
    await shape.selectOption('bars of all days');
    await expect
      .poll(() => page.locator('.bars .bar-name').allInnerTexts(), POLL)
      .toEqual(DEVICES.slice(0, 7));
    await shape.selectOption('lines over time');
    await split.selectOption('nothing');
    await expect.poll(names, POLL).toEqual(['All', 'open']);

    await watched.close();
  });
});

describe('ratios', () => {
  it('come from sums, are marked, are not in the file, and are a dash if the denominator is zero', async () => {
    const watched = await open(
      hashOf({ requestedFields: 'DeviceOrProxy,ServedAds,Clicks,Revenue', ...WEEK }),
    );
    const { page } = watched;
    await answered(page);
    const rows = deviceDays.filter(({ back }) => back < 7);
    const clicks = sumOf(rows, (row) => row.clicks);
    const served = sumOf(rows, (row) => row.served);
    // The mean of the devices' own ratios would be a different figure.
    const ctr = `${((100 * Number(clicks)) / Number(served)).toFixed(2)} %`;
    const ratios = page.getByLabel('Ratios of the totals, derived by this page');
    expect(await ratios.locator('div', { hasText: 'CTR' }).locator('dd').innerText()).toBe(ctr);
    expect((await totalsRow(page))[4]).toBe(ctr);
    expect(await page.getByRole('columnheader').allInnerTexts()).toEqual([
      'DeviceOrProxy',
      'ServedAds',
      'Clicks',
      'Revenue',
      'CTR derived',
      'eCPM derived',
      'Revenue per click derived',
    ]);
    const proxy = (await drawnRows(page)).find((row) => row['DeviceOrProxy'] === 'Proxy');
    expect(proxy).toMatchObject({ ServedAds: '0', 'CTR derived': '–no value', 'eCPM derived': '–no value' });
    expect((await downloaded(page)).text.split('\n')[0]).toBe(
      '"DeviceOrProxy","ServedAds","Clicks","Revenue"',
    );
    await askOtherwise(
      page,
      hashOf({ requestedFields: 'Day,ServedAds,Clicks', ...WEEK, 'filter[DeviceOrProxy]': 'Proxy' }),
    );
    await answered(page);
    expect(await ratios.locator('div', { hasText: 'CTR' }).locator('dd').innerText()).toBe('–');
    await watched.close();
  });
});
