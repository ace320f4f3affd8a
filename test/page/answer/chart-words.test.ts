import { describe, expect, it } from 'vitest';
import { addedUpWords, canBeUnsplit, leftOutWords, pointText } from '../../../page/src/answer/chart-words.ts';
import { pointsAlone } from '../../../page/src/answer/points-alone.ts';
import type { ChartData } from '../../../page/src/reader/chart-data.ts';

const choice = { fields: ['Day', 'CampaignId', 'Impressions', 'Clicks'] };
const run = { report: 'advertiserperformance', choice };
const series = ['1', '2'].map((value) => ({ value, total: 1, points: [1] }));
const chart = (is: Partial<ChartData>): ChartData => ({
  ...{ metric: 'Clicks', axis: 'time', times: [], by: 'CampaignId', series, isBars: true, ...is },
});

describe('the words of a chart', () => {
  it.each<[Partial<ChartData>, string]>([
    [{}, ''],
    [{ rest: { count: 5, share: 0.25 } }, 'The 2 largest of CampaignId, and 5 others: 25 %.'],
    [{ metric: 'CTR', rest: { count: 1 } }, 'The 2 with the most Impressions, and 1 other.'],
    [{ isCompared: true }, 'The days before are not drawn in a split.'],
    [{ isCompared: true, by: undefined }, ''],
    [
      { isCompared: true, rest: { count: 1 } },
      'The 2 largest of CampaignId, and 1 other. The days before are not drawn in a split.',
    ],
  ])('say what is not drawn: %j', (is, expected) => {
    expect(leftOutWords(chart(is), run)).toBe(expected);
  });

  it.each<[string, number | null | undefined, string]>([
    ['Clicks', 0, '0'],
    ['Clicks', undefined, 'no row'],
    ['CTR', undefined, 'no row'],
    ['CTR', null, 'no value'],
    ['CTR', 1.5, '1.50 %'],
  ])('describe a point of %s with the figure %s as "%s"', (metric, point, expected) => {
    expect(pointText(point, chart({ metric }), run)).toBe(expected);
  });
});

it.each<[string, Partial<ChartData>, boolean]>([
  ['is offered if the drawn chart has no split', { by: undefined, isCompared: true }, true],
  ['is offered if the chart has several times', { times: [0, 86_400] }, true],
  ['is offered in a comparison', { isCompared: true }, true],
  ['is not offered for a single day, because it would be a single figure', { times: [0] }, false],
  ['is not offered without time, because it would be a single figure', {}, false],
])('a chart without a split %s', (_, is, expected) => {
  expect(canBeUnsplit(chart(is))).toBe(expected);
});

const weekdays = (...dayCounts: number[]) => chart({ axis: 'weekdays', dayCounts });
const ONE_EACH = 'Added up by this page: 1 day with rows at each weekday';
const pair = (before: string) => [{ day: '2026-03-10', before }];

it.each([
  [chart({}), [], ''],
  [weekdays(2, 2, 2, 2, 2, 2, 2), [], 'Added up by this page: 2 days with rows at each weekday.'],
  [weekdays(1, 1, 2, 2, 1, 1, 0), pair('2026-03-03'), `${ONE_EACH}, but Wed 2, Thu 2, Sun 0.`],
  [
    weekdays(1, 1, 1, 1, 1, 1, 1),
    pair('2026-03-06'),
    `${ONE_EACH}. The days before are drawn at the weekday of the day beside them.`,
  ],
])('addedUpWords says what the page has added up by itself: %#', (drawn, pairs, words) => {
  expect(addedUpWords(drawn, pairs)).toBe(words);
});

it.each([
  ['no points', [], []],
  ['one point', [0], [0]],
  ['points beside each other', [1, 2, undefined, 4, 5], []],
  ['points between gaps', [1, undefined, 2, null, 4, 5, undefined, 6], [0, 2, 7]],
])('finds the points that no line leads to: %s', (_, points, expected) => {
  expect(pointsAlone(points)).toEqual(expected);
});
