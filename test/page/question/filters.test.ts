import { expect, it } from 'vitest';
import { dimensionsOf, publisherReport } from '../../../lib/report/catalogue.ts';
import { emptyCauses } from '../../../page/src/answer/empty-causes.ts';
import { type Choice, type ChosenFilter, firstChoice } from '../../../page/src/question/choice.ts';
import { isDayAsked, overDays } from '../../../page/src/question/compare.ts';
import { freeFilters } from '../../../page/src/question/free-filters.ts';
import { daysBetween } from '../../../page/src/question/presets.ts';

const asked = (...filters: ChosenFilter[]): Choice => ({ ...firstChoice(), filters });

it('a filter can be chosen in the form, once for each dimension', () => {
  const names = dimensionsOf(publisherReport).map(({ name }) => name);
  expect(freeFilters(publisherReport, []).map(({ field }) => field)).toEqual(names);
  const onDevice = { field: 'DeviceOrProxy', values: ['tv', 'radio'] };
  expect(freeFilters(publisherReport, [onDevice]).map(({ field }) => field)).not.toContain('DeviceOrProxy');
});

// The comparison leaves out 10 March. 20 March is not a day of the comparison.
it.each([
  ['Day', ['2026-03-09T00:00:00Z', '2026-03-20T00:00:00Z']],
  ['Day', ['2026-03-20T00:00:00Z']],
  ['DateTime', ['2026-03-09T10:00:00Z', '2026-03-20T10:00:00Z']],
  ['DateTime', ['2026-03-20T10:00:00Z']],
])('limits a comparison to the hours that pass the filter: %s %j', (field, values) => {
  const choice = asked({ field, values });
  const moved = new Map([
    ['2026-03-08', '2026-03-02'],
    ['2026-03-09', '2026-03-03'],
    ['2026-03-11', '2026-03-05'],
  ]);
  const timesOf = (day: string) =>
    ['00', '10'].map((hour) => ({ Day: `${day}T00:00:00Z`, DateTime: `${day}T${hour}:00:00Z` }));
  const passes = (time: Record<string, string>, filters: readonly ChosenFilter[]) =>
    filters.every((filter) => filter.values.includes(time[filter.field] ?? ''));

  const expected = [...moved].flatMap(([day, before]) =>
    timesOf(day).flatMap((time, index) => (passes(time, choice.filters) ? [timesOf(before)[index]] : [])),
  );
  const over = overDays(choice, publisherReport, moved);
  const compared = over
    ? daysBetween(over.days, 32)
        .flatMap(timesOf)
        .filter((time) => passes(time, over.choice.filters))
    : [];
  expect(compared, 'page/src/question/compare.ts, overDays: other hours than the filter lets pass').toEqual(
    expected,
  );
  for (const day of moved.keys())
    if (timesOf(day).some((time) => values.includes(time[field as 'Day'])))
      expect(isDayAsked(choice, publisherReport, day), `isDayAsked leaves out ${day}`).toBe(true);
});

it.each([
  ['DeviceOrProxy', ['radio'], ['tv', 'phone']],
  ['Day', ['2026-03-20T00:00:00Z'], ['2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z']],
])(
  'lets the page blame its filter for an empty report only if no value passes the filter: %s %j',
  (field, values, present) => {
    const dimension = dimensionsOf(publisherReport).find(({ name }) => name === field);
    if (!dimension) throw new TypeError(field);
    const found = {
      metric: 'Clicks',
      values: present.map((value) => ({ value, amount: 1 })),
      count: present.length,
      total: present.length,
    };
    const causes = emptyCauses([{ dimension, values, found }], {
      first: '2026-03-01',
      last: '2026-03-02',
    });
    const isNamed = !present.some((value) => values.includes(value));
    expect(causes.length > 0, 'page/src/answer/empty-causes.ts blames a filter that lets values pass').toBe(
      isNamed,
    );
  },
);

it('a comparison includes only the days that a filter by time names', () => {
  const choice = asked({ field: 'DateTime', values: ['2026-03-09T10:00:00Z'] });
  expect(isDayAsked(choice, publisherReport, '2026-03-09')).toBe(true);
  expect(isDayAsked(choice, publisherReport, '2026-03-10')).toBe(false);
});
