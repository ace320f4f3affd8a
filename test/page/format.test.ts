import { describe, expect, it } from 'vitest';
import {
  directionOf,
  duration,
  fileSize,
  grouped,
  ratioChangeWords,
  rounded,
  shownCell,
  shownChange,
  shownMetric,
  shownRatio,
} from '../../page/src/format.ts';

describe('the page’s formatting', () => {
  it.each([
    ['0', '0'],
    ['999', '999'],
    ['1000', '1,000'],
    ['-1234567.891011', '-1,234,567.891011'],
    ['9223372036854775807', '9,223,372,036,854,775,807'],
  ])('groups %s as %s', (digits, expected) => {
    expect(grouped(digits)).toBe(expected);
  });

  it('writes sizes and durations with a fitting unit', () => {
    const sizes = [1, 999, 46_500_000, 1_250_000_000].map(fileSize);
    expect(sizes).toEqual(['1 byte', '999 bytes', '46.5 MB', '1.25 GB']);
    expect([400, 12_300, 125_000].map(duration)).toEqual(['0.4 s', '12 s', '2 min 5 s']);
  });

  it('shortens times by their grain, groups the digits of metrics, and leaves texts as they are', () => {
    const time = '2026-02-01T05:00:00Z';
    const field = (grain: 'day' | 'hour') =>
      ({ role: 'dimension', type: 'datetime', grain, name: 'x', meaning: '' }) as const;
    expect(shownCell(time, field('day'))).toBe('2026-02-01');
    expect(shownCell(time, field('hour'))).toBe('2026-02-01 05:00');
    const named = { name: 'x', column: 'x', meaning: '' };
    expect(shownCell('1234.5', { role: 'metric', type: 'float', ...named })).toBe('1,234.5');
    const text = { role: 'dimension', type: 'string', ...named } as const;
    for (const kept of [time, '7000013']) expect(shownCell(kept, text)).toBe(kept);
    expect(shownCell(null, text)).toBe('');
  });

  it.each([
    ['1.005', 2, '1.01'],
    ['-0.004', 2, '0.00'],
    ['0.999999', 2, '1.00'],
    ['12', 2, '12.00'],
    ['-1.995', 2, '-2.00'],
    ['9.5', 0, '10'],
    // A JavaScript number would lose the last digit.
    ['90071992547409931.125', 2, '90071992547409931.13'],
    ['no number', 2, 'no number'],
  ])('rounds %s to %d places: %s', (digits, places, expected) => {
    expect(rounded(digits, places)).toBe(expected);
  });

  it('rounds amounts to the cent, and shows changes with their sign and ratios with their unit', () => {
    const metrics = [shownMetric('1234.567890', true), shownMetric('1234', false), shownMetric(null, true)];
    expect(metrics).toEqual(['1,234.57', '1,234', '–']);
    const changes = ['5', '-5', '0', null].map((digits) => shownChange(digits, false));
    expect(changes).toEqual(['+5', '-5', '0', '–']);
    expect(shownRatio('1.204819', 'percent')).toBe('1.20 %');
    expect(shownRatio('3.2041', 'amount')).toBe('3.204');
    expect(shownRatio('2.5', 'times')).toBe('2.50×');
    expect(shownRatio(null, 'percent')).toBe('–');
  });

  it.each([
    ['0.050000', '1.770000', 'percent', '+0.05 from 1.77 %'],
    ['-1234.500000', '2000.000000', 'amount', '-1,234.500 from 2,000.000'],
    ['0.001000', '2.500000', 'times', '0.00 from 2.50×'],
    [null, '2.500000', 'times', 'from 2.50×'],
    [null, null, 'percent', 'no value before'],
  ] as const)('describes the change %s of a ratio from %s (%s)', (change, before, unit, expected) => {
    expect(ratioChangeWords(change, before, unit)).toBe(expected);
  });

  it.each([
    ['+5', 'rise'],
    ['0.010000', 'rise'],
    ['-5', 'fall'],
    ['0', undefined],
    ['-0.00', undefined],
    ['–', undefined],
  ])('finds the direction of %s: %s', (change, expected) => {
    expect(directionOf(change)).toBe(expected);
  });
});
