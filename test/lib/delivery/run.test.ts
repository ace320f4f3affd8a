import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Progress } from '../../../lib/delivery/delivery.ts';
import { makeOrder } from '../../../lib/delivery/order.ts';
import { follow, lookAgain, publicationOf, ready, waiting } from '../../../lib/delivery/run.ts';
import { START, setting, succeededRecord, wanted } from './setting.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: START });
  return () => vi.useRealTimers();
});

const left: Progress = {
  data: { version: 'v0', trace: 't0', listedAt: START - 5, isListed: true },
  token: 'token-0',
  cacheStatus: 'miss',
  moves: 2,
};

describe('a run', () => {
  it('begins with a listing of the lake that may be as old as the stage says', async () => {
    const { run, lake } = setting();
    const begun = await run({ listingMs: 60_000 });
    expect(lake.looks).toEqual([60_000]);
    expect(begun).toMatchObject({
      data: { listedAt: START, isListed: true },
      follows: undefined,
      cacheStatus: undefined,
      moves: 0,
      hasLookedForCopy: false,
      starts: 0,
    });
    expect(begun.order).toEqual(makeOrder(wanted.request, wanted.entitlement, begun.data));
  });

  it('begins where an earlier request of the same caller ended, without a listing', async () => {
    const { run, lake } = setting();
    const begun = await run({}, left);
    expect(lake.looks).toEqual([]);
    expect(begun).toMatchObject({ data: left.data, follows: 'token-0', cacheStatus: 'miss', moves: 2 });
    expect(begun.order).toEqual(makeOrder(wanted.request, wanted.entitlement, left.data));
  });

  it('knows since when it follows a try, unless an earlier request of the caller followed it', async () => {
    const { run } = setting();
    const [begun, continued] = [await run(), await run({}, left)];
    follow(begun, 'token-1');
    follow(continued, 'token-0');
    vi.setSystemTime(START + 5);
    follow(begun, 'token-1');
    expect([begun.followsSince, continued.followsSince]).toEqual([START, undefined]);
    for (const each of [begun, continued]) {
      follow(each, 'token-2');
      expect(each).toMatchObject({ follows: 'token-2', followsSince: START + 5 });
    }
  });

  it('lists the lake anew, and no longer follows a try', async () => {
    const { run, lake } = setting();
    const begun = await run({ listingMs: 60_000 });
    const before = begun.data;
    begun.follows = 'token-1';
    lake.add('2026-01-01', 'b.parquet');
    await lookAgain(begun);
    expect(lake.looks).toEqual([60_000, 0]);
    expect(begun.data.version).not.toBe(before.version);
    expect(begun.order).toEqual(makeOrder(wanted.request, wanted.entitlement, begun.data));
    expect(begun).toMatchObject({ follows: undefined, moves: 1 });
  });

  it('has another state each time where the lake can not be listed', async () => {
    const { run, lake } = setting();
    lake.objects = undefined;
    const [one, other] = [await run(), await run()];
    expect(one.data).toMatchObject({ isListed: false, listedAt: START });
    expect(one.order.id).not.toBe(other.order.id);
  });
});

describe('the answer of a run', () => {
  it('is “waiting”, with the progress from which the next request goes on', async () => {
    const { run } = setting();
    const begun = await run({}, left);
    expect(waiting(begun, 'token-9')).toEqual({
      state: 'waiting',
      progress: { ...left, token: 'token-9' },
    });
    begun.cacheStatus = undefined;
    expect(waiting(begun, 'token-9')).toMatchObject({ progress: { cacheStatus: 'collapsed' } });
  });

  it('is a file with the version of its data, where it is a copy of one', async () => {
    const { run, facts } = setting();
    const begun = await run();
    const key = `reports/q1/${begun.order.fileName}`;
    expect(ready(begun, succeededRecord())).toEqual({
      state: 'ready',
      key,
      cacheStatus: 'hit',
      dataVersion: begun.data.version,
    });
    expect(facts).toEqual({ queryExecutionId: 'q1', dataVersion: begun.data.version });
  });

  it('is a file without a version, where the lake changed during the query', async () => {
    const { run, facts } = setting();
    const begun = await run();
    begun.cacheStatus = 'miss';
    expect(ready(begun, succeededRecord({ isCopy: false }))).toEqual({
      state: 'ready',
      key: `reports/q1/${begun.order.fileName}`,
      cacheStatus: 'miss',
    });
    expect(facts).toEqual({ queryExecutionId: 'q1' });
  });
});

describe('publicationOf', () => {
  it('holds all that another process needs to make the file', async () => {
    const { run } = setting();
    const begun = await run();
    const of = {
      form: 1,
      executionId: 'q1',
      location: 's3://results/athena/q1.csv',
      key: `reports/q1/${begun.order.fileName}`,
      fileName: begun.order.fileName,
      columns: [
        { name: 'Day', type: 'datetime' },
        { name: 'Clicks', type: 'integer' },
      ],
    };
    expect(publicationOf(begun, succeededRecord())).toEqual({ ...of, dataVersion: begun.data.version });
    expect(publicationOf(begun, succeededRecord({ isCopy: false }))).toEqual(of);
    const asked = { ...begun, terms: { ...begun.terms, partner: 'first-partner' } };
    expect(publicationOf(asked, succeededRecord({ isCopy: false }))).toEqual({
      ...of,
      partner: 'first-partner',
    });
  });
});
