import { expect, it } from 'vitest';
import { expectedAt, promiseWords } from '../../../page/src/question/told-day.ts';

it('a day is expected by the promised time, and late once that is over', () => {
  const at = Date.parse('2026-02-03T06:00:00Z');
  expect(promiseWords('2026-02-03T06:00:00Z', at - 1)).toBe(' (expected by 2026-02-03 06:00 UTC)');
  expect(promiseWords('2026-02-03T06:00:00Z', at)).toBe(' (late since 2026-02-03 06:00 UTC)');
  expect(promiseWords(undefined, at)).toBe('');
});

it('the service says by when a day with events is expected; of later days it follows from the promised hours', () => {
  const open = {
    day: '2026-02-02',
    state: 'open',
    version: 'v',
    expectedAt: '2026-02-03T06:00:00Z',
  } as const;
  const known = { days: new Map([[open.day, open]]), newest: open.day };
  const expected = (finalAfterHours?: number) =>
    ['2026-02-01', open.day, '2026-02-03'].map((day) => expectedAt(day, { ...known, finalAfterHours }));
  expect(expected()).toEqual([undefined, open.expectedAt, undefined]);
  expect(expected(30)).toEqual([undefined, open.expectedAt, '2026-02-05T06:00:00.000Z']);
});
