import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { JobRecord } from '../../../lib/results/job-record.ts';
import { slotsKey } from '../../../lib/results/keys.ts';
import { isUnderWay, judgeSlot, readSlots, type Slot, takeSlot } from '../../../lib/results/slots.ts';
import { memoryBucket } from '../delivery/memory-bucket.ts';
import { doneRecord, START, startingRecord, UUID, underWayRecord } from '../delivery/setting.ts';
import { settled, useFakeTime } from '../delivery/settled.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
useFakeTime();

const slot = (job: string, more: Partial<Slot> = {}): Slot => {
  return { id: `slot-${job}`, record: `jobs/${job}`, heldMs: 0, ...more };
};
const [a, b, wanted] = [slot('a'), slot('b'), slot('wanted')];
const mine = slot('wanted', { id: 'earlier', heldMs: 20_000 });
const earlier = { slot: 'earlier' };
const LONGEST_MS = 600_000;
const heldFor = (heldMs: number) => slot('a', { heldMs });

describe('judgeSlot', () => {
  const wait = undefined;
  const share = { id: mine.id };
  const take = (others: Slot[], taken = wanted) => ({ id: taken.id, slots: [...others, taken] });
  const takeEarlier = take([a], { ...wanted, id: 'earlier' });

  it.each<[string, Slot[], number, JobRecord | undefined, object | undefined]>([
    ['one of two slots is free', [a], 2, undefined, take([a])],
    ['all slots are taken', [a, b], 2, undefined, wait],
    ['more slots are held than a lowered limit allows', [a, b], 1, undefined, wait],
    ['a slot was held for the longest time', [heldFor(LONGEST_MS), b], 2, undefined, take([b])],
    ['a slot was held for nearly the longest time', [heldFor(LONGEST_MS - 1), b], 2, undefined, wait],
    ['another request has taken a slot for the attempt', [a, mine], 2, undefined, share],
    ['another has taken a slot for the next attempt', [a, mine], 2, doneRecord({ slot: 'before' }), share],
    ['another has taken a slot and died', [a, { ...mine, heldMs: 30_000 }], 2, undefined, take([a])],
    ['the attempt of the job’s slot has ended', [mine, a], 2, doneRecord(earlier), take([a])],
    ['the job’s attempt is taken over', [mine, a], 2, startingRecord(earlier), takeEarlier],
    ['the job’s query has ended, unrecorded', [mine, a], 2, underWayRecord(earlier), take([a])],
    ['the attempt of another client is taken over', [a], 2, startingRecord(earlier), take([a])],
  ])('judges the case that %s', (_, held, count, latest, verdict) => {
    expect(judgeSlot(held, wanted, latest, { count, longestMs: LONGEST_MS })).toEqual(verdict);
  });
});

describe('isUnderWay', () => {
  const held = heldFor(40_000);
  const fresh = heldFor(29_999);
  const own = { slot: held.id };
  const free = startingRecord({ ...own, leaseMs: undefined });

  it.each<[string, Slot, JobRecord | undefined, number, boolean]>([
    ['given up not quite a minute ago, no start recorded', held, free, 59_999, true],
    ['given up a minute ago, no start recorded', held, free, 60_000, false],
    ['the lease ended not quite a minute ago, no start recorded', held, startingRecord(own), 84_999, true],
    ['the lease ended a minute ago, no start recorded', held, startingRecord(own), 85_000, false],
    ['a request has just taken it again, to take over', fresh, startingRecord(own), 85_000, true],
    ['no request asks any more about its running query', held, underWayRecord(own), 9e9, true],
    ['its query has ended', held, doneRecord(own), 0, false],
    ['just taken, no attempt is created yet', fresh, undefined, 0, true],
    ['just taken, the record is that of the previous attempt', fresh, doneRecord(), 0, true],
    ['no attempt in the longest time of a request', heldFor(30_000), undefined, 0, false],
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
    expect(readSlots(undefined)).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['of another form', { ...document, form: 3 }],
    ['with a record outside the prefixes', { ...document, slots: [{ ...a, record: 'a' }] }],
    ['with a slot that has no id', { ...document, slots: [a, { record: 'jobs/a', heldMs: 0 }] }],
    ['with a time that is text', { ...document, slots: [{ ...a, heldMs: '5' }] }],
    ['without slots', { form: 2 }],
    ['that is no JSON', undefined],
  ])('finds no slots in a document %s', (_, other) => {
    expect(readSlots({ document: other, etag: '', ageMs: 0 })).toEqual([]);
  });
});

