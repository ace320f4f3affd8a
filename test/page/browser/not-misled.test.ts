import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  analystWeeks,
  BEGUN,
  CAMPAIGNS,
  CONTAINER_OPENS,
  day,
  ENDED,
  hoursOf,
  OPEN,
  PLACEMENT_OPENS,
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
  STALE,
  tile,
  tokenOf,
} from './answer-service.ts';
import {
  accessibilityFindings,
  clicksOn,
  downloaded,
  keepPicture,
  openForm,
  openPage,
  REPORTS,
  refuseReports,
} from './open-page.ts';
import { amount, withCommas } from './weeks-of-events.ts';

const { service, browser, ask } = await answering(analystWeeks, day(OPEN));

/** What any client gets for a URL that the page shows. */
const got = async (url: string): Promise<string> =>
  (await fetch(url, { headers: { Authorization: `Bearer ${await tokenOf(service, 'house')}` } })).text();
const totalBefore = (page: Page, metric: string) =>
  page.getByLabel('Totals of the whole file').locator('div', { hasText: metric }).locator('.before');
/** A browser in another zone: all days and hours of the page are UTC. */
const FAR = { timezoneId: 'America/New_York' };

describe('a comparison', () => {
  it('has the same weekdays on both sides, and says where it has not, and which day is beside which', async () => {
    const page = await ask(
      { ...CAMPAIGNS, ...TUE_TO_FRI, 'filter[CampaignId]': '31', compare: 'period-before' },
      FAR,
    );
    await answered(page);
    expect(await totalBefore(page, 'Spend').innerText()).toContain('(+26.92 %)');
    expect(await page.locator('.compared > p').innerText()).toBe(
      `4 days against as many: Tue ${day(1)} to Fri ${day(4)} with Fri ${day(-3)} to Mon ${day(0)}. ` +
        'The weekdays differ: a change may be that of the weekdays. Compare with the same weekdays.',
    );
    await openForm(page);
    await page.getByLabel('The same weekdays before').click();
    await page.getByRole('button', { name: 'Run the report' }).click();
    await page.getByText(`with Tue ${day(-6)} to Fri ${day(-3)}.`, { exact: false }).waitFor();
    expect(await totalBefore(page, 'Spend').innerText()).toContain('(-9.20 %)');
    expect(await page.locator('.compared > p').innerText()).not.toContain('differ');
    await page.getByText('Which day is beside which').click();
    expect(await page.locator('.compared li').allInnerTexts()).toEqual(
      ['Tue', 'Wed', 'Thu', 'Fri'].map(
        (name, index) => `${name} ${day(1 + index)} beside ${name} ${day(index - 6)}`,
      ),
    );
    await keepPicture(page, 'compared-by-weekday');
  });

  it('shows both requests, whose files have the rows of the table, although days are left out', async () => {
    // The window ends with the open day, which is left out with its Sunday before.
    const page = await ask({ ...CAMPAIGNS, first: day(0), last: day(OPEN), compare: 'weekdays-before' });
    expect(await page.locator('.compared > p').innerText()).toContain(
      ` Left out on both sides, since a day is open: ${day(OPEN)} against ${day(OPEN - 7)}. ` +
        'The file to download is of the days that are compared.',
    );
    const file = await downloaded(page);
    expect(await got(await pre(page))).toBe(file.text);
    expect(file.text).toBe(
      `"CampaignId","Spend"\n31,${amount(spent([0, 1, 2, 3, 4, 5]))}\n33,${amount(6n * BEGUN)}\n`,
    );
    expect(file.name).toBe(
      `advertiserperformance_CampaignId-Spend_${day(0)}_${day(5)}_against_${day(-7)}_${day(-2)}.csv`,
    );
    await page.getByLabel(`The days before: ${day(-7)} to ${day(-2)}`).check();
    expect(await got(await pre(page))).toBe(
      `"CampaignId","Spend"\n31,${amount(spent([-7, -6, -5, -4, -3, -2]))}\n32,${amount(6n * ENDED)}\n`,
    );
    await page.getByRole('tab', { name: 'curl' }).click();
    expect(await pre(page)).toContain(`advertiserperformance_CampaignId-Spend_${day(-7)}_${day(-2)}.csv`);

    // A campaign that ended has fallen by 100 %, and its row is counted. The largest fall is the first.
    const change = page.getByRole('columnheader', { name: 'Spend change', exact: true });
    for (const direction of ['descending', 'ascending']) {
      await change.getByRole('button').click();
      await expect.poll(() => change.getAttribute('aria-sort')).toBe(direction);
    }
    const rows = await drawnRows(page);
    expect(rows.map((row) => row['CampaignId'])).toEqual(['32', '31', '33']);
    expect(rows.find((row) => row['CampaignId'] === '32')).toMatchObject({
      Spend: 'no row',
      'Spend change': `-${withCommas(amount(6n * ENDED))}`,
      'Spend change %': '-100.00 %',
    });
    expect(rows.find((row) => row['CampaignId'] === '33')?.['Spend change %']).toBe('–no value');
    expect(await page.locator('.status').innerText()).toMatch(
      /^3 rows, of which 1 only on the days before; in the file 2 rows, \d+ bytes, made in .* s, asked as house\.$/,
    );
    // Before it is run, a comparison tells that its requests are not known yet.
    await openForm(page);
    await page.getByLabel('The days just before').click();
    await page.getByText('run it to see both').waitFor();
  });
});

