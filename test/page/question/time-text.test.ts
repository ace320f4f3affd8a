import { describe, expect, it } from 'vitest';
import { isWholeTime, timeText, timeValue } from '../../../page/src/question/time-text.ts';

describe('a filter’s day or hour', () => {
  it.each([
    ...[' 2026-02-01 ', '2026-02-01'].map(
      (typed) => ['day', typed, '2026-02-01T00:00:00Z', '2026-02-01'] as const,
    ),
    ['day', '2026-02-30', '2026-02-30T00:00:00Z', '2026-02-30'],
    ['day', '2026-02-01T00:00:00Z', '2026-02-01T00:00:00Z', '2026-02-01'],
    ...['2026-02-01 13:00', '2026-02-01T13:00', '2026-02-01 13'].map(
      (typed) => ['hour', typed, '2026-02-01T13:00:00Z', '2026-02-01 13:00'] as const,
    ),
    ['hour', '2026-02-01 13:30', '2026-02-01T13:30:00Z', '2026-02-01 13:30'],
    // What is no day and no hour stays as it is.
    ...['2026-2-1', '2026-02-01T05:00:00Z', ''].map((text) => ['day', text, text, text] as const),
    ...['2026-02-01T13:00:30Z', '2026-02-01', 'noon'].map((text) => ['hour', text, text, text] as const),
  ] as const)('of grain %s, typed as "%s", is sent as "%s", shown as "%s"', (grain, typed, value, shown) => {
    expect(timeValue(typed, grain)).toBe(value);
    expect(timeText(value, grain)).toBe(shown);
  });

  it.each([
    ['day', '2026-02-0', false],
    ['day', '2026-02-01', true],
    ['day', '2026-02-011', false],
    ['hour', '2026-02-01', false],
    ['hour', '2026-02-01 13:0', false],
    ['hour', '2026-02-01 13:00', true],
  ] as const)('of grain %s, typed as "%s", is complete: %s', (grain, text, isWhole) => {
    expect(isWholeTime(text, grain)).toBe(isWhole);
  });
});
