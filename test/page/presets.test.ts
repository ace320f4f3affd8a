import { describe, expect, it } from 'vitest';
import { addDays, type Days, daysBetween, type Preset, resolveWindow } from '../../page/src/presets.ts';

describe('resolveWindow', () => {
  it.each<[Preset, string, string | undefined, Days]>([
    ['yesterday', '2026-03-01', undefined, { first: '2026-02-28', last: '2026-02-28' }],
    ['last-7-days', '2026-03-01', undefined, { first: '2026-02-22', last: '2026-02-28' }],
    ['last-month', '2026-03-31', undefined, { first: '2026-02-01', last: '2026-02-28' }],
    ['last-month', '2026-01-01', undefined, { first: '2025-12-01', last: '2025-12-31' }],
    ['latest', '2026-11-21', '2026-02-28', { first: '2026-02-22', last: '2026-02-28' }],
    ['latest', '2026-03-01', undefined, { first: '2026-02-22', last: '2026-02-28' }],
    // Today is not over: it is never among the latest days.
    ['latest', '2026-03-01', '2026-03-01', { first: '2026-02-22', last: '2026-02-28' }],
  ])('%s on %s, with events up to %s', (preset, today, newest, days) => {
    expect(resolveWindow(preset, { today, newest })).toEqual(days);
  });

  it('leaves chosen days as they are', () => {
    const days = { first: '2026-01-05', last: '' };
    expect(resolveWindow(days, { today: '2026-03-01', newest: undefined })).toBe(days);
  });
});

describe('days', () => {
  it('are counted over months and leap days', () => {
    expect(addDays('2024-02-28', 1)).toBe('2024-02-29');
    expect(addDays('', 1)).toBe('');
  });

  it('are listed from the first to the last, as many as may be', () => {
    expect(daysBetween({ first: '2026-02-27', last: '2026-03-01' }, 32)).toEqual([
      '2026-02-27',
      '2026-02-28',
      '2026-03-01',
    ]);
    expect(daysBetween({ first: '2026-01-01', last: '2026-12-31' }, 33)).toHaveLength(33);
    expect(daysBetween({ first: '2026-01-02', last: '2026-01-01' }, 33)).toEqual([]);
    expect(daysBetween({ first: '', last: '2026-01-01' }, 33)).toEqual([]);
  });
});
