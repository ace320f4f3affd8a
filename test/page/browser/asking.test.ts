import { describe, expect, it } from 'vitest';
import {
  answered,
  answering,
  askOtherwise,
  CONTACT,
  drawnRows,
  STALE,
  tile,
  totalsRow,
} from './answer-service.ts';
import {
  accessibilityFindings,
  addFilter,
  downloaded,
  keepPicture,
  openForm,
  openPage,
  PHONE,
  pressRun,
  refuseReports,
  SCREEN,
  sidewaysOf,
} from './open-page.ts';
import { DEVICES, FULL_DAY, fullDay, OPEN_DAY, sumOf, WEEK, weekOf, withCommas } from './weeks-of-events.ts';

const { service, browser, open, ask } = await answering();

describe('the values of a filter', () => {
  it('are requested only after a click and only once, and can be chosen for the filter', async () => {
    const page = await ask({ requestedFields: 'Day,ServedAds,Clicks', ...WEEK });
    const reports: string[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.endsWith('performance')) reports.push(searchParams.get('requestedFields') ?? '');
    });
    await openForm(page);
    await addFilter(page, 'DeviceOrProxy');
    const values = page.getByRole('button', { name: 'Values in these days of DeviceOrProxy' });
    expect(reports).toEqual([]);
    await refuseReports(page, { title: 'No report', status: 409, detail: 'Not now.' }, 1);
    await values.click();
    await page.getByRole('button', { name: 'Ask again for the values of DeviceOrProxy' }).click();
    await expect.poll(() => values.evaluate((it) => it === document.activeElement)).toBe(true);
    reports.splice(0, 1);
    const list = page.getByRole('group', { name: /^Values of DeviceOrProxy/ });
    await list.waitFor();
    expect(reports).toEqual(['DeviceOrProxy,ServedAds']);
    // test/page/question/found-values.test.ts has the shares.
    const labels = await list.locator('label').allInnerTexts();
    expect(labels.map((text) => text.replace(/\s+(below )?[\d.]+ %$/, ''))).toEqual(DEVICES);
    await list.getByRole('checkbox', { name: /^Tablet / }).check();
    expect(await page.getByLabel('DeviceOrProxy, value 1', { exact: true }).inputValue()).toBe('Tablet');
    await values.click();
    await list.waitFor({ state: 'hidden' });
    await values.click();
    await list.waitFor();
    expect(reports).toHaveLength(1);

    // While a report is being made, the page does not ask for values.
    service.stack.faults.set([{ on: 'query', delayMs: 60_000 }]);
    await values.click();
    await page.getByRole('button', { name: 'Run the report' }).click();
    await page.getByRole('progressbar').waitFor();
    await openForm(page);
    await values.click({ force: true });
    expect(await values.getAttribute('aria-disabled')).toBe('true');
    await page.getByText('Once the report that is being made is there.').waitFor();
    service.stack.faults.set([]);
    await answered(page);
    expect(reports.filter((fields) => fields.startsWith('DeviceOrProxy'))).toHaveLength(1);
    expect((await tile(page, 'Clicks')).shown).toBe(withCommas(weekOf(({ clicks }) => clicks, 'Tablet')));
  });

  it('are named for an empty report: the one that does not occur, and a similar one that does', async () => {
    // A report without dimensions always has one row. If no event passes its filters, that row has zeros.
    const filtered = { ...WEEK, 'filter[DeviceOrProxy]': 'mobile' };
    const page = await open({ requestedFields: 'ServedAds,Clicks', ...filtered });
    const words = page.getByText('No row has DeviceOrProxy "mobile" in these days. Near: "Mobile".');
    await words.waitFor();
    expect(await page.getByRole('link', { name: 'Download CSV' }).count()).toBe(0);
    await askOtherwise(page, { requestedFields: 'Day,ServedAds,Clicks', ...filtered });
    const status = page.locator('.status');
    await expect.poll(() => status.innerText()).toBe('The report is there and has no rows, asked as house.');
    await words.waitFor();
    expect(await page.getByLabel('Totals of the whole file').count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Download CSV' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Use "Mobile"' }).click();
    await page.getByText(STALE).waitFor();
    await pressRun(page);
    await answered(page);
    expect((await tile(page, 'Clicks')).shown).toBe(withCommas(weekOf(({ clicks }) => clicks, 'Mobile')));
  });
});

