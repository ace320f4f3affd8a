import { describe, expect, it } from 'vitest';
import { type Choice, firstChoice, fromHash, toHash } from '../../../page/src/question/choice.ts';

describe('a choice in the address', () => {
  it('says with what it is compared, and nothing where it is with nothing', () => {
    expect(toHash(firstChoice())).not.toContain('compare');
    expect(toHash({ ...firstChoice(), compare: 'period-before' })).toContain('&compare=period-before');
  });

  it.each<[string, Choice]>([
    ['as it is first shown', firstChoice()],
    [
      'of days, and of values that break addresses',
      {
        report: 'advertiserperformance',
        fields: ['Spend', 'Day', 'CampaignId'],
        window: { first: '2026-01-01', last: '2026-01-31' },
        filters: [
          { operator: 'filter', field: 'DemandOrigin', values: ["O'Brien & Söhne", '#?%2C,=[]+ "x"', ''] },
          { operator: 'filter', field: 'CampaignId', values: ['20'] },
        ],
        compare: 'year-before',
      },
    ],
    ['without any field', { ...firstChoice(), fields: [], window: 'last-month' }],
    ['compared with the days before', { ...firstChoice(), compare: 'period-before' }],
    ['of half a window', { ...firstChoice(), window: { first: '2026-01-01', last: '' } }],
  ])('comes back %s', (_, choice) => {
    expect(fromHash(`#${toHash(choice)}`)).toEqual(choice);
  });

  it('is the first choice where the address holds nothing', () => {
    expect(fromHash('')).toEqual(firstChoice());
    expect(fromHash('')).toMatchObject({ report: 'publisherperformance', window: 'latest' });
  });

  it('keeps unknown fields, so that their fault is shown, and drops an unknown report, preset or comparison', () => {
    const hash = '#report=nosuch&requestedFields=Day,Click&window=today&compare=decade-before';
    expect(fromHash(hash)).toEqual({
      ...firstChoice(),
      fields: ['Day', 'Click'],
    });
  });
});
