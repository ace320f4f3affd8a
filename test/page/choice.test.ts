import { describe, expect, it } from 'vitest';
import { type Choice, firstChoice, fromHash, toHash } from '../../page/src/choice.ts';

describe('a choice in the address', () => {
  it.each<[string, Choice]>([
    ['as it is first shown', firstChoice()],
    [
      'of days, and of values that break addresses',
      {
        report: 'advertiserperformance',
        fields: ['Spend', 'Day', 'CampaignId'],
        window: { first: '2026-01-01', last: '2026-01-31' },
        filters: [
          { field: 'DemandOrigin', values: ["O'Brien & Söhne", '#?%2C,=[]+ "x"', ''] },
          { field: 'CampaignId', values: ['20'] },
        ],
      },
    ],
    ['without any field', { ...firstChoice(), fields: [], window: 'last-month' }],
    ['of half a window', { ...firstChoice(), window: { first: '2026-01-01', last: '' } }],
  ])('comes back %s', (_, choice) => {
    expect(fromHash(`#${toHash(choice)}`)).toEqual(choice);
  });

  it('is the first choice where the address holds nothing', () => {
    expect(fromHash('')).toEqual(firstChoice());
    expect(fromHash('')).toMatchObject({ report: 'publisherperformance', window: 'latest' });
  });

  it('keeps unknown fields, so that their fault is shown, and drops an unknown report or preset', () => {
    expect(fromHash('#report=nosuch&requestedFields=Day,Click&window=today')).toEqual({
      ...firstChoice(),
      fields: ['Day', 'Click'],
    });
  });
});
