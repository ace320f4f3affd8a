import { expect, it } from 'vitest';
import { firstChoice } from '../../../page/src/question/choice.ts';
import { questionWords } from '../../../page/src/question/question-words.ts';

const days = { first: '2026-02-22', last: '2026-02-28' };

it.each([
  [
    { window: 'last-7-days', fields: ['Day', 'DeviceOrProxy', 'Clicks', 'Revenue'] },
    'Publisher · last 7 days · by Day, DeviceOrProxy · Clicks, Revenue',
  ],
  [
    {
      window: days,
      fields: ['Clicks'],
      filters: [
        { operator: 'filter', field: 'DeviceOrProxy', values: ['Mobile', ' Tablet'] },
        { operator: 'filter', field: 'Day', values: ['2026-02-22T00:00:00Z'] },
        { operator: 'filter', field: 'PlacementId', values: ['1', '2', '3', '4', '5'] },
      ],
      compare: 'period-before',
    },
    'Publisher · 2026-02-22 to 2026-02-28 · in all · Clicks · only DeviceOrProxy "Mobile" or " Tablet" · ' +
      'only Day 2026-02-22 · only PlacementId 1, 2, 3 or 2 more · against the days just before',
  ],
] as const)('a question in one line describes the choice %j', (change, words) => {
  expect(questionWords({ ...firstChoice(), ...change }, days)).toBe(words);
});
