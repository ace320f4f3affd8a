import { describe, expect, it } from 'vitest';
import { advertiserReport, dimensionsOf } from '../../../lib/report/catalogue.ts';
import {
  causeWords,
  type EmptyCause,
  emptyCauses,
  type JudgedFilter,
} from '../../../page/src/answer/empty-causes.ts';
import type { FoundValues } from '../../../page/src/question/found-values.ts';
import type { Cell } from '../../../page/src/reader/read-csv.ts';

const days = { first: '2026-02-01', last: '2026-02-07' };

const occurring = (values: readonly Cell[], count = values.length): FoundValues => ({
  metric: 'Impressions',
  values: values.map((value) => ({ value, amount: 1 })),
  count,
  total: count,
});

function filter(name: string, values: readonly string[], found?: FoundValues): JudgedFilter {
  const dimension = dimensionsOf(advertiserReport).find((candidate) => candidate.name === name);
  if (!dimension) throw new TypeError(name);
  return { dimension, values, found };
}

const devices = occurring(['Mobile', 'Desktop', null, 'mobile app', 'Mobil']);
const noSuch = (field: string, value: string, near: readonly string[] = []): EmptyCause => ({
  kind: 'no-such-value',
  field,
  value,
  near,
});

describe('emptyCauses', () => {
  it.each<[string, readonly JudgedFilter[], readonly EmptyCause[]]>([
    ['there is no filter', [], []],
    ['the days have no rows', [filter('CampaignId', ['7'], occurring([]))], [{ kind: 'no-rows' }]],
    [
      'the value occurs only with a capital letter, and is then the first similar value',
      [filter('DeviceOrProxy', ['mobile'], occurring(['Mobil', 'Mobile', 'Desktop']))],
      [noSuch('DeviceOrProxy', 'mobile', ['Mobile', 'Mobil'])],
    ],
    [
      'none of the filter’s values occurs, and one of the values has a blank at its end',
      [filter('DeviceOrProxy', ['Desktop ', 'Fridge'], devices)],
      [noSuch('DeviceOrProxy', 'Desktop ', ['Desktop']), noSuch('DeviceOrProxy', 'Fridge')],
    ],
    [
      'four values are similar: it names three of them',
      [filter('CampaignId', ['1000'], occurring(['1001', '1002', '1003', '1004', '2222']))],
      [noSuch('CampaignId', '1000', ['1001', '1002', '1003'])],
    ],
    // `TV` and `PC` are not similar, because both letters differ.
    [
      'no value is similar',
      [filter('DemandOrigin', ['TV'], occurring(['PC']))],
      [noSuch('DemandOrigin', 'TV')],
    ],
    [
      'the value of one filter occurs, and the value of the other filter does not occur',
      [filter('DeviceOrProxy', ['Mobile'], devices), filter('CampaignId', ['9999'], occurring(['1']))],
      [noSuch('CampaignId', '9999')],
    ],
    ['one of the filter’s two values occurs', [filter('DeviceOrProxy', ['TV', 'Mobile'], devices)], []],
    [
      'each filter has a value that occurs',
      [filter('DeviceOrProxy', ['TV', 'Mobile'], devices), filter('CampaignId', ['007'], occurring(['7']))],
      [{ kind: 'not-together', fields: ['DeviceOrProxy', 'CampaignId'] }],
    ],
    [
      'a value may be one of those that the page has not kept',
      [filter('DeviceOrProxy', ['Mobile'], devices), filter('CampaignId', ['9999'], occurring(['1'], 2_000))],
      [{ kind: 'not-told', fields: ['CampaignId'] }],
    ],
    [
      'the only filter has a value that the page has not kept',
      [filter('CampaignId', ['19'], occurring(['18', '7'], 2_000))],
      [noSuch('CampaignId', '19', ['18'])],
    ],
    ['the only filter has a value that occurs', [filter('CampaignId', ['7'], occurring(['7']))], []],
    [
      'the value of one filter does not occur, and the value of the other filter may occur',
      [filter('DeviceOrProxy', ['TV'], devices), filter('CampaignId', ['9999'], occurring(['1'], 2_000))],
      [noSuch('DeviceOrProxy', 'TV')],
    ],
    [
      'a value is kept, although the page has not kept all values',
      [filter('DeviceOrProxy', ['Mobile'], devices), filter('CampaignId', ['1'], occurring(['1'], 2_000))],
      [{ kind: 'not-together', fields: ['DeviceOrProxy', 'CampaignId'] }],
    ],
    [
      'the filters by time name the first and the last day',
      [
        filter('Day', ['2026-02-01T00:00:00Z']),
        filter('DateTime', ['2026-02-07T23:00:00Z']),
        filter('DeviceOrProxy', ['Mobile'], devices),
      ],
      [{ kind: 'not-together', fields: ['Day', 'DateTime', 'DeviceOrProxy'] }],
    ],
    [
      'the filters by time name times outside the days',
      [filter('Day', ['2026-01-31T00:00:00Z']), filter('DateTime', ['2026-02-08T00:00:00Z'])],
      [
        { kind: 'outside-days', field: 'Day', value: '2026-01-31' },
        { kind: 'outside-days', field: 'DateTime', value: '2026-02-08 00:00' },
      ],
    ],
    [
      'the filter names a day outside the chosen days and a day inside',
      [filter('Day', ['2026-01-31T00:00:00Z', '2026-02-02T00:00:00Z'])],
      [],
    ],
  ])('finds the causes if %s', (_, filters, causes) => {
    expect(emptyCauses(filters, days)).toEqual(causes);
  });
});

describe('causeWords', () => {
  it.each<[EmptyCause, string]>([
    [
      noSuch('DeviceOrProxy', 'mobile', ['Mobile', 'mo"bil']),
      'No row has DeviceOrProxy "mobile" in these days. Near: "Mobile", "mo\\"bil".',
    ],
    [noSuch('DeviceOrProxy', 'Fridge'), 'No row has DeviceOrProxy "Fridge" in these days.'],
    [
      { kind: 'outside-days', field: 'DateTime', value: '2026-02-08 00:00' },
      'DateTime 2026-02-08 00:00 is not among the chosen days.',
    ],
    [
      { kind: 'not-together', fields: ['Day', 'CampaignId', 'DeviceOrProxy'] },
      'The values of Day, CampaignId and DeviceOrProxy occur in these days, but in no row together.',
    ],
    [
      { kind: 'not-told', fields: ['CampaignId'] },
      'Which filter leaves no row is not known: CampaignId has more than 1,000 values in these days.',
    ],
    [
      { kind: 'not-told', fields: ['CampaignId', 'CreativeId'] },
      'Which filter leaves no row is not known: CampaignId and CreativeId have more than 1,000 values in these days.',
    ],
    [{ kind: 'no-rows' }, 'You have no rows at all in these days.'],
  ])('describes %o', (cause, words) => {
    expect(causeWords(cause)).toBe(words);
  });
});
