import { expect, it } from 'vitest';
import { expectedAt, promiseWords } from '../../../page/src/question/told-day.ts';

it('a day is expected by the promised time, and late once that is over', () => {
  const promised = '2026-02-03T06:00:00Z';
  const at = Date.parse(promised);
  expect(promiseWords(promised, at - 1)).toBe(' (expected by 2026-02-03 06:00 UTC)');
  expect(promiseWords(promised, at)).toBe(' (late since 2026-02-03 06:00 UTC)');
  expect(promiseWords(undefined, at)).toBe('');
});

it('the service says by when a day with events is expected; of later days it follows from the promised hours', () => {
  const given = { day: '2026-02-02', expectedAt: '2026-02-03T06:00:00Z' };
  const open = { ...given, state: 'open', version: 'v' } as const;
  const known = { days: new Map([[open.day, open]]), newest: open.day };
  const expected = (finalAfterHours?: number) =>
    ['2026-02-01', open.day, '2026-02-03'].map((day) => expectedAt(day, { ...known, finalAfterHours }));
  expect(expected()).toEqual([undefined, open.expectedAt, undefined]);
  expect(expected(30)).toEqual([undefined, open.expectedAt, '2026-02-05T06:00:00.000Z']);
});