it('what must be known to read a figure stands beside it: the filters, the level of Opens, and who asked', async () => {
  const filtered = { ...TUE_TO_FRI, 'filter[PlacementId]': '12' };
  const page = await ask({ requestedFields: 'Opens,Clicks', ...filtered });
  const line = page.getByRole('region', { name: 'The question' });
  expect(await line.innerText()).toContain('Opens, Clicks · only PlacementId 12');
  expect((await tile(page, 'Opens')).exact).toBe(withCommas(4n * CONTAINER_OPENS));
  await page.getByText('Opens are those of each whole ContainerId that holds').waitFor();
  expect(await page.locator('.totals dt').allInnerTexts()).toEqual(['Opens by ContainerId', 'Clicks']);
  expect(await page.getByRole('columnheader', { name: 'Opens' }).innerText()).toBe('Opens by ContainerId');
  expect(await page.locator('.status').innerText()).toContain('asked as house.');
  expect(await page.getByRole('tabpanel').innerText()).toContain('The page asks as house');
  const both = { ...filtered, 'filter[DeviceOrProxy]': 'Desktop' };
  await askOtherwise(page, { requestedFields: 'PlacementId,Opens', ...both });
  await answered(page);
  expect(await line.innerText()).toContain('only PlacementId 12 · only DeviceOrProxy "Desktop"');
  expect((await tile(page, 'Opens')).exact).toBe(withCommas(4n * 24n * PLACEMENT_OPENS));
  expect(await page.locator('.totals dt').allInnerTexts()).toEqual(['Opens by PlacementId']);
  expect(await page.getByText('Opens are those of').count()).toBe(0);
});

it('a failure is tried again after the time that the service tells, three times, and keeps the earlier answer', async () => {
  const page = await ask({ requestedFields: 'Day,Clicks', ...TUE_TO_FRI }, { mayComplain: true });
  const shown = (await tile(page, 'Clicks')).shown;
  const busy = { title: 'Busy', status: 503, detail: 'Too many reports are being made.' };
  await refuseReports(page, { ...busy, retryAfter: '30' });
  await askOtherwise(page, { requestedFields: 'Day,Revenue', ...TUE_TO_FRI });
  await page.getByText('The page asks again by itself, 1 of 3 times.').waitFor();
  expect(await page.locator('.failure').innerText()).toMatch(/In (30|29|28) s\./);
  // The earlier answer stays, marked, and can still be sorted.
  expect(await page.locator('.kept .notice').innerText()).toContain(
    `The answer below is an earlier one: Publisher · ${day(1)} to ${day(4)} · by Day · Clicks.`,
  );
  expect((await tile(page, 'Clicks')).shown).toBe(shown);
  await page.getByRole('button', { name: 'Clicks', exact: true }).click();
  await page.locator('th[aria-sort=descending]').waitFor();
  expect((await drawnRows(page))[0]?.['Day']).toBe(day(4));
  expect(await page.getByRole('link', { name: 'Download CSV' }).count()).toBe(0);
  await keepPicture(page, 'failed-with-earlier-answer');
  await page.getByRole('button', { name: 'Don’t ask again' }).click();
  await page.getByText(STALE).waitFor();
  await page.getByRole('link', { name: 'Download CSV' }).waitFor();

  // Three further tries come by themselves, and no more.
  const refused = await refuseReports(page, { ...busy, retryAfter: '1' });
  await page.getByRole('button', { name: 'Run the report' }).click();
  await page.getByText('The page has asked again 3 times. The service can be asked again:').waitFor();
  expect(refused()).toBe(4);
  expect((await tile(page, 'Clicks')).shown).toBe(shown);
  // As soon as the service answers, a try by itself brings the new report.
  await page.getByRole('button', { name: 'Run it again' }).click();
  await page.getByText('The page asks again by itself, 1 of 3 times.').waitFor();
  await page.unroute(REPORTS);
  await page.getByRole('link', { name: 'Download CSV' }).waitFor();
  const revenue = hoursOf(({ revenue }) => revenue, [1, 2, 3, 4]);
  expect((await tile(page, 'Revenue')).exact).toBe(`${withCommas(amount(revenue))} EUR`);
  expect(await page.locator('.kept .notice').count()).toBe(0);

  // Cancel brings the answer back that was there before.
  service.stack.faults.set([{ on: 'query', delayMs: 60_000 }]);
  await askOtherwise(page, { requestedFields: 'Day,ServedAds', ...TUE_TO_FRI });
  await page.locator('.kept .notice').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).first().click();
  await page.getByText(STALE).waitFor();
  expect(await page.locator('.totals dt').allInnerTexts()).toEqual(['Revenue']);
  // A chart that was changed while another answer was made stays as it was chosen.
  await page.getByRole('button', { name: 'Run the report' }).last().click();
  await page.locator('.kept .notice').waitFor();
  await page.getByRole('combobox', { name: 'as', exact: true }).selectOption('bars of all days');
  await page.locator('.bars').waitFor();
  service.stack.faults.set([]);
  await page.getByRole('link', { name: 'Download CSV' }).waitFor();
  await page.locator('.bars').waitFor();
  expect(page.url()).toContain('axis=all');
});

