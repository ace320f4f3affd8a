import { describe, expect, it } from 'vitest';
import { answered, answering, askOtherwise, STALE } from './answer-service.ts';
import { addFilter, openForm, pressRun } from './open-page.ts';
import { OPEN_DAY, WEEK } from './weeks-of-events.ts';

const { open, ask } = await answering();

describe('an answer, after the user has chosen another caller', () => {
  it('is marked as old, and values are still fetched for the caller who asked for them', async () => {
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
});

describe('a report of which the caller may see no row', () => {
  it('leads to the report that it may request, and asks for no other token', async () => {
    const page = await ask({ requestedFields: 'Day,ServedAds', ...WEEK });
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
  });
});

describe('an answer that has little to show', () => {
  it('explains a row of zeros, and says that no day is compared', async () => {
    const page = await open({
      requestedFields: 'ServedAds,Clicks',
      ...WEEK,
      'filter[DeviceOrProxy]': 'mobile',
    });
    // A report without dimensions always has one row. If no event passes its filters, that row has zeros.
    await page.getByText('No row has DeviceOrProxy "mobile" in these days. Near: "Mobile".').waitFor();
    expect(await page.getByRole('link', { name: 'Download CSV' }).count()).toBe(0);

    // The filter passes only the open day. A comparison leaves that day out, so it has nothing to compare.
    await askOtherwise(page, {
      requestedFields: 'Day,ServedAds',
      ...WEEK,
      'filter[Day]': `${OPEN_DAY}T00:00:00Z`,
      compare: 'period-before',
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
