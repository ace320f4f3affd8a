import { describe, expect, it } from 'vitest';
import { joinRows } from '../../../page/src/reader/compare-rows.ts';
import { totalsOf } from '../../../page/src/reader/report-answers.ts';
import { viewOf } from '../../../page/src/reader/table-view.ts';
import { randomNumbers } from '../../e2e/known-events.ts';
import { columnIn, day, rowsIn, rowsOf, stored, storedBefore, tableFor, textsOf } from './stored.ts';

const FIELDS = 'Clicks Day PlacementId DeviceOrProxy Revenue';
const now = stored(
  FIELDS,
  rowsOf("5 d1 9007199254740993 Phone 1.000000; 6 d2 - - 12345678901234.000001; 7 d2 3 '' 0.000000"),
);
const [FIRST, SECOND] = [day(1, 1), day(2, 1)];
const before = storedBefore(
  now,
  rowsOf(
    `1 ${FIRST} 9007199254740992 Phone 4.000000; 4 ${FIRST} 9007199254740993 Phone 3.000000; ` +
      `0 ${SECOND} 3 '' -2.000000; 9 ${SECOND} 3 - 0.000001; 2 ${SECOND} - - 12345678901234.000000`,
  ),
  { '2026-01-01': '2026-02-01', '2026-01-02': '2026-02-02' },
);
const table = tableFor(now, before);