it('the days that were restated since the last visit are named, and the latest ones are a click away', async () => {
  const page = await ask({ requestedFields: 'Day,Clicks', first: day(0), last: day(OPEN) });
  const reload = async (later: number) => {
    await page.clock.setFixedTime(Date.now() + later);
    await page.reload();
    await answered(page);
  };
  await reload(3_600_000);
  expect(await page.getByText('Since your last visit').count()).toBe(0);
  // A final day and the open one are restated: only the first is news.
  const folder = (one: number) => join(service.eventsDirectory, 'publisher_events', `day=${day(one)}`);
  onTestFinished(async () => {
    for (const one of [2, OPEN]) await rm(join(folder(one), 'more.parquet'), { force: true });
  });
  for (const one of [2, OPEN]) {
    const file = (await readdir(folder(one))).find((name) => name.endsWith('.parquet')) ?? '';
    await writeFile(join(folder(one), 'more.parquet'), await readFile(join(folder(one), file)));
  }
  await reload(7_200_000);
  const news = page.locator('.notice', { hasText: 'Since your last visit' });
  await news.waitFor();
  expect(await news.innerText()).toMatch(
    RegExp(`^Since your last visit \\(.* UTC\\), 1 day was restated: Wed ${day(2)}\\. Ask for this day$`),
  );
  // A reload belongs to the same visit. Another client has its own visits.
  await reload(7_260_000);
  await news.waitFor();
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('eyJ');
  expect(await clicksOn(page)).toBe(0);
  await news.getByRole('button').click();
  await expect.poll(() => page.locator('.table-controls h3').innerText()).toBe('1 row');
  expect((await drawnRows(page))[0]?.['Day']).toBe(day(2));
  expect(await accessibilityFindings(page)).toEqual([]);
  await openForm(page);
  await page.getByLabel('publisher-one').check();
  await page.getByRole('button', { name: 'Run the report' }).click();
  await page.getByText('asked as publisher-one').waitFor();
  expect(await news.count()).toBe(0);

  await askOtherwise(page, { requestedFields: 'Day,Clicks', first: day(-60), last: day(-40) });
  await page.getByText(`The newest day with events is Sun ${day(OPEN)}.`).waitFor();
  await page.getByRole('button', { name: 'Show the latest 7 days with data' }).click();
  await answered(page);
  expect((await drawnRows(page)).map((row) => row['Day'])).toEqual([0, 1, 2, 3, 4, 5, 6].map(day));
});

it('the table as shown is a workbook in the order of the page, with the facts about it', async () => {
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
  const clicks = [4, 3, 2].map((one) => String(hoursOf((hour) => hour.clicks, [one], 'Mobile')));
  expect(file.table.slice(1).map((row) => row[4])).toEqual(clicks);
  const about = Object.fromEntries(file.about);
  expect(about).toMatchObject({
    'Asked as': 'house',
    Order: 'Clicks, descending',
    Search: 'mobile',
    Rows: 'the first 3',
  });
  expect(about['Request']?.replaceAll('&amp;', '&')).toBe(await pre(page));
  expect((await downloaded(page)).name).toBe(`${stem}_${day(1)}_${day(4)}.csv`);
});

it('the link holds metric, split, axis, order and search, and says if it was made as another client', async () => {
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
  expect((await drawnRows(page))[0]?.['Day']).toBe(day(4));
  const shown = await seen(page);
  const [mobile, desktop] = ['Mobile', 'Desktop'].map((device) =>
    hoursOf(({ revenue }) => revenue, [1, 2, 3, 4], device),
  );
  // The bars have their shares.
  expect(mobile).toBe(desktop);
  expect(String(shown[0])).toMatch(/50\.0 %.*50\.0 %/s);
  const link = page.url();
  expect(link).toContain('&metric=Revenue&split=PlacementId&axis=all&order=-Clicks&search=desk&client=house');

  const other = await openPage(browser, link);
  await answered(other);
  expect(await seen(other)).toEqual(shown);
  expect(await other.getByText('This link was made as').count()).toBe(0);

  // Another client opens the same link.
  const colleague = await openPage(browser, link, { isAsDeployed: true });
  const accessToken = await tokenOf(service, 'publisher-one');
  await colleague.getByLabel('Access token', { exact: true }).fill(accessToken);
  const words =
    'This link was made as house. You ask as publisher-one, and may see other rows and other numbers.';
  await colleague.getByText(words).waitFor();
  expect(colleague.url()).toContain('client=publisher-one');
  expect(colleague.url()).not.toContain(accessToken.slice(0, 10));
  expect(await accessibilityFindings(colleague)).toEqual([]);
});