describe('takeSlot', () => {
  const KEY = slotsKey('client-1');
  const OTHER = 'jobs/other.json';
  const JOB = 'jobs/job-1.json';
  let results = memoryBucket();
  beforeEach(() => {
    results = memoryBucket();
  });
  const take = (count: number, hasEnded?: Parameters<typeof takeSlot>[5]) => {
    const terms = { count, longestMs: LONGEST_MS, until: START + 1_000 };
    return settled(
      takeSlot(results, 'client-1', { key: JOB, latest: undefined }, terms, undefined, hasEnded),
    );
  };
  const hold = (record: object | undefined, ageMs = 0) => {
    vi.setSystemTime(START - ageMs);
    results.put(KEY, { form: 2, slots: [{ id: 'slot-1', record: OTHER, heldMs: 0 }] });
    if (record) results.put(OTHER, record);
    vi.setSystemTime(START);
  };
  const slotsHeld = () => readSlots({ document: results.document(KEY), etag: '', ageMs: 0 });

  it('creates the document of the first slot, by one read and one write', async () => {
    expect(KEY).toMatch(/^slots\/[0-9a-f]{64}\.json$/);
    const id = await take(1);
    expect(id).toMatch(UUID);
    expect(results.document(KEY)).toEqual({ form: 2, slots: [{ id, record: JOB, heldMs: 0 }] });
    expect(results.calls).toEqual([`read ${KEY}`, `create ${KEY}`]);
  });

  it('adds a slot, and reads no record, while the client has a free one', async () => {
    hold(underWayRecord({ slot: 'slot-1' }));
    const id = await take(2);
    expect(slotsHeld().map((held) => held.id)).toEqual(['slot-1', id]);
    expect(results.callsOf('read jobs/')).toEqual([]);
  });

  it('is the slot that another request of the client has taken for the same attempt', async () => {
    const id = await take(1);
    expect(await take(1)).toBe(id);
    expect(results.callsOf('replace')).toEqual([]);
  });

  const slot1 = { slot: 'slot-1' };
  const left = underWayRecord({ ...slot1, leaseMs: 1 });
  const oldRun = { state: 'under-way', executionId: 'q1' };
  it.each<[string, object | undefined, number, boolean, boolean]>([
    ['a query runs, and a request asks about it', underWayRecord(slot1), 0, true, false],
    ['a query runs, and nobody asks about it', left, 9_000, false, false],
    ['the result is there, and nobody is left to record it', left, 9_000, true, true],
    ['the result of an earlier attempt is there', { ...left, slot: 'before' }, 9_000, true, false],
    ['a query starts', startingRecord(slot1), 0, true, false],
    ['the query of another release has ended', { ...slot1, state: 'succeeded' }, 0, false, true],
    ['the query of another release runs', { ...slot1, ...oldRun }, 0, false, false],
    ['the record can’t be read', { slot: 7 }, 30_000, false, true],
  ])('of a full client is free or not: %s', async (_, record, ageMs, isThere, isFree) => {
    hold(record, ageMs);
    if (isThere) results.putResult('s3://results/athena/q1.csv', 'its result');
    const id = await take(1);
    expect(id !== undefined).toBe(isFree);
    expect(slotsHeld().map((held) => held.id)).toEqual([isFree ? id : 'slot-1']);
  });

  it.each([
    ['has ended without a result', 9_000, true, ['q1'], true],
    ['goes on', 9_000, false, ['q1'], false],
    ['goes on, and another request asks about it', 0, true, [], false],
  ])('of a full client whose query %s', async (_, ageMs, ended, questions, isFree) => {
    hold(left, ageMs);
    const hasEnded = vi.fn(async () => ended);
    expect((await take(1, hasEnded)) !== undefined).toBe(isFree);
    expect(hasEnded.mock.calls.flat()).toEqual(questions);
  });

  it('is not waited for longer than its request may take if another request always writes first', async () => {
    let writes = 0;
    const taken = () => {
      // Each time that this request tries, another request writes between its read and its write.
      results.put(KEY, { form: 2, slots: [], nth: writes++ });
      results.before('replace slots/', taken);
    };
    taken();
    expect(await take(1)).toBeUndefined();
    expect(writes).toBeGreaterThan(5);
    expect(Date.now() - START).toBeLessThanOrEqual(1_100);
  });
});
