import { describe, expect, it } from 'vitest';
import { answered, answering, askOtherwise, CONTACT, STALE, tile } from './answer-service.ts';
import {
  accessibilityFindings,
  addFilter,
  keepPicture,
  openForm,
  PHONE,
  pressRun,
  refuseReports,
  SCREEN,
  sidewaysOf,
} from './open-page.ts';
import { DEVICES, WEEK, weekOf, withCommas } from './weeks-of-events.ts';

const { service, open, ask } = await answering();

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
    const [all, ...own] = [undefined, ...DEVICES].map((device) =>
      Number(weekOf(({ served }) => served, device)),
    );
    const shares = DEVICES.map(
      (device, nth) => `${device} ${((100 * (own[nth] ?? 0)) / (all ?? 0)).toFixed(1)} %`,
    );
    const labels = await list.locator('label').allInnerTexts();
    expect(labels.map((text) => text.replace(/\s+/g, ' '))).toEqual(shares);
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
    const page = await open({
      requestedFields: 'Day,ServedAds,Clicks',
      ...WEEK,
      'filter[DeviceOrProxy]': 'mobile',
    });
    await page.getByText('No row has DeviceOrProxy "mobile" in these days. Near: "Mobile".').waitFor();
    expect(await page.locator('.status').innerText()).toBe(
      'The report is there and has no rows, asked as house.',
    );
    expect(await page.getByLabel('Totals of the whole file').count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Download CSV' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Use "Mobile"' }).click();
    await page.getByText(STALE).waitFor();
    await pressRun(page);
    await answered(page);
    expect((await tile(page, 'Clicks')).shown).toBe(withCommas(weekOf(({ clicks }) => clicks, 'Mobile')));
  });
});

describe('a run that takes long or fails', () => {
  it('shows its state in the window’s title, the longest time of a query, and why it failed', async () => {
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
});

describe('every state of the page', () => {
  it('is accessible, without sideways scrolling, in light and dark, on a wide and a narrow screen', async () => {
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
});
