import { describe, expect, it } from 'vitest';
import type { Cell } from '../../../page/src/reader/read-csv.ts';
import { cellsOf, viewOf } from '../../../page/src/reader/table-view.ts';
import { randomNumbers } from '../../e2e/known-events.ts';
import { ADVERTISER, columnIn, rowsIn, rowsOf, stored, tableFor } from './stored.ts';

const sorted = (column: string, isDescending = false) => ({ sort: { column, isDescending } });
/** A table of one column, with a second column that numbers the rows. */
const tableOfColumn = (name: string, cells: readonly Cell[]) =>
  tableFor(
    stored(
      `${name} ContainerId`,
      cells.map((cell, index) => [cell, String(index)]),
    ),
  );

describe('the rows of a view', () => {
  it('are all rows in the file’s order, with the file’s digits, and the ratios in the last columns', () => {
    const table = tableFor(
      stored(
        'Clicks Day DeviceOrProxy ServedAds Revenue',
        rowsOf("3 d1 Phone 8 12345678901234.000001; 0 d1 '' 0 -0.000001; 1 d2 - 3 2.000000"),
      ),
    );
    expect(table.columns.map(({ shown: { id, kind, of } }) => `${kind} ${id}, of ${of}`)).toEqual([
      ...['metric Clicks, of Clicks', 'dimension Day, of Day', 'dimension DeviceOrProxy, of DeviceOrProxy'],
      ...['metric ServedAds, of ServedAds', 'metric Revenue, of Revenue', 'ratio CTR, of CTR'],
      ...['ratio eCPM, of eCPM', 'ratio Revenue per click, of Revenue per click'],
    ]);
    // In the first row, eCPM is 12345678901234.000001 / 8 * 1000, and the revenue per click is that revenue / 3.
    expect(rowsIn(table)).toEqual(
      rowsOf(
        "3 d1 Phone 8 12345678901234.000001 37.500000 1543209862654250.000125 4115226300411.333334; 0 d1 '' 0 -0.000001 - - -; 1 d2 - 3 2.000000 33.333333 666.666667 2.000000",
      ),
    );
  });

  it.each([
    [
      'ids that are equal as JavaScript numbers',
      'PlacementId',
      '9007199254740993 10 - 9007199254740992 9 9007199254740994',
      '9 10 9007199254740992 9007199254740993 9007199254740994 -',
    ],
    [
      'amounts that are equal as JavaScript numbers',
      'Revenue',
      '12345678901234.000001 -0.000001 - 12345678901234.000000 0.000000 -1234567890123.000002 -1234567890123.000001',
      '-1234567890123.000002 -1234567890123.000001 -0.000001 0.000000 12345678901234.000000 12345678901234.000001 -',
    ],
    [
      'texts by code point',
      'DeviceOrProxy',
      "b \uffff 🦊a - 🦊 '' \ue000 \u{10000} B \ud7ff é",
      "'' B b é \ud7ff \ue000 \uffff \u{10000} 🦊 🦊a -",
    ],
    ['days', 'Day', 'd2 - d1 d3', 'd1 d2 d3 -'],
  ])('are sorted, with values that are not known last: %s', (_, column, cells, expected) => {
    const table = tableOfColumn(column, rowsOf(cells)[0] ?? []);
    const ascending = rowsOf(expected)[0] ?? [];
    expect(columnIn(table, column, sorted(column))).toEqual(ascending);
    const descending = [...ascending.slice(0, -1).toReversed(), null];
    expect(columnIn(table, column, sorted(column, true))).toEqual(descending);
  });

  it.each([false, true])('keep the file’s order if values are equal (descending: %s)', (isDescending) => {
    const table = tableOfColumn('Clicks', ['1', null, '1', '1', null]);
    expect(columnIn(table, 'ContainerId', sorted('Clicks', isDescending)).join('')).toBe('02314');
  });

  it('are sorted exactly by thousands of integers of any size', () => {
    const random = randomNumbers(7);
    const values = Array.from({ length: 3_000 }, () => {
      const size = random();
      const small = BigInt(Math.floor(random() * 6)) - 3n;
      return small + (size < 0.3 ? 0n : size < 0.6 ? 2n ** 53n : size < 0.8 ? -(2n ** 53n) : 2n ** 62n);
    });
    const table = tableOfColumn('PlacementId', values.map(String));
    const expected = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)).map(String);
    expect(columnIn(table, 'PlacementId', sorted('PlacementId'))).toEqual(expected);
    // Rows with equal ids keep the file's order in both directions. The list has only the ids, so it is just reversed.
    expect(columnIn(table, 'PlacementId', sorted('PlacementId', true))).toEqual(expected.toReversed());
  });

  it('are sorted by a ratio, with zero denominators last', () => {
    // In this order: zero, more, least, half, less, also half, debt, zero too.
    const amounts =
      '0.000000 5.000000; 0.999999 999999999999009.000000; 1.000001 999999999999000.000000; 2.000000 1.000000; ' +
      '0.999999 999999999999000.000000; 4.000000 2.000000; -4.000000 2.000000; 0.000000 0.000000';
    const rows = rowsOf(amounts).map((row, index) => [String(index), ...row]);
    const store = stored('CampaignId Spend ConversionRevenue', rows, ADVERTISER);
    const table = tableFor(store, undefined, ADVERTISER);
    expect(columnIn(table, 'CampaignId', sorted('ROAS')).join('')).toBe('63524107');
    expect(columnIn(table, 'CampaignId', sorted('ROAS', true)).join('')).toBe('14235607');
  });

  const searched = tableFor(
    stored('DateTime PlacementId DeviceOrProxy Clicks', [
      ['2026-02-01T05:00:00Z', '7001', 'Mobile', '1'],
      ['2026-02-01T06:00:00Z', '7002', 'Gmail Image Proxy', '12'],
      ['2026-02-02T05:00:00Z', '9007199254740993', 'Zürich', '7001'],
      ['2026-02-02T05:00:00Z', null, null, '4'],
      ['2026-02-03T00:00:00Z', '12', '', '5'],
    ]),
  );
  it.each([
    ['', ['1', '12', '7001', '4', '5']],
    ['mobile', ['1']],
    ['ZÜR', ['7001']],
    ['700', ['1', '12']],
    ['740993', ['7001']],
    ['2026-02-02', ['7001', '4']],
    ['2026-02-01 05', ['1']],
    ['2026-02-01T05', ['1']],
    ['05:00', ['1', '7001', '4']],
    // The table shows an hour as `2026-02-01 05:00`. Only the whole text `not known` finds a value that is not known.
    ['t0', []],
    ['00:00:00', []],
    ['not known', ['4']],
    ['Not Known', ['4']],
    ['know', []],
    ['image proxy', ['12']],
    // The search does not look at metrics.
    ['12', ['5']],
    ['null', []],
  ])('contain the search text %j in at least one dimension', (search, expected) => {
    expect(columnIn(searched, 'Clicks', { search })).toEqual(expected);
  });

  it.each([
    ['z', []],
    ['t', []],
    ['00:0', []],
    ['2026-02-02', ['2']],
    ['not known', ['3']],
  ])('contain the search text %j in the column Day', (search, expected) => {
    const days = tableFor(stored('Day Clicks', rowsOf('d1 1; d2 2; - 3')));
    expect(columnIn(days, 'Clicks', { search })).toEqual(expected);
  });

  it('are only the first `top` rows after the search and the sort', () => {
    const view = { search: '2026-02-0', ...sorted('Clicks', true), top: 2 };
    expect(columnIn(searched, 'Clicks', view)).toEqual(['7001', '12']);
    expect(viewOf(searched, view).result).toEqual({ view, rowCount: 2, totals: [null, null, null, '7013'] });
    expect(columnIn(searched, 'Clicks', { top: 3 })).toEqual(['1', '12', '7001']);
    expect(columnIn(searched, 'Clicks', { top: 99 })).toHaveLength(5);
    expect(columnIn(searched, 'Clicks', { ...sorted('no such column') })).toHaveLength(5);
  });

  it('are returned from the index `from` up to, but not including, the index `to`', () => {
    const { rows } = viewOf(searched, { search: '', ...sorted('Clicks') });
    expect(cellsOf(searched, rows, 1, 3).map((row) => row.at(-1))).toEqual(['4', '5']);
    expect(cellsOf(searched, rows, 4, 99)).toHaveLength(1);
    expect(cellsOf(searched, rows, 9, 12)).toEqual([]);
  });
});

