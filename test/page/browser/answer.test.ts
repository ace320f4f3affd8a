import { describe, expect, it } from 'vitest';
import { answering, drawnRows, totalsRow } from './answer-service.ts';
import { downloaded } from './open-page.ts';
import { FULL_DAY, fullDay, sumOf, withCommas } from './weeks-of-events.ts';

const { ask } = await answering();

describe('the table', () => {
  it('sorts all rows exactly, searches them, limits their number, and adds them up', async () => {
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
    await sortBy('PlacementId');
    await sorted('PlacementId', 'ascending');
    await sorted('Clicks', 'none');
    await sortBy('PlacementId');
    await sorted('PlacementId', 'descending');
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
});
