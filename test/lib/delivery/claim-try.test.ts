import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Unavailable } from '../../../lib/answers/problem.ts';
import { claimNext, isRemembered, release, takeOver } from '../../../lib/delivery/claim-try.ts';
import type { Execution } from '../../../lib/delivery/execution.ts';
import { recordKey, tokenOf } from '../../../lib/delivery/order.ts';
import type { OpenRecord } from '../../../lib/delivery/order-record.ts';
import { START, setting, succeededRecord } from './setting.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: START });
  return () => vi.useRealTimers();
});

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

describe('claimNext', () => {
  it('writes the claim of the first try before the engine is called', async () => {
    const { run, results } = setting();
    const begun = await run();
    const claimed = await claimNext(begun, undefined, undefined, false);
    const record = {
      form: 1,
      state: 'starting',
      token: tokenOf(begun.order, begun.data.trace, undefined),
      trace: begun.data.trace,
      askedUntil: START + 25_000,
      claim: expect.stringMatching(UUID),
      isRetry: false,
      startedFor: 'client-1',
    };
    expect(claimed?.record).toEqual(record);
    expect(results.calls).toEqual([`create ${recordKey(begun.order, begun.data)}`]);
    expect(results.document(recordKey(begun.order, begun.data))).toEqual(claimed?.record);
    expect(claimed?.stored).toEqual(await results.read(recordKey(begun.order, begun.data)));
    expect(begun).toMatchObject({
      follows: record.token,
      followsSince: START,
      cacheStatus: 'miss',
      starts: 1,
    });
  });

  it('claims for one of three requests that come at one time, and changes nothing for the others', async () => {
    const { run } = setting();
    const runs = await Promise.all([run(), run(), run()]);
    const claims = await Promise.all(runs.map((each) => claimNext(each, undefined, undefined, false)));
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(runs.slice(1)).toMatchObject([
      { follows: undefined, cacheStatus: undefined, starts: 0 },
      { follows: undefined, cacheStatus: undefined, starts: 0 },
    ]);
  });

  it('replaces only the record that was read', async () => {
    const { run, results } = setting();
    const begun = await run();
    const key = recordKey(begun.order, begun.data);
    const read = results.put(key, { form: 0 });
    const claimed = await claimNext(begun, read, 'token-0', true);
    expect(claimed?.record).toMatchObject({
      token: tokenOf(begun.order, begun.data.trace, 'token-0'),
      isRetry: true,
    });
    expect(await claimNext(begun, read, 'token-0', true)).toBeUndefined();
    expect(results.document(key)).toEqual(claimed?.record);
  });

  it('uses computed tokens for three tries, then random ones, and gives up after six', async () => {
    const { run, results } = setting();
    const begun = await run();
    const tokens: string[] = [];
    for (let claimed = await claimNext(begun, undefined, 'same', false); tokens.length < 6; ) {
      tokens.push(claimed?.record.token ?? '');
      if (tokens.length < 6) claimed = await claimNext(begun, claimed?.stored, 'same', false);
    }
    const expected = tokenOf(begun.order, begun.data.trace, 'same');
    expect(tokens.map((token) => token === expected)).toEqual([true, true, true, false, false, false]);
    expect(new Set(tokens).size).toBe(4);
    const writes = results.calls.length;
    await expect(claimNext(begun, undefined, 'same', false)).rejects.toThrow(
      'none of 6 queries left a result',
    );
    expect(results.calls).toHaveLength(writes);
  });
});

describe('claimNext, where a claim fails', () => {
  it('counts no try that another request has claimed', async () => {
    const { run } = setting();
    const [winner, loser] = await Promise.all([run(), run()]);
    await claimNext(winner, undefined, undefined, false);
    for (let times = 0; times < 10; times++)
      expect(await claimNext(loser, undefined, undefined, false)).toBeUndefined();
    expect([winner.starts, loser.starts]).toEqual([1, 0]);
  });

  it.each([
    [-1, 'given up'],
    [0, 'given up'],
    [1, 'claimed'],
  ])('with %d ms left for its caller is %s', async (leftMs, outcome) => {
    const { run, results } = setting();
    const begun = await run({ giveUpAt: START + leftMs });
    const claiming = claimNext(begun, undefined, undefined, false);
    if (outcome === 'claimed') expect(await claiming).toBeDefined();
    else {
      await expect(claiming).rejects.toThrow(Unavailable);
      await expect(claiming).rejects.toThrow('The report took too long and was given up.');
      expect(results.calls).toEqual([]);
    }
  });

  it('knows its own claim where the first write’s response was lost and the retry was refused', async () => {
    const { run, results } = setting();
    const begun = await run();
    const key = recordKey(begun.order, begun.data);
    const { create, replace } = results;
    results.create = async (...given) => {
      await create(...given);
      return undefined;
    };
    const claimed = await claimNext(begun, undefined, undefined, false);
    expect(claimed?.stored).toEqual(await results.read(key));
    expect(claimed?.record).toEqual(results.document(key));
    results.replace = async (...given) => {
      await replace(...given);
      return undefined;
    };
    const taken = claimed && (await takeOver(begun, claimed.stored, claimed.record));
    expect(taken?.stored).toEqual(await results.read(key));
    expect(taken?.record.claim).not.toBe(claimed?.record.claim);
    expect(begun.starts).toBe(1);
  });

  it.each<[string, unknown]>([
    [
      'of another request',
      { ...succeededRecord(), state: 'starting', askedUntil: 0, claim: 'x', isRetry: false },
    ],
    ['that has ended', succeededRecord()],
    ['that can not be read', { form: 0 }],
  ])('does not take a record for its own %s', async (_, document) => {
    const { run, results } = setting();
    const begun = await run();
    results.put(recordKey(begun.order, begun.data), document);
    expect(await claimNext(begun, undefined, undefined, false)).toBeUndefined();
    expect(begun).toMatchObject({ follows: undefined, cacheStatus: undefined, starts: 0 });
  });
});

