import { expect, it } from 'vitest';
import {
  type DayAction,
  type HoursDay,
  planHours,
  type RawDay,
} from '../../tools/lake/hourly/hourly-plan.ts';

const TODAY = '2026-02-01';
const DAY = '2026-01-31';

const raw = (changed: Partial<RawDay> = {}): RawDay => ({
  ...{ day: DAY, version: 'v2', files: 1, isMarked: true },
  ...changed,
});
const note = (version: string, isMarked = true) => ({ from: 'raw', version, isMarked, columns: 'a' });
const hours = (changed: Partial<HoursDay> = {}): HoursDay => ({
  ...{ day: DAY, hasFile: true, others: 0, isMarked: true },
  ...changed,
});
const actionOf = (
  rawDay: RawDay | undefined,
  hoursDay?: HoursDay,
  options: object = {},
): DayAction | undefined =>
  planHours(rawDay ? [rawDay] : [], hoursDay ? [hoursDay] : [], {
    ...{ today: TODAY, columns: 'a', again: false, replace: false },
    ...options,
  })[0]?.action;

it.each<[string, DayAction, ...Parameters<typeof actionOf>]>([
  ['a new day', 'write-final', raw()],
  ['a restated day', 'write-final', raw(), hours({ note: note('v1') })],
  ['a day that is up to date', 'final-as-it-is', raw(), hours({ note: note('v2') })],
  [
    'a day that is up to date, with --again',
    'write-final',
    raw(),
    hours({ note: note('v2') }),
    { again: true },
  ],
  [
    'a day whose hours have the current version, but were made of fewer columns',
    'write-final',
    raw(),
    hours({ note: note('v2') }),
    { columns: 'a,b' },
  ],
  ['a day whose killed writer wrote no marker', 'write-final', raw(), hours({ isMarked: false })],
  ['a day whose marker names no version', 'write-final', raw(), hours()],
  ['today, which has no marker yet', 'write-open', raw({ day: TODAY, isMarked: false })],
  [
    'an open day that is up to date',
    'open-as-it-is',
    raw({ day: TODAY, isMarked: false }),
    hours({ day: TODAY, isMarked: false, note: note('v2', false) }),
  ],
  [
    'a day that was open and is final now',
    'write-final',
    raw(),
    hours({ isMarked: false, note: note('v2', false) }),
  ],
  [
    'a final day that is being written again',
    'keep-whole',
    raw({ isMarked: false }),
    hours({ note: note('v1') }),
  ],
  [
    'a day that is being written again before its final hours have their marker',
    'keep-whole',
    raw({ day: TODAY, isMarked: false }),
    hours({ day: TODAY, isMarked: false }),
  ],
  ['a past day of a table that never had a marker', 'write-final', raw({ isMarked: false })],
  [
    'a past day that no longer has its marker',
    'keep-whole',
    raw({ isMarked: false }),
    hours({ note: note('v1', true) }),
  ],
  [
    'a restated day of a table that never had a marker',
    'write-final',
    raw({ isMarked: false }),
    hours({ note: note('v1', false) }),
  ],
  ['a day whose raw files are gone', 'keep-only-copy', undefined, hours({ note: note('v1') })],
  ['a day with files of another writer', 'refuse-other-files', raw(), hours({ others: 1 })],
  [
    'a day with files of another writer, with --replace',
    'write-final',
    raw(),
    hours({ others: 1 }),
    { replace: true },
  ],
  ['a final day without records', 'final-as-it-is', raw({ files: 0 }), undefined],
  ['a day that lost its last record', 'write-final', raw({ files: 0 }), hours({ note: note('v1') })],
])('the plan for %s is %s', (_, action, rawDay, hoursDay, options) => {
  expect(actionOf(rawDay, hoursDay, options)).toBe(action);
});

it('the plan leaves out days that were not requested', () => {
  expect(actionOf(raw(), undefined, { isAsked: (day: string) => day !== DAY })).toBeUndefined();
});

it('the plan treats a table’s past days without a marker as open if any day of the table has a marker', () => {
  const planned = planHours([raw({ isMarked: false }), raw({ day: '2026-01-30' })], [], {
    ...{ today: TODAY, columns: 'a', again: false, replace: false },
  });
  expect(planned.map(({ action }) => action)).toEqual(['write-final', 'write-open']);
});
