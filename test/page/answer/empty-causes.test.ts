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
  return { operator: 'filter', dimension, values, found };
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
    ['no filter', [], []],
    ['no rows in the days', [filter('CampaignId', ['7'], occurring([]))], [{ kind: 'no-rows' }]],
    [
      'another case, told first of the near ones',
      [filter('DeviceOrProxy', ['mobile'], occurring(['Mobil', 'Mobile', 'Desktop']))],
      [noSuch('DeviceOrProxy', 'mobile', ['Mobile', 'Mobil'])],
    ],
    [
      'several values of which none occurs, one of them with a blank at its end',
      [filter('DeviceOrProxy', ['Desktop ', 'Fridge'], devices)],
      [noSuch('DeviceOrProxy', 'Desktop ', ['Desktop']), noSuch('DeviceOrProxy', 'Fridge')],
    ],
    [
      'three near ones at most',
      [filter('CampaignId', ['1000'], occurring(['1001', '1002', '1003', '1004', '2222']))],
      [noSuch('CampaignId', '1000', ['1001', '1002', '1003'])],
    ],
    // Two letters of two are another word, not a typing error.
    [
      'nothing in common',
      [filter('DemandOrigin', ['TV'], occurring(['PC']))],
      [noSuch('DemandOrigin', 'TV')],
    ],
    [
      'only the filter whose values do not occur',
      [filter('DeviceOrProxy', ['Mobile'], devices), filter('CampaignId', ['9999'], occurring(['1']))],
      [noSuch('CampaignId', '9999')],
    ],
    [
      'one value that occurs beside one that does not',
      [filter('DeviceOrProxy', ['TV', 'Mobile'], devices)],
      [],
    ],
    [
      'values that all occur',
      [filter('DeviceOrProxy', ['TV', 'Mobile'], devices), filter('CampaignId', ['007'], occurring(['7']))],
      [{ kind: 'not-together', fields: ['DeviceOrProxy', 'CampaignId'] }],
    ],
    [
      'a value that may be among those that are not kept',
      [filter('DeviceOrProxy', ['Mobile'], devices), filter('CampaignId', ['9999'], occurring(['1'], 2_000))],
      [{ kind: 'not-told', fields: ['CampaignId'] }],
    ],
    [
      'a value that is not among those kept, and no other filter',
      [filter('CampaignId', ['19'], occurring(['18', '7'], 2_000))],
      [noSuch('CampaignId', '19', ['18'])],
    ],
    ['a value that occurs, and no other filter', [filter('CampaignId', ['7'], occurring(['7']))], []],
    [
      'a value that does not occur, beside one that may',
      [filter('DeviceOrProxy', ['TV'], devices), filter('CampaignId', ['9999'], occurring(['1'], 2_000))],
      [noSuch('DeviceOrProxy', 'TV')],
    ],
    [
      'a value that is kept of many',
      [filter('DeviceOrProxy', ['Mobile'], devices), filter('CampaignId', ['1'], occurring(['1'], 2_000))],
      [{ kind: 'not-together', fields: ['DeviceOrProxy', 'CampaignId'] }],
    ],
    [
      'the first and the last of the days, and a device',
      [
        filter('Day', ['2026-02-01T00:00:00Z']),
        filter('DateTime', ['2026-02-07T23:00:00Z']),
        filter('DeviceOrProxy', ['Mobile'], devices),
      ],
      [{ kind: 'not-together', fields: ['Day', 'DateTime', 'DeviceOrProxy'] }],
    ],
    [
      'days and hours outside',
      [filter('Day', ['2026-01-31T00:00:00Z']), filter('DateTime', ['2026-02-08T00:00:00Z'])],
      [
        { kind: 'outside-days', field: 'Day', value: '2026-01-31' },
        { kind: 'outside-days', field: 'DateTime', value: '2026-02-08 00:00' },
      ],
    ],
    ['one day outside, one inside', [filter('Day', ['2026-01-31T00:00:00Z', '2026-02-02T00:00:00Z'])], []],
  ])('%s', (_, filters, causes) => {
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
  ])('%o', (cause, words) => {
    expect(causeWords(cause)).toBe(words);
  });
});