describe('release', () => {
  it('lets exactly one other request take over at once', async () => {
    const { run, results } = setting();
    const begun = await run();
    const key = recordKey(begun.order, begun.data);
    const claimed = await claimNext(begun, undefined, undefined, false);
    if (!claimed) throw new Error('not claimed');
    await release(begun, claimed.stored);
    expect(results.document(key)).toEqual({ ...claimed.record, askedUntil: 0 });
    const next = await results.read(key);
    const takers = await Promise.all([run(), run()]);
    const taken = await Promise.all(takers.map((each) => next && takeOver(each, next, claimed.record)));
    expect(taken.filter(Boolean)).toHaveLength(1);
  });

  it('leaves a record that is no longer its own', async () => {
    const { run, results } = setting();
    const begun = await run();
    const key = recordKey(begun.order, begun.data);
    const claimed = await claimNext(begun, undefined, undefined, false);
    if (!claimed) throw new Error('not claimed');
    results.put(key, succeededRecord());
    await release(begun, claimed.stored);
    expect(results.document(key)).toEqual(succeededRecord());
  });
});

describe('takeOver', () => {
  const record: OpenRecord = {
    form: 1,
    state: 'under-way',
    token: 'token-1',
    trace: 'trace-1',
    askedUntil: START - 1,
    claim: 'claim-1',
    isRetry: true,
    executionId: 'q1',
  };

  it('claims a try without other changes to its record, for as long as this request waits', async () => {
    const { run, results } = setting();
    const begun = await run();
    const stored = results.put(recordKey(begun.order, begun.data), record);
    const claimed = await takeOver(begun, stored, record);
    expect(claimed?.record).toEqual({
      ...record,
      askedUntil: START + 25_000,
      claim: expect.stringMatching(UUID),
    });
    expect(results.document(recordKey(begun.order, begun.data))).toEqual(claimed?.record);
    expect(begun).toMatchObject({ follows: 'token-1', cacheStatus: undefined, starts: 0 });
  });

  it('succeeds for one request alone', async () => {
    const { run, results } = setting();
    const begun = await run();
    const stored = results.put(recordKey(begun.order, begun.data), record);
    await takeOver(begun, stored, record);
    expect(await takeOver(begun, stored, record)).toBeUndefined();
  });
});

describe('isRemembered', () => {
  const figures = {
    id: 'q1',
    submittedAt: START - 10_000,
    completedAt: START - 1_001,
    bytesScanned: 1,
    engineMs: 1,
  };
  const ended: Execution = { ...figures, state: 'succeeded', location: 's3://results/athena/q1.csv' };
  const late = { ...ended, completedAt: START - 1_000 };
  const cutOff: Execution = { ...figures, state: 'cut-off' };
  const failed: Execution = { ...figures, state: 'failed', reason: 'FAILED: x', isRetryable: false };

  it.each<
    [
      string,
      Execution,
      { followsSince?: number | undefined; startedAt?: number | undefined; starts?: number },
      boolean,
    ]
  >([
    ['ended before this caller asked for it', ended, {}, true],
    ['failed before this caller asked for it', failed, {}, true],
    [
      'failed before this caller asked for it, started by another request',
      failed,
      { startedAt: undefined },
      true,
    ],
    ['was cut off before this request started it', cutOff, {}, true],
    [
      'was cut off before this request, and was started by another one',
      cutOff,
      { startedAt: undefined },
      false,
    ],
    ['ended before this caller asked for it, at the third token', ended, { starts: 3 }, true],
    ['ended before this caller asked for it, but its token was random', ended, { starts: 4 }, false],
    ['an earlier request of the same caller waited for', ended, { followsSince: undefined }, false],
    ['ended so shortly before that the clocks may differ by more', late, {}, false],
    ['ended after this caller asked for it', { ...ended, completedAt: START + 5 }, {}, false],
    ['is under way', { state: 'under-way', id: 'q1', submittedAt: 0 }, {}, false],
    ['is forgotten', { state: 'forgotten', id: 'q1' }, {}, false],
  ])('judges an execution that %s', (_, execution, more, expected) => {
    const { startedAt, ...run } = { followsSince: START, starts: 1, startedAt: START, ...more };
    expect(isRemembered(run, execution, startedAt)).toBe(expected);
  });
});
