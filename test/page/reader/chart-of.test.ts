import { describe, expect, it } from 'vitest';
import { chartOf, splitsOf } from '../../../page/src/reader/chart-of.ts';
import type { ColumnStore } from '../../../page/src/reader/column-store.ts';
import type { ChartQuestion } from '../../../page/src/reader/reader-messages.ts';
import { ADVERTISER, day, PUBLISHER, rowsOf, stored, storedBefore } from './stored.ts';

const at = (date: number) => Date.UTC(2026, 1, date) / 1_000;
function chart(now: ColumnStore, question: ChartQuestion, before?: ColumnStore, report = PUBLISHER) {
  const drawn = chartOf({ report, now, splits: splitsOf(now), ...(before && { before }) }, question);
  if (!drawn) throw new Error('There is no chart.');
  return drawn;
}

const devices = stored(
  'DeviceOrProxy Day PlacementId Clicks ServedAds Revenue',
  rowsOf('Phone d2 1 3 10 0.500000; Phone d2 2 4 30 0.250000; - d1 3 10 0 0.000000; Phone d1 1 - 5 1.000000'),
);

describe('the chart of a report', () => {
  it('has a line for each value of the dimension with the fewest values, the largest first', () => {
    expect(chart(devices, { metric: 'Clicks' })).toEqual({
      metric: 'Clicks',
      axis: 'time',
      whole: 17,
      times: [at(1), at(2)],
      by: 'DeviceOrProxy',
      isBars: false,
      series: [
        { value: null, total: 10, points: [10, undefined] },
        { value: 'Phone', total: 7, points: [0, 7] },
      ],
    });
    expect(chart(devices, { metric: 'Revenue' }).series[0]).toEqual({
      value: 'Phone',
      total: 1.75,
      points: [1, 0.75],
    });
  });

  it('is split by the requested dimension, or has no split', () => {
    expect(chart(devices, { metric: 'Clicks', by: 'PlacementId' })).toMatchObject({
      by: 'PlacementId',
      series: [
        { value: '3', total: 10, points: [10, undefined] },
        { value: '2', total: 4, points: [undefined, 4] },
        { value: '1', total: 3, points: [0, 3] },
      ],
    });
    const whole = { by: undefined, series: [{ value: undefined, total: 17, points: [10, 7] }] };
    expect(chart(devices, { metric: 'Clicks', by: null })).toMatchObject(whole);
    // A metric, a split or an axis that the report does not have is replaced by the default one.
    expect(chart(devices, { metric: 'Spend', by: 'Day', axis: 'hours' })).toEqual(chart(devices, {}));
  });

  it.each<[string, string, (string | null)[][], string | undefined]>([
    ['each dimension has one value', 'PlacementId DeviceOrProxy Clicks', [['1', 'a', '1']], undefined],
    [
      'the second dimension has fewer values',
      'PlacementId DeviceOrProxy Clicks',
      rowsOf('1 a 1; 2 a 1; 3 - 1'),
      'DeviceOrProxy',
    ],
    [
      'the second dimension has only one value',
      'PlacementId DeviceOrProxy Clicks',
      rowsOf('1 a 1; 2 a 1; 9007199254740993 a 1'),
      'PlacementId',
    ],
    [
      'both dimensions have the same number of values',
      'PlacementId DeviceOrProxy Clicks',
      rowsOf('1 a 1; - b 1'),
      'PlacementId',
    ],
    ['time is the only dimension', 'Day Clicks', [[day(1), '1']], undefined],
  ])('has a default split or none: %s', (_, fields, rows, expected) => {
    expect(chart(stored(fields, rows), { metric: 'Clicks' }).by).toBe(expected);
  });

  it('has bars if it is split and has at most one time', () => {
    const rows = stored('PlacementId Clicks', rowsOf('1 3; 2 4'));
    expect(chart(rows, { metric: 'Clicks' })).toEqual({
      metric: 'Clicks',
      axis: 'time',
      whole: 7,
      times: [],
      by: 'PlacementId',
      isBars: true,
      series: [
        { value: '2', total: 4, points: [4] },
        { value: '1', total: 3, points: [3] },
      ],
    });
    expect(chart(rows, { metric: 'Clicks', by: null })).toMatchObject({
      isBars: false,
      series: [{ total: 7 }],
    });
    const oneDay = stored('Day PlacementId Clicks', rowsOf('d1 1 3; d1 2 4'));
    expect(chart(oneDay, { metric: 'Clicks' })).toMatchObject({ times: [at(1)], isBars: true });
  });

  it('has hours if the report has both hours and days, and leaves out rows without a time', () => {
    const rows = stored('Day DateTime Clicks', rowsOf('d1 2026-02-01T05:00:00Z 1; - - 7'));
    const { times, series } = chart(rows, { metric: 'Clicks' });
    expect(times).toEqual([at(1) + 5 * 3_600]);
    // A row without a time has no place on the axis.
    expect(series).toEqual([{ value: undefined, total: 1, points: [1] }]);
    const split = stored('Day DeviceOrProxy Clicks', rowsOf('d1 a 1; - b 7; d2 b 2; - c 7'));
    expect(chart(split, { metric: 'Clicks' }).series).toEqual([
      { value: 'b', total: 2, points: [undefined, 2] },
      { value: 'a', total: 1, points: [1, undefined] },
    ]);
  });

  it.each<[string, string, (string | null)[][], number[], (number | undefined)[]]>([
    ['days', 'Day Clicks', rowsOf('d4 2; d1 1'), [at(1), at(2), at(3), at(4)], [1, undefined, undefined, 2]],
    [
      'hours',
      'Day DateTime Clicks',
      rowsOf('d1 2026-02-01T23:00:00Z 1; d2 2026-02-02T01:00:00Z 2'),
      [at(2) - 3_600, at(2), at(2) + 3_600],
      [1, undefined, 2],
    ],
  ])('also has the %s without rows, as gaps in its lines', (_, fields, rows, times, points) => {
    expect(chart(stored(fields, rows), { metric: 'Clicks' })).toMatchObject({ times, series: [{ points }] });
  });

  // 2026-02-01 was a Sunday.
  it.each([
    ['hours', 24, { 5: 3, 23: 4 }, { 5: 2, 23: 1 }],
    ['weekdays', 7, { 0: 6, 6: 1 }, { 0: 1, 6: 1 }],
  ] as const)('can add up the days by %s (UTC)', (axis, length, sums, days) => {
    const rows = rowsOf('2026-02-01T05:00:00Z 1; 2026-02-02T05:00:00Z 2; 2026-02-02T23:00:00Z 4');
    const { times, series, dayCounts } = chart(stored('DateTime Clicks', rows), { metric: 'Clicks', axis });
    expect(times).toEqual([...Array(length).keys()]);
    expect({ ...series[0]?.points.filter((_, at) => at in sums) }).toEqual({ ...Object.values(sums) });
    expect(series[0]?.points.filter((point) => point !== undefined)).toHaveLength(2);
    expect(dayCounts).toEqual(times.map((place) => days[place as keyof typeof days] ?? 0));
  });

  it('has only the times of its rows if they span more hours than the longest window', () => {
    const far = stored('DateTime Clicks', rowsOf('2026-01-01T00:00:00Z 1; 2027-02-02T00:00:00Z 2'));
    expect(chart(far, { metric: 'Clicks' }).times).toHaveLength(2);
  });

  it('has the seven largest values, and the count and share of the others', () => {
    const rows = stored(
      'Day PlacementId Clicks',
      [2, 8, 1, 9, 3, 10, 4, 7, 5, 6].map((id) => [day(1), String(id), String(id)]),
    );
    const { series, rest } = chart(rows, { metric: 'Clicks' });
    expect(series.map(({ value }) => value)).toEqual(['10', '9', '8', '7', '6', '5', '4']);
    expect(rest).toEqual({ count: 3, share: 6 / 55 });
    const seven = stored(
      'PlacementId Clicks',
      [1, 2, 3, 4, 5, 6, 7].map((id) => [String(id), '1']),
    );
    const whole = chart(seven, { metric: 'Clicks' });
    // Values with equal totals keep the order that they have in the file.
    expect(whole.series.map(({ value }) => value)).toEqual(['1', '2', '3', '4', '5', '6', '7']);
    expect(whole).not.toHaveProperty('rest');
  });

  it('has no share of the others if negative amounts make the share meaningless', () => {
    const rows = stored(
      'PlacementId Revenue',
      [-1, -2, 3, 4, 5, 6, 7, 8, 9].map((amount, index) => [String(index), `${amount}.000000`]),
    );
    expect(chart(rows, { metric: 'Revenue' }).rest).toEqual({ count: 2 });
  });

  it('can be split by thousands of ids, even if they are equal as JavaScript numbers', () => {
    const rows = stored(
      'PlacementId Clicks',
      Array.from({ length: 30_000 }, (_, id) => [
        String(9007199254740000n + BigInt(id)),
        id === 993 ? '5' : '1',
      ]),
    );
    const { series, rest } = chart(rows, { metric: 'Clicks', by: 'PlacementId' });
    expect(series[0]).toEqual({ value: '9007199254740993', total: 5, points: [5] });
    expect(rest).toEqual({ count: 29_993, share: 29_993 / 30_004 });
    expect(splitsOf(rows)).toEqual([{ name: 'PlacementId', valueCount: 30_000 }]);
  });

  it('shows a ratio as the ratio of sums, and ranks its lines by the denominator', () => {
    expect(chart(devices, { metric: 'CTR' })).toEqual({
      metric: 'CTR',
      axis: 'time',
      times: [at(1), at(2)],
      by: 'DeviceOrProxy',
      isBars: false,
      series: [
        // Clicks of served ads: 7 of 45 in all, 0 of 5 on the first day, 7 of 40 on the second day.
        { value: 'Phone', total: 700 / 45, points: [0, 17.5] },
        // The first day has no served ads, and the second day has no row.
        { value: null, total: null, points: [null, undefined] },
      ],
    });
    expect(chart(devices, { metric: 'eCPM', by: null }).series[0]?.points).toEqual([200, 18.75]);
  });

  it('has no share of the others for a ratio', () => {
    const rows = stored(
      'CampaignId Clicks Impressions',
      Array.from({ length: 9 }, (_, id) => [String(id), '1', String(id + 1)]),
      ADVERTISER,
    );
    const { series, rest } = chart(rows, { metric: 'CTR' }, undefined, ADVERTISER);
    expect(series.map(({ value }) => value)).toEqual(['8', '7', '6', '5', '4', '3', '2']);
    expect(rest).toEqual({ count: 2 });
  });
});