it('the totals of a view are the exact sums of the rows in view, and the ratios of these sums', () => {
  const rows =
    'a 10 1 12345678901234.000001; b 30 0 0.000001; a 9007199254740993 2 -1.000000; c 0 - 0.000000';
  const table = tableFor(stored('DeviceOrProxy ServedAds Clicks Revenue', rowsOf(rows)));
  const totals = (search: string) => viewOf(table, { search }).result.totals;
  // CTR is 300 / 9007199254741003, rounded to zero. eCPM is 1000 * 12345678901233.000001 / 9007199254741003.
  const whole = (1000n * 12345678901233000001n * 2n + 9007199254741003n) / (2n * 9007199254741003n);
  expect(totals('a')).toEqual([
    ...[null, '9007199254741003', '3', '12345678901233.000001', '0.000000'],
    // Revenue per click is 12345678901233.000001 / 3.
    ...[`${whole / 1_000_000n}.${whole % 1_000_000n}`, '4115226300411.000000'],
  ]);
  expect(totals('b')).toEqual([null, '30', '0', '0.000001', '0.000000', '0.000033', null]);
  expect(totals('c')).toEqual([null, '0', '0', '0.000000', null, null, null]);
  expect(totals('none')).toEqual([null, '0', '0', '0.000000', null, null, null]);
  expect(totals('')[3]).toBe('12345678901233.000002');
});
