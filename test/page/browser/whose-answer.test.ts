import { describe, expect, it } from 'vitest';
import { answered, answering, askOtherwise, hashOf, POLL } from './answer-service.ts';
import { addFilter, openForm } from './open-page.ts';
import { OPEN_DAY, WEEK } from './weeks-of-events.ts';

const { open } = answering();

const STALE = 'This is of the question before your last change.';

describe('an answer, after the user has chosen another caller', () => {
  it('is marked as old, and values are still fetched for the caller who asked for them', async () => {
    const watched = await open(hashOf({ requestedFields: 'Day,ServedAds', ...WEEK }));
    const { page } = watched;
    await answered(page);
    expect(await page.getByText(STALE).count()).toBe(0);
    await openForm(page);
    await addFilter(page, 'DeviceOrProxy');
    // Holds back the requests for the days' states until another partner is chosen.
    let tell = () => {};
    const chosen = new Promise<void>((resolve) => {
      tell = resolve;
    });
    await page.route('**/days?**', async (route) => {
      await chosen;
      await route.continue();
    });
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
    tell();
    await expect.poll(() => tokens.length, POLL).toBe(1);
    expect(clientOf(tokens[0])).toBe('house');
    await watched.close();
  });
});

describe('a report of which the caller may see no row', () => {
  it('leads to the report that it may request, and asks for no other token', async () => {
    const watched = await open(hashOf({ requestedFields: 'Day,ServedAds', ...WEEK }));
    const { page } = watched;
    await answered(page);
    await openForm(page);
    await page.getByLabel('advertiser').last().check();
    await page.getByRole('button', { name: 'Run the report' }).click();
    const failure = page.locator('.failure');
    await failure
      .getByText('This client may see no row of this report. It may request another one.')
      .waitFor();
    expect(await failure.innerText()).not.toContain('token');
    await failure.getByRole('button', { name: 'Choose the advertiser performance report' }).click();
    await page.getByRole('button', { name: 'Run the report' }).click();
    await answered(page);
    await watched.close();
  });
});

describe('an answer that has little to show', () => {
  it('explains a row of zeros, and says that no day is compared', async () => {
    const watched = await open(
      hashOf({ requestedFields: 'ServedAds,Clicks', ...WEEK, 'filter[DeviceOrProxy]': 'mobile' }),
    );
    const { page } = watched;
    // A report without dimensions always has one row. If no event passes its filters, that row has zeros.
    await page.getByText('No row has DeviceOrProxy "mobile" in these days. Near: "Mobile".').waitFor();
    expect(await page.getByRole('link', { name: 'Download CSV' }).count()).toBe(0);

    // The filter passes only the open day. A comparison leaves that day out, so it has nothing to compare.
    await askOtherwise(
      page,
      hashOf({
        requestedFields: 'Day,ServedAds',
        ...WEEK,
        'filter[Day]': `${OPEN_DAY}T00:00:00Z`,
        compare: 'period-before',
      }),
    );
    await page.locator('.compared').waitFor();
    expect(await page.locator('.compared').innerText()).toContain('There is no data to compare with');
    await watched.close();
  });

  it('says that the states of the days are not known, or that the page can’t read the report', async () => {
    const watched = await open(
      hashOf({ requestedFields: 'Day,ServedAds', ...WEEK, compare: 'period-before' }),
      {},
      (page) => page.route('**/days?**', (route) => route.fulfill({ status: 404, body: '' })),
    );
    await answered(watched.page);
    expect(await watched.page.locator('.compared > p').innerText()).toMatch(
      /^7 days against as many: .* could not be found out\.$/,
    );
    // The same report again is looked at in the same way; the answer to another question shows all rows.
    const search = watched.page.getByRole('searchbox', { name: 'Search the rows' });
    await search.fill('zzz');
    await watched.page.getByText('0 of 7 rows').waitFor();
    await watched.page.getByRole('button', { name: 'Change', exact: true }).click();
    await watched.page.getByRole('button', { name: 'Run the report' }).click();
    await watched.page.getByText('0 of 7 rows').waitFor();
    expect(await search.inputValue()).toBe('zzz');
    await openForm(watched.page);
    await watched.page.getByRole('checkbox', { name: /^Clicks / }).check();
    await watched.page.getByRole('button', { name: 'Run the report' }).click();
    await watched.page.locator('tbody tr[aria-rowindex]').first().waitFor();
    expect(await search.inputValue()).toBe('');
    await watched.close();

    const broken = await open(hashOf({ requestedFields: 'Day,ServedAds', ...WEEK }), {}, (page) =>
      page.addInitScript(() => {
        const { Worker } = globalThis;
        globalThis.Worker = class extends Worker {
          constructor(_: string | URL, options?: WorkerOptions) {
            super('/page/none.js', options);
          }
        };
      }),
    );
    await broken.page.getByText('This page could not read the report.').waitFor();
    await broken.page.context().close();
  });
});
