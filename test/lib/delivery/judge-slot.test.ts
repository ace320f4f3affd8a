import { describe, expect, it } from 'vitest';
import { isUnderWay, judgeSlot } from '../../../lib/delivery/judge-slot.ts';
import type { JobRecord } from '../../../lib/results/job-record.ts';
import { readSlots, type Slot } from '../../../lib/results/slots-document.ts';
import { startingRecord, succeededRecord, underWayRecord } from './setting.ts';

const slot = (job: string, more: Partial<Slot> = {}): Slot => ({
  id: `slot-${job}`,
  record: `jobs/${job}`,
  heldMs: 0,
  ...more,
});
const [a, b, wanted] = [slot('a'), slot('b'), slot('wanted')];
const mine = slot('wanted', { id: 'earlier', heldMs: 20_000 });
const LONGEST_MS = 600_000;
const wait = { next: 'wait' };
const share = { next: 'share', slot: mine };
const take = (others: Slot[], taken = wanted) => ({ next: 'take', slot: taken, others });

describe('judgeSlot', () => {
  it.each<[string, Slot[], number, JobRecord | undefined, object]>([
    ['nothing is under way', [], 1, undefined, take([])],
    ['one of two slots is free', [a], 2, undefined, take([a])],
    ['all slots are taken', [a, b], 2, undefined, wait],
    ['more slots are held than a lowered limit allows', [a, b], 1, undefined, wait],
    ['the limit is zero', [], 0, undefined, wait],
    ['a slot was held for the longest time', [slot('a', { heldMs: LONGEST_MS }), b], 2, undefined, take([b])],
    [
      'a slot was held for nearly the longest time',
      [slot('a', { heldMs: LONGEST_MS - 1 }), b],
      2,
      undefined,
      wait,
    ],
    ['another request has taken a slot for the same attempt', [a, mine], 2, undefined, share],
    [
      'another request has taken a slot for the next attempt',
      [a, mine],
      2,
      succeededRecord({ slot: 'before' }),
      share,
    ],
    [
      'another request has taken a slot for the same attempt and never created its record',
      [a, { ...mine, heldMs: 30_000 }],
      2,
      undefined,
      take([a]),
    ],
    [
      'the attempt of the job’s slot has ended',
      [mine, a],
      2,
      succeededRecord({ slot: 'earlier' }),
      take([a]),
    ],
    [
      'the job’s attempt is taken over',
      [mine, a],
      2,
      startingRecord({ slot: 'earlier' }),
      take([a], { ...wanted, id: 'earlier' }),
    ],
    [
      'the job’s query has ended, but its record still says that it runs',
      [mine, a],
      2,
      underWayRecord({ slot: 'earlier' }),
      take([a]),
    ],
    [
      'the job’s attempt, which another client started, is taken over',
      [a],
      2,
      startingRecord({ slot: 'earlier' }),
      take([a]),
    ],
  ])('judges the case that %s', (_, held, count, latest, verdict) => {
    expect(judgeSlot(held, wanted, latest, { count, longestMs: LONGEST_MS })).toEqual(verdict);
  });
});

describe('isUnderWay', () => {
  const held = slot('a', { heldMs: 40_000 });
  const own = { slot: held.id };
  const { leaseMs: _, ...left } = startingRecord(own);

  it.each<[string, Slot, JobRecord | undefined, number, boolean]>([
    ['its attempt was created a moment ago', held, startingRecord(own), 0, true],
    ['its lease was given up not quite a minute ago, and no start is recorded', held, left, 59_999, true],
    ['its lease was given up a minute ago, and no start is recorded', held, left, 60_000, false],
    [
      'its lease ended not quite a minute ago, and no start is recorded',
      held,
      startingRecord(own),
      84_999,
      true,
    ],
    ['its lease ended a minute ago, and no start is recorded', held, startingRecord(own), 85_000, false],
    [
      'a request has just taken the slot again, to take the attempt over',
      slot('a', { heldMs: 29_999 }),
      startingRecord(own),
      85_000,
      true,
    ],
    ['no request asks any more about its running query', held, underWayRecord(own), 9e9, true],
    ['its query has ended', held, succeededRecord(own), 0, false],
    ['it was just taken, and no attempt is created yet', slot('a', { heldMs: 29_999 }), undefined, 0, true],
    [
      'it was just taken, and the record is that of the previous attempt',
      slot('a', { heldMs: 29_999 }),
      succeededRecord(),
      0,
      true,
    ],
    [
      'no attempt was created in the longest time that a request lives',
      slot('a', { heldMs: 30_000 }),
      undefined,
      0,
      false,
    ],
    ['the attempt is created with another slot', held, startingRecord({ slot: 'other' }), 0, false],
    ['the attempt is created without a slot', held, underWayRecord(), 0, false],
  ])('judges whether a slot is in use: %s', (_, of, record, ageMs, expected) => {
    expect(isUnderWay(of, record, ageMs)).toBe(expected);
  });
});

describe('readSlots', () => {
  const document = { form: 2, slots: [slot('a', { heldMs: 500 })] };

  it('reads the slots, and adds the age of the document to the time that each slot was held', () => {
    expect(readSlots({ document, etag: '', ageMs: 2_000 })).toEqual([slot('a', { heldMs: 2_500 })]);
  });

  it.each<[string, unknown]>([
    ['of form 1', { form: 1, leases: [] }],
    ['of another form', { ...document, form: 3 }],
    [
      'with a slot whose record is outside `jobs/`',
      { ...document, slots: [{ id: 'a', record: 'a', heldMs: 0 }] },
    ],
    ['with a slot that has no id', { ...document, slots: [{ record: 'jobs/a', heldMs: 0 }] }],
    ['that is no JSON', undefined],
  ])('finds no slots in a document %s', (_, other) => {
    expect(readSlots({ document: other, etag: '', ageMs: 0 })).toEqual([]);
  });

  it('finds no slots if nothing is stored', () => {
    expect(readSlots(undefined)).toEqual([]);
  });
});
