import { describe, expect, it } from 'vitest';
import type { ChartData } from '../../../page/src/reader/chart-data.ts';
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

/** The parts of a chart as texts: what it shows, its times, and each series with its total. `~` is a gap. */
const partsOf = ({ metric, axis, times, by, series, ...more }: ChartData): readonly string[] => [
  `${metric} by ${by} over ${axis}${Object.entries(more)
    .map((part) => ` ${part.join('=')}`)
    .sort()}`,
  times.map((time) => `d${(time - at(0)) / 86_400}`).join(' '),
  ...series.map(({ value, side = '', total, points, ...none }) => {
    expect(none).toEqual({});
    return `${value === null ? '(none)' : value}${side} ${total}: ${points.map((point) => (point === undefined ? '~' : point)).join(' ')}`;
  }),
];

const devices = stored(
  'DeviceOrProxy Day PlacementId Clicks ServedAds Revenue',
  rowsOf('Phone d2 1 3 10 0.500000; Phone d2 2 4 30 0.250000; - d1 3 10 0 0.000000; Phone d1 1 - 5 1.000000'),
);
const clicks = { metric: 'Clicks' };

describe('the chart of a report', () => {
  it('has a line for each value of the dimension with the fewest values, the largest first', () => {
    expect(partsOf(chart(devices, clicks))).toEqual([
      'Clicks by DeviceOrProxy over time isBars=false, whole=17',
      ...['d1 d2', '(none) 10: 10 ~', 'Phone 7: 0 7'],
    ]);
    expect(partsOf(chart(devices, { metric: 'Revenue' }))[2]).toBe('Phone 1.75: 1 0.75');
  });

  it('is split by the requested dimension, or has no split', () => {
    expect(partsOf(chart(devices, { ...clicks, by: 'PlacementId' }))).toEqual([
      'Clicks by PlacementId over time isBars=false, whole=17',
      ...['d1 d2', '3 10: 10 ~', '2 4: ~ 4', '1 3: 0 3'],
    ]);
    const whole = ['Clicks by undefined over time isBars=false', 'd1 d2', 'undefined 17: 10 7'];
    expect(partsOf(chart(devices, { ...clicks, by: null }))).toEqual(whole);
    // A metric, a split or an axis that the report does not have is replaced by the default one.
    expect(chart(devices, { metric: 'Spend', by: 'Day', axis: 'hours' })).toEqual(chart(devices, {}));
  });

  it.each([
    ['the second dimension has fewer values', '1 a 1; 2 a 1; 3 - 1', 'DeviceOrProxy'],
    ['the second dimension has only one value', '1 a 1; 2 a 1; 9007199254740993 a 1', 'PlacementId'],
    ['both dimensions have the same number of values', '1 a 1; - b 1', 'PlacementId'],
  ])('has a default split or none: %s', (_, rows, expected) => {
    expect(chart(stored('PlacementId DeviceOrProxy Clicks', rowsOf(rows)), clicks).by).toBe(expected);
    expect(chart(stored('Day Clicks', [[day(1), '1']]), clicks).by).toBeUndefined();
  });

  it('has bars if it is split and has at most one time', () => {
    const rows = stored('PlacementId Clicks', rowsOf('1 3; 2 4'));
    const bars = ['Clicks by PlacementId over time isBars=true, whole=7', '', '2 4: 4', '1 3: 3'];
    expect(partsOf(chart(rows, clicks))).toEqual(bars);
    expect(partsOf(chart(rows, { ...clicks, by: null }))).toEqual([
      ...['Clicks by undefined over time isBars=false', '', 'undefined 7: 7'],
    ]);
    const oneDay = stored('Day PlacementId Clicks', rowsOf('d1 1 3; d1 2 4'));
    expect(chart(oneDay, clicks)).toMatchObject({ times: [at(1)], isBars: true });
  });

  it('has hours if the report has both hours and days, and leaves out rows without a time', () => {
    const rows = stored('Day DateTime Clicks', rowsOf('d1 2026-02-01T05:00:00Z 1; - - 7'));
    const { times, series } = chart(rows, clicks);
    expect(times).toEqual([at(1) + 5 * 3_600]);
    // A row without a time has no place on the axis.
    expect(series).toEqual([{ value: undefined, total: 1, points: [1] }]);
    const split = stored('Day DeviceOrProxy Clicks', rowsOf('d1 a 1; - b 7; d2 b 2; - c 7'));
    expect(partsOf(chart(split, clicks)).slice(2)).toEqual(['b 2: ~ 2', 'a 1: 1 ~']);
  });

  it('also has the days and the hours without rows, as gaps in its lines', () => {
    const days = chart(stored('Day Clicks', rowsOf('d4 2; d1 1')), clicks);
    expect(partsOf(days).slice(1)).toEqual(['d1 d2 d3 d4', 'undefined 3: 1 ~ ~ 2']);
    const rows = rowsOf('d1 2026-02-01T23:00:00Z 1; d2 2026-02-02T01:00:00Z 2');
    const { times, series } = chart(stored('Day DateTime Clicks', rows), clicks);
    expect(times).toEqual([at(2) - 3_600, at(2), at(2) + 3_600]);
    expect(series[0]?.points).toEqual([1, undefined, 2]);
  });

  // 2026-02-01 was a Sunday.
  it.each([
    ['hours', 24, { 5: 3, 23: 4 }, { 5: 2, 23: 1 }],
    ['weekdays', 7, { 0: 6, 6: 1 }, { 0: 1, 6: 1 }],
  ] as const)('can add up the days by %s (UTC)', (axis, length, sums, days) => {
    const rows = rowsOf('2026-02-01T05:00:00Z 1; 2026-02-02T05:00:00Z 2; 2026-02-02T23:00:00Z 4');
    const { times, series, dayCounts } = chart(stored('DateTime Clicks', rows), { ...clicks, axis });
    expect(times).toEqual([...Array(length).keys()]);
    expect(series[0]?.points).toEqual(times.map((place) => sums[place as keyof typeof sums]));
    expect(dayCounts).toEqual(times.map((place) => days[place as keyof typeof days] ?? 0));
  });

  it('has only the times of its rows if they span more hours than the longest window', () => {
    const far = stored('DateTime Clicks', rowsOf('2026-01-01T00:00:00Z 1; 2027-02-02T00:00:00Z 2'));
    expect(chart(far, clicks).times).toHaveLength(2);
  });

  /** A chart of rows that have an id and one metric. */
  const chartOfIds = (metric: string, amounts: readonly (number | string)[]) =>
    chart(
      stored(
        `PlacementId ${metric}`,
        amounts.map((amount, id) => [String(id), String(amount)]),
      ),
      { metric },
    );

  it('has the seven largest values, and the count and share of the others', () => {
    const { series, rest } = chartOfIds('Clicks', [2, 8, 1, 9, 3, 10, 4, 7, 5, 6]);
    expect(series.map(({ total }) => total)).toEqual([10, 9, 8, 7, 6, 5, 4]);
    expect(rest).toEqual({ count: 3, share: 6 / 55 });
    // Values with equal totals keep the order that they have in the file.
    const seven = chartOfIds('Clicks', Array(7).fill(1));
    expect(seven.series.map(({ value }) => value).join('')).toBe('0123456');
    expect(seven).not.toHaveProperty('rest');
  });

  it('has no share of the others if negative amounts make the share meaningless', () => {
    const amounts = [-1, -2, 3, 4, 5, 6, 7, 8, 9].map((amount) => `${amount}.000000`);
    expect(chartOfIds('Revenue', amounts).rest).toEqual({ count: 2 });
  });

  it('can be split by thousands of ids, even if they are equal as JavaScript numbers', () => {
    const ids = Array.from({ length: 30_000 }, (_, id) => String(9007199254740000n + BigInt(id)));
    const rows = stored(
      'PlacementId Clicks',
      ids.map((id) => [id, id === '9007199254740993' ? '5' : '1']),
    );
    const { series, rest } = chart(rows, { ...clicks, by: 'PlacementId' });
    expect(series[0]).toEqual({ value: '9007199254740993', total: 5, points: [5] });
    expect(rest).toEqual({ count: 29_993, share: 29_993 / 30_004 });
    expect(splitsOf(rows)).toEqual([{ name: 'PlacementId', valueCount: 30_000 }]);
  });

  it('shows a ratio as the ratio of sums, and ranks its lines by the denominator', () => {
    // Clicks of served ads: 7 of 45 in all, 0 of 5 on the first day, 7 of 40 on the second day. Of no device, the first
    // day has no served ads, and the second day has no row.
    const { series, ...more } = chart(devices, { metric: 'CTR' });
    expect(series).toEqual([
      { value: 'Phone', total: 700 / 45, points: [0, 17.5] },
      { value: null, total: null, points: [null, undefined] },
    ]);
    expect(more).toEqual({
      ...{ metric: 'CTR', axis: 'time', times: [at(1), at(2)] },
      by: 'DeviceOrProxy',
      isBars: false,
    });
    expect(chart(devices, { metric: 'eCPM', by: null }).series[0]?.points).toEqual([200, 18.75]);
  });

  it('has no share of the others for a ratio', () => {
    const rows = Array.from({ length: 9 }, (_, id) => [String(id), '1', String(id + 1)]);
    const campaigns = stored('CampaignId Clicks Impressions', rows, ADVERTISER);
    const { series, rest } = chart(campaigns, { metric: 'CTR' }, undefined, ADVERTISER);
    expect(series.map(({ value }) => value)).toEqual(['8', '7', '6', '5', '4', '3', '2']);
    expect(rest).toEqual({ count: 2 });
  });
});