describe('the chart of a comparison', () => {
  const now = stored('Day DeviceOrProxy Clicks', rowsOf('d1 a 3; d2 a 4; d2 b 1'));
  const before = storedBefore(
    now,
    [
      [day(2, 1), 'a', '2'],
      [day(2, 1), 'c', '6'],
      [day(3, 1), 'a', '5'],
    ],
    { '2026-01-01': '2026-02-01', '2026-01-02': '2026-02-02', '2026-01-03': '2026-02-03' },
  );

  it('has the period before as a second line, on the days that it is compared with', () => {
    expect(chart(now, { metric: 'Clicks', by: null }, before)).toEqual({
      metric: 'Clicks',
      axis: 'time',
      times: [at(1), at(2), at(3)],
      by: undefined,
      isCompared: true,
      isBars: false,
      series: [
        { value: undefined, total: 8, points: [3, 5, undefined] },
        { value: undefined, side: 'before', total: 13, points: [undefined, 8, 5] },
      ],
    });
  });

  it.each<[string, string, (string | null)[][], (string | null)[][], string | undefined]>([
    ['there are several days', 'Day DeviceOrProxy Clicks', rowsOf('d1 a 1; d2 b 1'), [], undefined],
    [
      'only both periods together have several days',
      'Day DeviceOrProxy Clicks',
      rowsOf('d1 a 1; d1 b 1'),
      [[day(2), 'a', '1']],
      undefined,
    ],
    [
      'there is one day',
      'Day DeviceOrProxy Clicks',
      rowsOf('d1 a 1; d1 b 1'),
      [[day(1), 'a', '1']],
      'DeviceOrProxy',
    ],
    ['there is no time', 'DeviceOrProxy Clicks', rowsOf('a 1; b 1'), [['a', '1']], 'DeviceOrProxy'],
  ])('has a default split only if it has at most one time: %s', (_, fields, rows, rowsBefore, expected) => {
    const ours = stored(fields, rows);
    expect(chart(ours, { metric: 'Clicks' }, storedBefore(ours, rowsBefore)).by).toBe(expected);
  });

  it('leaves out the period before if it is split', () => {
    expect(chart(now, { metric: 'Clicks', by: 'DeviceOrProxy' }, before)).toMatchObject({
      isCompared: true,
      times: [at(1), at(2)],
      by: 'DeviceOrProxy',
      series: [
        { value: 'a', total: 7 },
        { value: 'b', total: 1 },
      ],
    });
    expect(splitsOf(now)).toEqual([{ name: 'DeviceOrProxy', valueCount: 2 }]);
  });

  it('has the totals of both periods if the report has no time', () => {
    const one = stored('Clicks', [['3']]);
    expect(chart(one, { metric: 'Clicks' }, storedBefore(one, [['2']]))).toMatchObject({
      times: [],
      isBars: true,
      series: [{ total: 3 }, { side: 'before', total: 2 }],
    });
  });
});