describe('a comparison', () => {
  it('has the dimensions first, and then each metric with its value before and its changes', () => {
    const metric = (of: string) => [`metric ${of}`, `before ${of}`, `change ${of}`, `percent ${of}`];
    const dimensions = ['dimension Day', 'dimension PlacementId', 'dimension DeviceOrProxy'];
    expect(table.columns.map(({ shown: { kind, of } }) => `${kind} ${of}`)).toEqual([
      ...[...dimensions, ...metric('Clicks'), ...metric('Revenue'), 'ratio Revenue per click'],
    ]);
  });

  it('joins rows that have the same dimensions on compared days, and keeps the other rows', () => {
    expect(textsOf(rowsIn(table))).toEqual([
      'd1 9007199254740993 Phone 5 4 1 25.00 1.000000 3.000000 -2.000000 -66.67 0.200000',
      'd2 - - 6 2 4 200.00 12345678901234.000001 12345678901234.000000 0.000001 0.00 2057613150205.666667',
      "d2 3 '' 7 0 7 - 0.000000 -2.000000 2.000000 -100.00 0.000000",
      'd1 9007199254740992 Phone ~ 1 -1 -100.00 ~ 4.000000 -4.000000 -100.00 ~',
      'd2 3 - ~ 9 -9 -100.00 ~ 0.000001 -0.000001 -100.00 ~',
    ]);
  });

  it('has no percentage for a row that the period before does not have', () => {
    const alone = tableFor(now, storedBefore(now, []));
    expect(textsOf(rowsIn(alone))[0]).toBe(
      'd1 9007199254740993 Phone 5 ~ 5 - 1.000000 ~ 1.000000 - 0.200000',
    );
    // The change of such a row is its whole value, also in the sort order and in the totals.
    const view = { sort: { column: 'Clicks change', isDescending: true } };
    expect(columnIn(alone, 'Clicks change', view)).toEqual(['7', '6', '5']);
    expect(viewOf(alone, { search: '' }).result.totals.slice(3, 7)).toEqual(['18', '0', '18', null]);
  });

  it.each([
    ['Clicks before', ['9', '4', '2', '1', '0']],
    ['Clicks', ['7', '6', '5', undefined, undefined]],
  ])('sorts by %s, and puts a row last if only the other period has it', (column, expected) => {
    expect(columnIn(table, column, { sort: { column, isDescending: true } })).toEqual(expected);
  });

  it.each([
    ['Clicks change', false, ['-9', '-1', '1', '4', '7']],
    // A row that only the period before has is gone: it has fallen by 100 %.
    ['Clicks change %', false, ['-100.00', '-100.00', '25.00', '200.00', null]],
    ['Clicks change %', true, ['200.00', '25.00', '-100.00', '-100.00', null]],
    ['Revenue change', true, ['2.000000', '0.000001', '-0.000001', '-2.000000', '-4.000000']],
    ['PlacementId', true, ['9007199254740993', '9007199254740992', '3', '3', null]],
    ['DeviceOrProxy', false, ['', 'Phone', 'Phone', null, null]],
  ])('sorts by %s (descending: %s)', (column, isDescending, expected) => {
    expect(columnIn(table, column, { sort: { column, isDescending } })).toEqual(expected);
  });

  it('finds rows of both periods by a search', () => {
    expect(columnIn(table, 'Clicks before', { search: '740992' })).toEqual(['1']);
    expect(columnIn(table, 'Clicks before', { search: 'phone' })).toEqual(['4', '1']);
  });

  it('adds up each period, and has the change of the sums', () => {
    expect(viewOf(table, { search: '' }).result.totals).toEqual([
      ...[null, null, null],
      ...['18', '16', '2', '12.50'],
      ...['12345678901235.000001', '12345678901239.000001', '-4.000000', '0.00'],
      '685871050068.611111',
    ]);
    const [sum, before] = ['12345678901235.000001', '12345678901239.000001'];
    const [perClick, beforeClick] = ['685871050068.611111', '771604931327.437500'];
    const change = { change: '-85733881258.826389', percent: '-11.11' };
    expect(totalsOf(table)).toEqual([
      { of: 'Clicks', kind: 'metric', sum: '18', before: '16', change: '2', percent: '12.50' },
      { of: 'Revenue', kind: 'metric', sum, before, change: '-4.000000', percent: '0.00' },
      { of: 'Revenue per click', kind: 'ratio', sum: perClick, before: beforeClick, ...change },
    ]);
    // If the period before has no rows, there is no change.
    const none = { before: null, change: null, percent: null };
    expect(totalsOf(tableFor(now, storedBefore(now, [])))).toEqual([
      { of: 'Clicks', kind: 'metric', sum: '18', ...none },
      { of: 'Revenue', kind: 'metric', sum, ...none },
      { of: 'Revenue per click', kind: 'ratio', sum: perClick, ...none },
    ]);
  });

  it('joins the one row of each period if the report has no dimensions', () => {
    const one = stored('Clicks', [['3']]);
    expect(rowsIn(tableFor(one, storedBefore(one, [['2']])))).toEqual([['3', '2', '1', '50.00']]);
  });

  it('joins each of thousands of random rows with the row that has the same dimensions', () => {
    const random = randomNumbers(3);
    const pick = <T>(...values: T[]): T => values[Math.floor(random() * values.length)] as T;
    const rows = () => {
      const all = Array.from({ length: 3_000 }, () => [
        pick('2026-02-01T05:00:00Z', '2026-02-01T06:00:00Z', '2026-02-02T05:00:00Z'),
        pick(null, `${Math.floor(random() * 500)}`, `90071992547409${90 + Math.floor(random() * 9)}`, '-1'),
        ...[pick(null, '', 'Phone', '🦊'), '1'],
      ]);
      return [...new Map(all.map((row) => [JSON.stringify(row), row])).values()];
    };
    const [ours, theirs] = [rows(), rows()];
    const store = stored('DateTime PlacementId DeviceOrProxy Clicks', ours);
    const joined = joinRows(store, storedBefore(store, theirs));
    const places = new Map(theirs.map((row, index) => [JSON.stringify(row), index]));
    const expected = ours.map((row) => places.get(JSON.stringify(row)) ?? -1);
    expect(ours.map((_, row) => joined.beforeRow(row))).toEqual(expected);
    expect(expected.filter((row) => row === -1).length).toBeGreaterThan(100);
    expect(expected.filter((row) => row !== -1).length).toBeGreaterThan(100);
    const alone = [...theirs.keys()].filter((row) => !expected.includes(row));
    expect(joined.rowCount).toBe(ours.length + alone.length);
    expect(alone.map((_, index) => joined.beforeRow(ours.length + index))).toEqual(alone);
    expect(alone.every((_, index) => joined.nowRow(ours.length + index) === -1)).toBe(true);
  });

  it('keeps both rows if two rows of the period before match the same row', () => {
    const one = stored('Day Clicks', [[day(1), '3']]);
    const rows = rowsOf(`${FIRST} 1; ${SECOND} 2; ${day(3, 1)} 4`);
    const two = storedBefore(one, rows, { '2026-01-01': '2026-02-01', '2026-01-02': '2026-02-01' });
    // If a day of the period before is not compared with any day, it keeps its date.
    expect(textsOf(rowsIn(tableFor(one, two)))).toEqual([
      'd1 3 1 2 200.00',
      'd1 ~ 2 -2 -100.00',
      `${day(3, 1)} ~ 4 -4 -100.00`,
    ]);
  });
});
