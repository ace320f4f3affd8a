import { describe, expect, it } from 'vitest';
import { dimensionsOf, publisherReport } from '../../../lib/report/catalogue.ts';
import { lookFromHash, lookParameters } from '../../../page/src/answer/look.ts';
import { type Choice, firstChoice, fromHash, toHash } from '../../../page/src/question/choice.ts';
import { freeFilters } from '../../../page/src/question/free-filters.ts';

describe('a choice in the address', () => {
  it('names the comparison only if the user has chosen one', () => {
    expect(toHash(firstChoice())).not.toContain('compare');
    expect(toHash({ ...firstChoice(), compare: 'period-before' })).toContain('&compare=period-before');
  });

  it.each<[string, Choice]>([
    ['the first choice', firstChoice()],
    [
      'a first and a last day, and values with characters that have a meaning in a URL',
      {
        report: 'advertiserperformance',
        fields: ['Spend', 'Day', 'CampaignId'],
        window: { first: '2026-01-01', last: '2026-01-31' },
        filters: [
          { field: 'DemandOrigin', values: ["O'Brien & Söhne", '#?%2C,=[]+ "x"', ''] },
          { field: 'CampaignId', values: ['20'] },
        ],
        compare: 'year-before',
      },
    ],
    ['no fields', { ...firstChoice(), fields: [], window: 'last-month' }],
    ['a comparison with the period before', { ...firstChoice(), compare: 'period-before' }],
    ['a window without a last day', { ...firstChoice(), window: { first: '2026-01-01', last: '' } }],
  ])('is read back unchanged: %s', (_, choice) => {
    expect(fromHash(`#${toHash(choice)}`)).toEqual(choice);
  });

  it('is the first choice if the address has no hash', () => {
    expect(fromHash('')).toEqual(firstChoice());
    expect(fromHash('')).toMatchObject({ report: 'publisherperformance', window: 'latest' });
  });

  it('keeps unknown fields, and replaces an unknown report, preset or comparison by the default', () => {
    const hash = '#report=nosuch&requestedFields=Day,Click&window=today&compare=decade-before';
    expect(fromHash(hash)).toEqual({ ...firstChoice(), fields: ['Day', 'Click'] });
  });
});

describe('a look at an answer, in the address', () => {
  const view = { search: '' };
  it.each([
    [{ view, chart: {} }, ''],
    [
      {
        view: { search: 'a&b', sort: { column: 'Spend change %', isDescending: true }, top: 10 },
        chart: { metric: 'CTR', by: 'CampaignId', axis: 'weekdays' },
      },
      'metric=CTR&split=CampaignId&axis=weekdays&order=-Spend change %&search=a&b&top=10',
    ],
    [
      { view: { search: '', sort: { column: 'Day', isDescending: false } }, chart: { by: null } },
      'split=&order=Day',
    ],
  ] as const)('is read back unchanged: %j', (look, words) => {
    const parameters = lookParameters(look);
    expect(parameters.map((pair) => pair.join('=')).join('&')).toBe(words);
    expect(lookFromHash(`#${new URLSearchParams(parameters)}`)).toEqual(look);
  });

  it('ignores what is no look', () => {
    expect(lookFromHash('#top=-3&axis=decade&order=')).toEqual({ view, chart: {} });
  });
});

it('a filter can be chosen in the form, once for each dimension', () => {
  const names = (...chosen: string[]) =>
    freeFilters(
      publisherReport,
      chosen.map((field) => ({ field, values: ['x'] })),
    ).map(({ field }) => field);
  expect(names()).toEqual(dimensionsOf(publisherReport).map(({ name }) => name));
  expect(names('DeviceOrProxy')).not.toContain('DeviceOrProxy');
});
