import { describe, expect, it } from 'vitest';
import { publisherReport } from '../../../lib/report/catalogue.ts';
import { type Choice, firstChoice } from '../../../page/src/question/choice.ts';
import { comparedDays, dayPairs, isDayAsked, overDays } from '../../../page/src/question/compare.ts';
import { addDays } from '../../../page/src/question/presets.ts';
import type { DayState } from '../../../page/src/question/told-day.ts';

const daysOf = (...days: number[]) => days.map((day) => `2026-03-${String(day).padStart(2, '0')}`);

describe('the days of a comparison', () => {
  it.each([
    ['period-before', '2026-03-08 2026-03-09', '2026-03-06 2026-03-07'],
    ['weekdays-before', '2026-03-01', '2026-02-22'],
    ['weekdays-year-before', '2026-03-01', '2025-03-02'],
    ...[
      ['2026-03-08 2026-03-09', '2025-03-08 2025-03-09'],
      // With a leap day, both sides still have the same number of days.
      ['2024-02-29 2024-03-01', '2023-02-28 2023-03-01'],
      ['2025-02-28 2025-03-01', '2024-02-28 2024-02-29'],
    ].map(([window = '', before = '']) => ['year-before', window, before] as const),
    ...[
      ['2026-03-01', '2026-02-28'],
      ['', ''],
    ].map(([window = '', before = '']) => ['period-before', window, before] as const),
    ['none', '2026-03-08', ''],
  ] as const)('are paired with the days of the window: %s, %s', (comparison, window, before) => {
    const pairs = dayPairs(comparison, window.split(' ').filter(Boolean));
    expect(pairs.map((pair) => pair.before).join(' ')).toBe(before);
    if (before) expect(pairs.map((pair) => pair.day).join(' ')).toBe(window);
  });

  it.each([
    [7, 7],
    [8, 14],
    [32, 35],
  ])('have the same weekdays: %i days are compared with those %i days before', (length, daysBefore) => {
    const window = Array.from({ length }, (_, index) => addDays('2026-03-08', index));
    const pairs = dayPairs('weekdays-before', window);
    expect(pairs).toEqual(window.map((day) => ({ day, before: addDays(day, -daysBefore) })));
    const last = pairs.at(-1)?.before ?? '';
    expect(last < '2026-03-08').toBe(true);
  });

  it('are left out in pairs if a day of the pair is open or has no data', () => {
    const states: Record<string, DayState> = {
      ...Object.fromEntries(daysOf(5, 7, 8, 9).map((day) => [day, 'final'])),
      ...{ '2026-03-06': 'unknown', '2026-03-10': 'open', '2026-03-11': 'open' },
    };
    const pairs = dayPairs('period-before', daysOf(8, 9, 10));
    const [first, second, third] = pairs;
    expect(comparedDays(pairs, (day) => states[day] ?? 'missing')).toEqual({
      pairs: [first, second],
      leftOut: [{ ...third, why: 'open' }],
    });
    // A pair is also left out if only its earlier day is open. If one day is open and the other has no data, the reason
    // is `no data`.
    const open = [{ day: '2026-03-08', before: '2026-03-11' }];
    expect(comparedDays(open, (day) => states[day]).leftOut).toMatchObject([{ why: 'open' }]);
    const one = pairs.slice(0, 1);
    const isMissing = (day: string) => (day === '2026-03-05' ? 'missing' : 'open');
    expect(comparedDays(one, isMissing).leftOut).toMatchObject([{ why: 'no data' }]);
  });

  it('are all compared if the service does not report their states', () => {
    const pairs = dayPairs('period-before', daysOf(8, 9));
    expect(comparedDays(pairs, () => undefined)).toEqual({ pairs, leftOut: [] });
  });
});

describe('the question for one side of a comparison', () => {
  const asked = (filters: Choice['filters']): Choice => ({ ...firstChoice(), filters });
  /** The question about the days of March that are compared with these: `8-6` is the 8th with the 6th. */
  function over(pairs: string, ...filters: Choice['filters']) {
    const moved = pairs.split(' ').map((pair) => daysOf(...pair.split('-').map(Number)) as [string, string]);
    const question = overDays(asked(filters), publisherReport, new Map(pairs ? moved : []));
    return question && { days: question.days, filters: question.choice.filters };
  }
  const byDevice = { field: 'DeviceOrProxy', values: ['Mobile'] };

  it('has a window without a filter if no day in between is left out', () => {
    expect(over('8-6 9-7')).toEqual({ days: { first: '2026-03-06', last: '2026-03-07' }, filters: [] });
  });

  it('has a filter that names the days if a day in between is left out', () => {
    const byDay = { field: 'Day', values: ['2026-03-05T00:00:00Z', '2026-03-07T00:00:00Z'] };
    expect(over('8-5 10-7', byDevice)).toEqual({
      days: { first: '2026-03-05', last: '2026-03-07' },
      filters: [byDevice, byDay],
    });
  });

  it.each([
    ['Day', ['2026-03-09T00:00:00Z', '2026-03-12T00:00:00Z'], ['2026-03-07T00:00:00Z']],
    ['DateTime', ['2026-03-08T23:00:00Z'], ['2026-03-06T23:00:00Z']],
    ['Day', ['2026-03-12T00:00:00Z'], undefined],
  ])(
    'moves the values of filters on %s with the days, and is undefined if no day is left',
    (field, values, moved) => {
      expect(over('8-6 9-7', { field, values })?.filters).toEqual(moved && [{ field, values: moved }]);
      expect(over('')).toBeUndefined();
    },
  );

  it('is asked only of the days that a filter by time names', () => {
    const choice = asked([{ field: 'DateTime', values: ['2026-03-09T10:00:00Z'] }]);
    const days = ['2026-03-09', '2026-03-10'].map((day) => isDayAsked(choice, publisherReport, day));
    expect(days).toEqual([true, false]);
  });
});