describe('the chart of a comparison', () => {
  const now = stored('Day DeviceOrProxy Clicks', rowsOf('d1 a 3; d2 a 4; d2 b 1'));
  const before = storedBefore(
    now,
    rowsOf('2026-01-02T00:00:00Z a 2; 2026-01-02T00:00:00Z c 6; 2026-01-03T00:00:00Z a 5'),
    { '2026-01-01': '2026-02-01', '2026-01-02': '2026-02-02', '2026-01-03': '2026-02-03' },
  );

  it('has the period before as a second line, on the days that it is compared with', () => {
    expect(partsOf(chart(now, { ...clicks, by: null }, before))).toEqual([
      'Clicks by undefined over time isBars=false, isCompared=true',
      ...['d1 d2 d3', 'undefined 8: 3 5 ~', 'undefinedbefore 13: ~ 8 5'],
    ]);
  });

  it.each([
    ['only both periods together have several', 'd2 a 1', undefined],
    ['there is one day', 'd1 a 1', 'DeviceOrProxy'],
  ])('has a default split only if it has at most one time: %s', (_, rowsBefore, expected) => {
    const ours = stored('Day DeviceOrProxy Clicks', rowsOf('d1 a 1; d1 b 1'));
    expect(chart(ours, clicks, storedBefore(ours, rowsOf(rowsBefore))).by).toBe(expected);
  });

  it('leaves out the period before if it is split', () => {
    expect(partsOf(chart(now, { ...clicks, by: 'DeviceOrProxy' }, before))).toEqual([
      'Clicks by DeviceOrProxy over time isBars=false, isCompared=true, whole=8',
      ...['d1 d2', 'a 7: 3 4', 'b 1: ~ 1'],
    ]);
    expect(splitsOf(now)).toEqual([{ name: 'DeviceOrProxy', valueCount: 2 }]);
  });

  it('has the totals of both periods if the report has no time', () => {
    const one = stored('Clicks', [['3']]);
    expect(partsOf(chart(one, clicks, storedBefore(one, [['2']])))).toEqual([
      'Clicks by undefined over time isBars=true, isCompared=true',
      ...['', 'undefined 3: 3', 'undefinedbefore 2: 2'],
    ]);
  });
});