it('a run that takes long or fails shows its state in the window’s title, the longest time of a query, and why it failed', async () => {
  const page = await ask({ requestedFields: 'PlacementId,Clicks', ...WEEK }, { mayComplain: true });
  expect(await page.title()).toBe('Ready: Publisher – Performance reports');
  service.stack.faults.set([{ on: 'query', delayMs: 60_000 }]);
  await askOtherwise(page, { requestedFields: 'PlacementId,Clicks,Opens', ...WEEK });
  await page.getByText(/^You have waited \d+ s; the longest query may take 10 min\.$/).waitFor();
  expect(await page.title()).toBe('Waiting: Publisher – Performance reports');
  service.stack.faults.set([]);
  await answered(page);
  expect(await page.title()).toBe('Ready: Publisher – Performance reports');

  const problem = { title: 'Internal error', detail: 'Internal error', instance: 'urn:trace:4f1c' };
  await refuseReports(page, { ...problem, status: 500 });
  await askOtherwise(page, { requestedFields: 'PlacementId,Clicks,Revenue', ...WEEK });
  const alert = page.getByRole('alert');
  await alert.waitFor();
  expect(await alert.innerText()).toContain(
    'The service failed while it made the report; the question is not at fault. ' +
      `Run it again; if it fails again, send the trace id to ${CONTACT}.`,
  );
  expect(await alert.innerText()).toContain('Trace id: urn:trace:4f1c');
  expect(await page.locator('main').innerText()).not.toContain('Internal error');
  expect(await page.title()).toBe('No report: Publisher – Performance reports');
});

it('every state of the page is accessible, without sideways scrolling, in light and dark, on a wide and a narrow screen', async () => {
  const page = await open({}, { viewport: SCREEN, mayComplain: true });
  const seen = async (state: string) => {
    for (const viewport of [SCREEN, PHONE])
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        const look = `answer-${state}-${colorScheme}-${viewport.width}`;
        expect(await accessibilityFindings(page), look).toEqual([]);
        expect(await sidewaysOf(page), look).toBeLessThanOrEqual(0);
        await keepPicture(page, look);
      }
    await page.setViewportSize(SCREEN);
  };
  await answered(page);
  await page.getByText('open day: more events may come').waitFor();
  await seen('first');
  for (const name of ['curl', 'Python', 'R', 'Power Query']) {
    await page.getByRole('tab', { name, exact: true }).click();
    await seen(name);
  }
  await page.getByRole('button', { name: 'Clicks', exact: true }).click();
  await page.locator('th[aria-sort=descending]').waitFor();
  await seen('sorted');
  await openForm(page);
  await seen('form');
  await page.getByLabel('First day', { exact: true }).fill('2025-11-01');
  await page.getByRole('button', { name: 'Run the report' }).click();
  await page.getByText('The request has a fault, told where it is.').waitFor();
  await seen('fault');
  await page.getByLabel('First day', { exact: true }).fill(WEEK.first);
  await addFilter(page, 'DeviceOrProxy');
  await page.getByRole('button', { name: 'Values in these days of DeviceOrProxy' }).click();
  await page.getByRole('checkbox', { name: RegExp(`^${DEVICES[2]} `) }).check();
  await seen('values');
  await askOtherwise(page, {
    report: 'advertiserperformance',
    requestedFields: 'CampaignId,Clicks,Spend',
    ...WEEK,
    compare: 'period-before',
  });
  await page.getByText('no row').first().waitFor();
  await seen('compared');
  // No cell may cut off digits: people would read another number.
  const isCut = (cells: Element[]) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length;
  expect(await page.locator('td.number').evaluateAll(isCut)).toBe(0);
  service.stack.faults.set([{ on: 'query', delayMs: 60_000 }]);
  await askOtherwise(page, { requestedFields: 'DeviceOrProxy,ServedAds', ...WEEK });
  await page.getByRole('progressbar').first().waitFor();
  await seen('waiting');
  service.stack.faults.set([]);
  await answered(page);
  await page.locator('.bars').waitFor();
  await page.getByText(/^The 7 largest of DeviceOrProxy, and 9 others: \d+ %\.$/).waitFor();
  await seen('bars');
  await askOtherwise(page, { requestedFields: 'Day,Clicks', ...WEEK, 'filter[DeviceOrProxy]': 'mobile' });
  await page.getByRole('button', { name: 'Use "Mobile"' }).waitFor();
  await seen('empty');
  const detail = 'Too many reports are being made.';
  await refuseReports(page, { title: 'Busy', status: 503, detail, instance: 'urn:trace:1' });
  await askOtherwise(page, { requestedFields: 'Day,Opens', ...WEEK });
  await page.getByText(detail).waitFor();
  await seen('failed');
});

