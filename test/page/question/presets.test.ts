import { describe, expect, it } from 'vitest';
import {
  addDays,
  type Days,
  daysBetween,
  isPreset,
  PRESETS,
  type Preset,
  resolveWindow,
  windowWords,
} from '../../../page/src/question/presets.ts';

describe('resolveWindow', () => {
  it.each<[Preset, string, string | undefined, Days]>([
    ['yesterday', '2026-03-01', undefined, { first: '2026-02-28', last: '2026-02-28' }],
    ['last-7-days', '2026-03-01', undefined, { first: '2026-02-22', last: '2026-02-28' }],
    ['last-14-days', '2026-03-01', undefined, { first: '2026-02-15', last: '2026-02-28' }],
    ['last-30-days', '2026-03-01', undefined, { first: '2026-01-30', last: '2026-02-28' }],
    ['month-to-date', '2026-03-31', undefined, { first: '2026-03-01', last: '2026-03-30' }],
    ['month-to-date', '2026-03-02', undefined, { first: '2026-03-01', last: '2026-03-01' }],
    // On the first day of a month, the month to date is the whole month before.
    ['month-to-date', '2026-03-01', undefined, { first: '2026-02-01', last: '2026-02-28' }],
    ['last-month', '2026-03-31', undefined, { first: '2026-02-01', last: '2026-02-28' }],
    ['last-month', '2026-01-01', undefined, { first: '2025-12-01', last: '2025-12-31' }],
    ['latest', '2026-11-21', '2026-02-28', { first: '2026-02-22', last: '2026-02-28' }],
    ['latest', '2026-03-01', undefined, { first: '2026-02-22', last: '2026-02-28' }],
    // Today is not over, so it is never one of the latest days.
    ['latest', '2026-03-01', '2026-03-01', { first: '2026-02-22', last: '2026-02-28' }],
  ])('gives the days of %s on %s, with events up to %s', (preset, today, newest, days) => {
    expect(resolveWindow(preset, { today, newest })).toEqual(days);
  });

  it.each(Object.keys(PRESETS).filter(isPreset))('gives at most 32 days, all before today: %s', (preset) => {
    for (const today of ['2026-01-01', '2026-02-01', '2026-03-31', '2024-03-01', '2026-12-31']) {
      const days = resolveWindow(preset, { today, newest: today });
      expect(days.last < today).toBe(true);
      expect(daysBetween(days, 100).length).toBeGreaterThan(0);
      expect(daysBetween(days, 100).length).toBeLessThanOrEqual(32);
    }
  });

  it('leaves chosen days as they are', () => {
    const days = { first: '2026-01-05', last: '' };
    expect(resolveWindow(days, { today: '2026-03-01', newest: undefined })).toBe(days);
  });
});

it.each<[Preset | Days, string]>([
  ['yesterday', 'yesterday, 2026-11-22'],
  ['last-7-days', 'last 7 days'],
  ['month-to-date', 'month to date, 2026-11-01 to 2026-11-22'],
  ['last-month', 'last month, 2026-10'],
  ['latest', '7 days to 2026-11-20'],
  [{ first: '2026-02-01', last: '2026-02-07' }, '2026-02-01 to 2026-02-07'],
  [{ first: '2026-02-01', last: '2026-02-01' }, '2026-02-01'],
  [{ first: '2026-02-01', last: '' }, 'from 2026-02-01, no last day yet'],
  [{ first: '', last: '2026-02-01' }, 'no first day yet, to 2026-02-01'],
  [{ first: '', last: '' }, 'no days yet'],
])('windowWords describes %o: %s', (window, words) => {
  const days = resolveWindow(window, { today: '2026-11-23', newest: '2026-11-20' });
  expect(windowWords(window, days)).toBe(words);
});

describe('days', () => {
  it('are added across the end of a month, and a text that is no day gives the empty text', () => {
    expect(addDays('2024-02-28', 1)).toBe('2024-02-29');
    expect(addDays('', 1)).toBe('');
    // Date.parse takes 30 February for 2 March.
    expect(addDays('2026-02-30', 1)).toBe('');
    expect(addDays('2026-2-3', 1)).toBe('');
  });

  it('are listed up to a limit, or not at all if one is no day or the last is before the first', () => {
    const between = (first: string, last: string) => daysBetween({ first, last }, 33);
    expect(between('2026-02-27', '2026-03-01')).toEqual(['2026-02-27', '2026-02-28', '2026-03-01']);
    expect(between('2026-01-01', '2026-12-31')).toHaveLength(33);
    expect(between('2026-01-02', '2026-01-01')).toEqual([]);
    expect(between('', '2026-01-01')).toEqual([]);
    expect(between('2026-02-30', '2026-03-02')).toEqual([]);
    expect(between('2026-02-27', '2026-02-30')).toEqual([]);
  });
});
