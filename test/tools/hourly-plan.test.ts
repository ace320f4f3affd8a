import { expect, it } from 'vitest';
import type { ListedFile } from '../../lake-check/lake-facts.ts';
import { type DayAction, finalRule, type HoursDay, planDay } from '../../tools/lake/hourly/hourly-plan.ts';
import type { LakeDay } from '../../tools/lake/store/lake-target.ts';

const TODAY = '2026-02-01';
const DAY = '2026-01-31';

const file: ListedFile = { path: 'a.parquet', size: 1, modifiedAt: 0 };
const raw = (changed: Partial<LakeDay> = {}): LakeDay => ({
  ...{ day: DAY, version: 'v2', files: [file], isMarked: true },
  ...changed,
});
const note = (version: string, isMarked = true) => ({
  note: { from: 'raw', version, isMarked, columns: 'a' },
});
const hours = (changed: Partial<HoursDay> = {}): HoursDay => ({
  ...{ day: DAY, file, others: [], isMarked: true },
  ...changed,
});
const others = [file];
const open = { isMarked: false };
const openToday = { day: TODAY, isMarked: false };

it.each<[string, DayAction, LakeDay | undefined, HoursDay?, object?]>([
  ['a new day', 'write-final', raw()],
  ['a restated day', 'write-final', raw(), hours(note('v1'))],
  ['a day that is up to date', 'as-it-is', raw(), hours(note('v2'))],
  ['a day that is up to date, with --again', 'write-final', raw(), hours(note('v2')), { again: true }],
  ['a day that was made of fewer columns', 'write-final', raw(), hours(note('v2')), { columns: 'a,b' }],
  ['a day whose killed writer wrote no marker', 'write-final', raw(), hours(open)],
  ['a day whose marker names no version', 'write-final', raw(), hours()],
  ['today, which has no marker yet', 'write-open', raw(openToday)],
  ['a changed open day', 'write-open', raw(openToday), hours({ ...openToday, ...note('v1', false) })],
  ['an open day up to date', 'as-it-is', raw(openToday), hours({ ...openToday, ...note('v2', false) })],
  ['a day that was open and is final now', 'write-final', raw(), hours({ ...open, ...note('v2', false) })],
  ['a final day that is being written again', 'keep-whole', raw(open), hours(note('v1'))],
  ['such a day before its hours have a marker', 'keep-whole', raw(openToday), hours(openToday)],
  ['a past day of a table that never had a marker', 'write-final', raw(open)],
  ['a past day that no longer has its marker', 'keep-whole', raw(open), hours(note('v1', true))],
  ['a restated day of such a table', 'write-final', raw(open), hours(note('v1', false))],
  ['a day whose raw files are gone', 'keep-only-copy', undefined, hours(note('v1'))],
  ['a day with files of another writer', 'refuse-other-files', raw(), hours({ others: [file] })],
  ['such a day with --replace', 'write-final', raw(), hours({ others: [file] }), { replace: true }],
  ['such a day up to date', 'write-final', raw(), hours({ others, ...note('v2') }), { replace: true }],
  ['a final day without records', 'as-it-is', raw({ files: [] })],
  ['a day that lost its last record', 'write-final', raw({ files: [] }), hours(note('v1'))],
])('the plan for %s is %s', (_, action, rawDay, hoursDay, options) => {
  const isFinal = finalRule(rawDay ? [rawDay] : [], hoursDay ? [hoursDay] : [], TODAY);
  const facts = { raw: rawDay, hours: hoursDay, isFinal, columns: 'a', again: false, replace: false };
  expect(planDay({ ...facts, ...options })).toBe(action);
});

it('a table’s past days without a marker are open if any day of the table has a marker', () => {
  const isFinal = finalRule([raw(open), raw({ day: '2026-01-30' })], [], TODAY);
  expect([raw(open), raw({ day: '2026-01-30' })].map(isFinal)).toEqual([false, true]);
});
