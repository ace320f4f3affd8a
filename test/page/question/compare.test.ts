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
    ['period-before', '2026-03-01', '2026-02-28'],
    ['weekdays-before', '2026-03-01', '2026-02-22'],
    ['weekdays-year-before', '2026-03-01', '2025-03-02'],
    ['year-before', '2026-03-08 2026-03-09', '2025-03-08 2025-03-09'],
    // With a leap day, both sides still have the same number of days.
    ['year-before', '2024-02-29 2024-03-01', '2023-02-28 2023-03-01'],
    ['year-before', '2025-02-28 2025-03-01', '2024-02-28 2024-02-29'],
    ['none', '2026-03-08', ''],
    ['period-before', '', ''],
  ] as const)('are paired with the days of the window: %s, %s', (comparison, window, before) => {
    const pairs = dayPairs(comparison, window.split(' ').filter(Boolean));
    expect(pairs.map((pair) => pair.before).join(' ')).toBe(before);
    if (before) expect(pairs.map((pair) => pair.day).join(' ')).toBe(window);
  });

  it.each([
    [1, 7],
    [7, 7],
    [8, 14],
    [30, 35],
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
      '2026-03-08': 'final',
      '2026-03-09': 'final',
      '2026-03-10': 'open',
      '2026-03-05': 'final',
      '2026-03-06': 'unknown',
      '2026-03-07': 'final',
      '2026-03-11': 'open',
    };
    const pairs = dayPairs('period-before', daysOf(8, 9, 10));
    expect(comparedDays(pairs, (day) => states[day] ?? 'missing')).toEqual({
      pairs: [
        { day: '2026-03-08', before: '2026-03-05' },
        { day: '2026-03-09', before: '2026-03-06' },
      ],
      leftOut: [{ day: '2026-03-10', before: '2026-03-07', why: 'open' }],
    });
    // A pair is also left out if only its earlier day is open. If one day is open and the other has no data, the reason
    // is `no data`.
    const [pair] = pairs;
    expect(
      comparedDays([{ day: '2026-03-08', before: '2026-03-11' }], (day) => states[day]).leftOut,
    ).toMatchObject([{ why: 'open' }]);
    expect(
      comparedDays(pair ? [pair] : [], (day) => (day === '2026-03-05' ? 'missing' : 'open')).leftOut,
    ).toMatchObject([{ why: 'no data' }]);
  });

  it('are all compared if the service does not report their states', () => {
    const pairs = dayPairs('period-before', daysOf(8, 9));
    expect(comparedDays(pairs, () => undefined)).toEqual({ pairs, leftOut: [] });
  });
});

describe('the question for one side of a comparison', () => {
  const asked = (filters: Choice['filters']): Choice => ({ ...firstChoice(), filters });
  const moved = (pairs: readonly (readonly [string, string])[]) => new Map(pairs);

  it('has a window without a filter if no day in between is left out', () => {
    const { choice, days } =
      overDays(
        asked([]),
        publisherReport,
        moved([
          ['2026-03-08', '2026-03-06'],
          ['2026-03-09', '2026-03-07'],
        ]),
      ) ?? {};
    expect(days).toEqual({ first: '2026-03-06', last: '2026-03-07' });
    expect(choice?.filters).toEqual([]);
  });

  it('has a filter that names the days if a day in between is left out', () => {
    const result = overDays(
      asked([{ field: 'DeviceOrProxy', values: ['Mobile'] }]),
      publisherReport,
      moved([
        ['2026-03-08', '2026-03-05'],
        ['2026-03-10', '2026-03-07'],
      ]),
    );
    expect(result?.days).toEqual({ first: '2026-03-05', last: '2026-03-07' });
    expect(result?.choice.filters).toEqual([
      { field: 'DeviceOrProxy', values: ['Mobile'] },
      { field: 'Day', values: ['2026-03-05T00:00:00Z', '2026-03-07T00:00:00Z'] },
    ]);
  });

  it('moves the values of time filters with the days, and is undefined if no day is left', () => {
    const pairs = moved([
      ['2026-03-08', '2026-03-06'],
      ['2026-03-09', '2026-03-07'],
    ]);
    const ofDay = asked([{ field: 'Day', values: ['2026-03-09T00:00:00Z', '2026-03-12T00:00:00Z'] }]);
    expect(overDays(ofDay, publisherReport, pairs)?.choice.filters).toEqual([
      { field: 'Day', values: ['2026-03-07T00:00:00Z'] },
    ]);
    const ofHour = asked([{ field: 'DateTime', values: ['2026-03-08T23:00:00Z'] }]);
    expect(overDays(ofHour, publisherReport, pairs)?.choice.filters).toEqual([
      { field: 'DateTime', values: ['2026-03-06T23:00:00Z'] },
    ]);
    const ofNone = asked([{ field: 'Day', values: ['2026-03-12T00:00:00Z'] }]);
    expect(overDays(ofNone, publisherReport, pairs)).toBeUndefined();
    expect(overDays(asked([]), publisherReport, moved([]))).toBeUndefined();
  });

  it('is asked only of the days that a filter by time names', () => {
    const choice = asked([{ field: 'DateTime', values: ['2026-03-09T10:00:00Z'] }]);
    const days = ['2026-03-09', '2026-03-10'].map((day) => isDayAsked(choice, publisherReport, day));
    expect(days).toEqual([true, false]);
  });
});
