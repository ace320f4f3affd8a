import { expect, it } from 'vitest';
import { advertiserReport, dimensionsOf } from '../../../lib/report/catalogue.ts';
import { causeWords, emptyCauses, type JudgedFilter } from '../../../page/src/answer/empty-causes.ts';
import type { FoundValues } from '../../../page/src/question/found-values.ts';
import type { Cell } from '../../../page/src/reader/read-csv.ts';

const days = { first: '2026-02-01', last: '2026-02-07' };

const occurring = (values: readonly Cell[], count = values.length): FoundValues => ({
  ...{ metric: 'Impressions', count, total: count },
  values: values.map((value) => ({ value, amount: 1 })),
});

function filter(name: string, values: readonly string[], found?: FoundValues): JudgedFilter {
  const dimension = dimensionsOf(advertiserReport).find((candidate) => candidate.name === name);
  if (!dimension) throw new TypeError(name);
  return { dimension, values, found };
}
const devices = occurring(['Mobile', 'Desktop', null, 'mobile app', 'Mobil']);
const device = (...values: string[]) => filter('DeviceOrProxy', values, devices);
/** A filter on a campaign. If `count` is larger than the number of values, the page has not kept all of them. */
const campaign = (value: string, values: readonly Cell[], count?: number) =>
  filter('CampaignId', [value], occurring(values, count));

const quoted = (values: readonly string[]) => values.map((value) => JSON.stringify(value)).join(', ');
const noRow = (field: string, value: string, ...near: string[]) =>
  `No row has ${field} ${quoted([value])} in these days.${near.length > 0 ? ` Near: ${quoted(near)}.` : ''}`;
const notTogether = (what: string) => `The values of ${what} occur in these days, but in no row together.`;

it.each<[string, readonly JudgedFilter[], readonly string[]]>([
  ['there is no filter', [], []],
  ['the days have no rows', [campaign('7', [])], ['You have no rows at all in these days.']],
  [
    'the value occurs only with a capital letter, and is then the first similar value',
    [filter('DeviceOrProxy', ['mobile'], occurring(['Mobil', 'Mobile', 'mo"bil', 'Desktop']))],
    [noRow('DeviceOrProxy', 'mobile', 'Mobile', 'Mobil', 'mo"bil')],
  ],
  [
    'none of the filter’s values occurs, and one of the values has a blank at its end',
    [device('Desktop ', 'Fridge')],
    [noRow('DeviceOrProxy', 'Desktop ', 'Desktop'), noRow('DeviceOrProxy', 'Fridge')],
  ],
  [
    'four values are similar: it names three of them',
    [campaign('1000', ['1001', '1002', '1003', '1004', '2222'])],
    [noRow('CampaignId', '1000', '1001', '1002', '1003')],
  ],
  // `TV` and `PC` are not similar, because both letters differ.
  ['no value is similar', [filter('DemandOrigin', ['TV'], occurring(['PC']))], [noRow('DemandOrigin', 'TV')]],
  ['one of the filter’s two values occurs', [device('TV', 'Mobile')], []],
  [
    'each filter has a value that occurs',
    [device('TV', 'Mobile'), campaign('007', ['7'])],
    [notTogether('DeviceOrProxy and CampaignId')],
  ],
  [
    'a value may be one of those that the page has not kept',
    [device('Mobile'), campaign('9999', ['1'], 2_000)],
    ['Which filter leaves no row is not known: CampaignId has more than 1,000 values in these days.'],
  ],
  [
    'two values may be among those that the page has not kept',
    [campaign('9999', ['1'], 2_000), filter('CreativeId', ['9999'], occurring(['1'], 2_000))],
    [
      'Which filter leaves no row is not known: CampaignId and CreativeId have more than 1,000 values in these days.',
    ],
  ],
  [
    'the page has not kept the only value',
    [campaign('19', ['18', '7'], 2_000)],
    [noRow('CampaignId', '19', '18')],
  ],
  [
    'the value of one filter does not occur, and the value of the other filter may occur',
    [device('TV'), campaign('9999', ['1'], 2_000)],
    [noRow('DeviceOrProxy', 'TV')],
  ],
  [
    'a value is kept, although the page has not kept all values',
    [device('Mobile'), campaign('1', ['1'], 2_000)],
    [notTogether('DeviceOrProxy and CampaignId')],
  ],
  [
    'the filters by time name the first and the last day',
    [filter('Day', ['2026-02-01T00:00:00Z']), filter('DateTime', ['2026-02-07T23:00:00Z']), device('Mobile')],
    [notTogether('Day, DateTime and DeviceOrProxy')],
  ],
  [
    'the filters by time name times outside the days',
    [filter('Day', ['2026-01-31T00:00:00Z']), filter('DateTime', ['2026-02-08T00:00:00Z'])],
    ['Day 2026-01-31', 'DateTime 2026-02-08 00:00'].map((time) => `${time} is not among the chosen days.`),
  ],
  [
    'the filter names a day outside the chosen days and a day inside',
    [filter('Day', ['2026-01-31T00:00:00Z', '2026-02-02T00:00:00Z'])],
    [],
  ],
])('the causes of an empty report are told if %s', (_, filters, words) => {
  expect(emptyCauses(filters, days).map(causeWords)).toEqual(words);
});