it('the table sorts all rows exactly, searches them, limits their number, and adds them up', async () => {
  const page = await ask({ requestedFields: 'PlacementId,Clicks', first: FULL_DAY, last: FULL_DAY });
  const header = (name: string) => page.getByRole('columnheader', { name, exact: true });
  const sortBy = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const sorted = async (name: string, direction: string) =>
    expect.poll(() => header(name).getAttribute('aria-sort')).toBe(direction);
  const first = (count: number) =>
    expect.poll(async () =>
      (await drawnRows(page)).slice(0, count).map((row) => `${row['PlacementId']} ${row['Clicks']}`),
    );
  const asShown = ({ placement, clicks }: (typeof fullDay)[number]) => `${placement} ${withCommas(clicks)}`;
  const byClicks = fullDay.toSorted((a, b) => (b.clicks > a.clicks ? 1 : -1));
  const largestFirst = byClicks.map(asShown);
  const all = withCommas(sumOf(fullDay, ({ clicks }) => clicks));
  expect(largestFirst[0]).toBe('9007199254740992 9,007,199,254,740,993');

  await sorted('Clicks', 'none');
  await sortBy('Clicks');
  await first(5).toEqual(largestFirst.slice(0, 5));
  await sorted('Clicks', 'descending');
  expect(await totalsRow(page)).toEqual(['All rows', all]);
  for (const direction of ['ascending', 'descending']) {
    await sortBy('PlacementId');
    await sorted('PlacementId', direction);
  }
  // The End key leads to the last row, although the page has not loaded the rows in between.
  await page.getByRole('region', { name: 'Rows of the report' }).focus();
  await page.keyboard.press('End');
  await expect.poll(async () => (await drawnRows(page)).at(-1)?.['PlacementId']).toBe('1');
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
  await first(11).toEqual(largestFirst.slice(0, 10));
  const ten = sumOf(byClicks.slice(0, 10), ({ clicks }) => clicks);
  expect(await totalsRow(page)).toEqual(['These 10 rows', withCommas(ten)]);
  // The download still has all rows of the file.
  expect((await downloaded(page)).text.trim().split('\n')).toHaveLength(fullDay.length + 1);
});

it('an answer, after the user has chosen another caller is marked as old, and values are still fetched for the caller who asked for them', async () => {
  const page = await ask({ requestedFields: 'Day,ServedAds', ...WEEK });
  expect(await page.getByText(STALE).count()).toBe(0);
  await openForm(page);
  await addFilter(page, 'DeviceOrProxy');
  // Holds back the requests for the days' states until another partner is chosen.
  const chosen = Promise.withResolvers<void>();
  await page.route('**/days?**', (route) => chosen.promise.then(() => route.continue()));
  const tokens: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('requestedFields=DeviceOrProxy'))
      tokens.push(request.headers()['authorization'] ?? '');
  });
  const clientOf = (authorization = '') =>
    JSON.parse(Buffer.from(authorization.split('.')[1] ?? '', 'base64url').toString()).sub;
  await page.getByRole('button', { name: 'Values in these days of DeviceOrProxy' }).click();
  await page.getByLabel('nobody').check();
  await page.getByText(STALE).waitFor();
  chosen.resolve();
  await expect.poll(() => tokens.length).toBe(1);
  expect(clientOf(tokens[0])).toBe('house');
});

it('a report of which the caller may see no row leads to the report that it may request, and asks for no other token', async () => {
  const page = await ask({ requestedFields: 'Day,ServedAds', ...WEEK });
  await openForm(page);
  await page.getByLabel('advertiser').last().check();
  await page.getByRole('button', { name: 'Run the report' }).click();
  const failure = page.locator('.failure');
  await failure.getByText('This client may see no row of this report. It may request another one.').waitFor();
  expect(await failure.innerText()).not.toContain('token');
  await failure.getByRole('button', { name: 'Choose the advertiser performance report' }).click();
  await page.getByRole('button', { name: 'Run the report' }).click();
  await answered(page);
});

describe('an answer that has little to show', () => {
  it('says that no day is compared, if its filter passes only the open day', async () => {
    // A comparison leaves the open day out, so it has nothing to compare.
    const page = await open({
      ...{ requestedFields: 'Day,ServedAds', ...WEEK, compare: 'period-before' },
      'filter[Day]': `${OPEN_DAY}T00:00:00Z`,
    });
    await page.locator('.compared').waitFor();
    expect(await page.locator('.compared').innerText()).toContain('There is no data to compare with');
  });

  it('says that the states of the days are not known, or that the page can’t read the report', async () => {
    const question = { requestedFields: 'Day,ServedAds', ...WEEK };
    const page = await ask({ ...question, compare: 'period-before' }, {}, (page) =>
      page.route('**/days?**', (route) => route.fulfill({ status: 404, body: '' })),
    );
    expect(await page.locator('.compared > p').innerText()).toMatch(
      /^7 days against as many: .* could not be found out\.$/,
    );
    // The same report again is looked at in the same way; the answer to another question shows all rows.
    const search = page.getByRole('searchbox', { name: 'Search the rows' });
    await search.fill('zzz');
    await page.getByText('0 of 7 rows').waitFor();
    await pressRun(page);
    await page.getByText('0 of 7 rows').waitFor();
    expect(await search.inputValue()).toBe('zzz');
    await openForm(page);
    await page.getByRole('checkbox', { name: /^Clicks / }).check();
    await pressRun(page);
    await page.locator('tbody tr[aria-rowindex]').first().waitFor();
    expect(await search.inputValue()).toBe('');

    const broken = await open(question, { mayComplain: true }, (page) =>
      page.addInitScript(() => {
        const { Worker } = globalThis;
        globalThis.Worker = class extends Worker {
          constructor(_: string | URL, options?: WorkerOptions) {
            super('/page/none.js', options);
          }
        };
      }),
    );
    await broken.getByText('This page could not read the report.').waitFor();
  });
});

it('the request and its link are copied as they are shown, without the token, or the page says what to do', async () => {
  // Without sample partners, as in a deployed service, the form is open and the page asks nothing by itself.
  const page = await openPage(browser, `${service.gatewayUrl}/?from=mail#report=advertiserperformance`, {
    ...{ isAsDeployed: true, permissions: ['clipboard-read', 'clipboard-write'] },
  });
  await page.getByLabel('Access token', { exact: true }).fill('the.own.token');
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await page.getByRole('tab', { name: 'curl' }).click();
  // The page has read where tokens come from.
  const source = `It comes from ${service.stack.tokenUrl} for a client id and secret, and those from ${CONTACT}.`;
  await page.getByRole('tabpanel').getByText(source).last().waitFor();
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  const copies = page.getByRole('status').filter({ hasText: /^Copied$/ });
  await copies.waitFor();
  expect(await copied()).toBe(await page.getByRole('tabpanel').locator('pre').innerText());
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.getByRole('status').filter({ hasText: 'Link copied' }).waitFor();
  expect(await copied()).toBe(page.url().replace('?from=mail', ''));
  expect(await copied()).not.toContain('the.own.token');

  // The browser allows no copy.
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new DOMException('', 'NotAllowedError'));
  });
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  await page.getByText('Could not be copied: select the text and copy it.').waitFor();
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.getByText('Could not be copied: copy the address of this page.').waitFor();
  expect(await page.getByRole('button', { name: 'Copy link' }).isVisible()).toBe(true);
  expect(await accessibilityFindings(page)).toEqual([]);
});
