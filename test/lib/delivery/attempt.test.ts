import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createAttempt, following, release, takeOver, withElapsed } from '../../../lib/delivery/attempt.ts';
import type { Phase } from '../../../lib/delivery/phase.ts';
import type { OpenRecord } from '../../../lib/results/job-record.ts';
import { jobRecordKey } from '../../../lib/results/keys.ts';
import { START, setting, startingRecord, succeededRecord, UUID, underWayRecord } from './setting.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: START });
  return () => vi.useRealTimers();
});

/** A request that is about to create an attempt, or to take one over. */
async function made() {
  const of = setting();
  const target = await of.target();
  const run = of.run();
  return { ...of, run, target, key: jobRecordKey(target.job, target.data) };
}

/** The record that a request holds in the phase `leading`. Throws for any other phase. */
function heldBy(phase: Phase) {
  if (phase.at !== 'leading') throw new Error(`it is ${phase.at}`);
  return phase.held;
}

describe('createAttempt', () => {
  it('writes a record with a lease for as long as the request waits, and does not start the query yet', async () => {
    const { run, target, results, key } = await made();
    const phase = await createAttempt(run, target, undefined, {});
    const record = {
      form: 2,
      writer: expect.stringMatching(UUID),
      state: 'starting',
      attempt: expect.stringMatching(UUID),
      leaseMs: 25_000,
      isRetry: false,
      attempts: 1,
    };
    expect(phase).toEqual({
      at: 'leading',
      target,
      held: { stored: await results.read(key), record: results.document(key) },
      cacheStatus: 'miss',
      isCreator: true,
    });
    expect(results.document(key)).toEqual(record);
    expect(results.calls).toEqual([`create ${key}`, `read ${key}`]);
  });

  it('gives each attempt a token that no other attempt has', async () => {
    const { run, target } = await made();
    const tokens = new Set<string>();
    let phase = await createAttempt(run, target, undefined, {});
    for (let attempts = 1; attempts < 6; attempts++) {
      tokens.add(heldBy(phase).record.attempt);
      phase = await createAttempt(run, phase.target, heldBy(phase).stored, {});
    }
    expect(tokens.size).toBe(5);
  });

  it('records whether the attempt is a retry, which slot it takes, and which record it replaced', async () => {
    const { run, target, results, key } = await made();
    const was = results.put(key, succeededRecord());
    await createAttempt(run, target, was, { isRetry: true, slot: 'slot-1' });
    expect(results.document(key)).toMatchObject({ isRetry: true, slot: 'slot-1', follows: 'writer-1' });
  });

  it('lets one of three simultaneous requests create the attempt; the others follow it', async () => {
    const { run, target, results, key } = await made();
    const phases = await Promise.all([1, 2, 3].map(() => createAttempt(run, target, undefined, {})));
    const [leader, ...others] = phases;
    expect(leader).toMatchObject({ at: 'leading' });
    const seen = await results.read(key);
    for (const other of others)
      expect(other).toEqual({ at: 'following', target, cacheStatus: 'collapsed', seen });
  });

  it('replaces the record only if it is still the one that was read', async () => {
    const { run, target, results, key } = await made();
    const read = results.put(key, { form: 0 });
    const created = await createAttempt(run, target, read, {});
    expect(await createAttempt(run, target, read, {})).toMatchObject({ at: 'following' });
    expect(results.document(key)).toEqual(heldBy(created).record);
  });

  it('counts the query of the previous attempt in the metrics, but only for the request whose record was written', async () => {
    const { run, target, finished, facts } = await made();
    const ended = { state: 'failed', bytesScanned: 5, submittedAt: 10, completedAt: 250 } as const;
    await createAttempt(run, target, undefined, { ended });
    await createAttempt(run, target, undefined, { ended });
    expect(finished).toEqual(['failed']);
    expect(facts.finishedQueries).toEqual([{ state: 'failed', bytesScanned: 5, queryMs: 240 }]);
  });

  it('throws an error if six attempts have followed each other already', async () => {
    const { run, target, results } = await made();
    await expect(createAttempt(run, target, undefined, { attempts: 7 })).rejects.toThrow(
      'none of 6 queries left a result',
    );
    expect(results.calls).toEqual([]);
    expect(await createAttempt(run, target, undefined, { attempts: 6 })).toMatchObject({ at: 'leading' });
  });
});

describe('a write whose answer was lost, so that S3 refuses it when it is repeated', () => {
  it('is recognised by its request: the record holds the random `writer` id of that write', async () => {
    const { run, target, results, key } = await made();
    const { create, replace } = results;
    results.create = async (...given) => (await create(...given)) && undefined;
    const held = heldBy(await createAttempt(run, target, undefined, {}));
    expect(held).toEqual({ stored: await results.read(key), record: results.document(key) });
    results.replace = async (...given) => (await replace(...given)) && undefined;
    const taken = heldBy(await takeOver(run, target, held.stored, held.record, 'miss'));
    expect(taken.stored).toEqual(await results.read(key));
    expect(taken.record.writer).not.toBe(held.record.writer);
  });

  it('counts the query of the previous attempt if another request has taken the new one over since', async () => {
    const { run, target, results, key, finished } = await made();
    const { create } = results;
    results.create = async (...given) => {
      const written = await create(...given);
      const { document } = written ?? {};
      if (written) await takeOver(run, target, written, document as OpenRecord, 'collapsed');
      return undefined;
    };
    const ended = { state: 'failed', bytesScanned: 5, submittedAt: 10, completedAt: 250 } as const;
    expect(await createAttempt(run, target, undefined, { ended })).toMatchObject({
      at: 'following',
      seen: await results.read(key),
    });
    expect(finished).toEqual(['failed']);
  });

  it.each<[string, unknown, string]>([
    ['of another request', startingRecord(), 'following'],
    ['that has ended', succeededRecord(), 'following'],
    ['that can not be read', { form: 0 }, 'arrived'],
  ])('does not make the request treat a record %s as its own', async (_, document, at) => {
    const { run, target, results, key } = await made();
    results.put(key, document);
    expect(await createAttempt(run, target, undefined, {})).toMatchObject({ at, target });
    expect(results.document(key)).toEqual(document);
  });
});

describe('following', () => {
  it('begins again if the record is gone', async () => {
    const { target } = await made();
    expect(following(target, undefined)).toEqual({ at: 'arrived', target, waitsForSlot: false });
  });

  it('keeps the cache status that the request has already', async () => {
    const { target } = await made();
    const seen = { document: startingRecord(), etag: '"1"', ageMs: 0 };
    expect(following(target, seen, 'miss')).toEqual({
      at: 'following',
      target,
      cacheStatus: 'miss',
      seen,
    });
  });
});

describe('takeOver', () => {
  it('changes only writer, lease and elapsed time of the record; S3’s clock gives the elapsed time', async () => {
    const { run, target, results, key } = await made();
    const record = underWayRecord({ elapsedMs: 500, runningAt: 7, isRetry: true, slot: 'slot-1' });
    results.put(key, record);
    vi.setSystemTime(START + 26_000);
    const stored = await results.read(key);
    const phase = await takeOver(
      { ...run, terms: { ...run.terms, waitUntil: START + 36_000 } },
      target,
      stored,
      record,
      'collapsed',
    );
    expect(phase).toEqual({
      at: 'leading',
      target,
      held: { stored: await results.read(key), record: results.document(key) },
      cacheStatus: 'collapsed',
      isCreator: false,
    });
    expect(results.document(key)).toEqual({
      ...record,
      writer: expect.stringMatching(UUID),
      leaseMs: 10_000,
      elapsedMs: 26_500,
    });
  });

  it('keeps the attempt’s token if no start is recorded, so that Athena starts only one query', async () => {
    const { run, target, results, key } = await made();
    const stored = results.put(key, startingRecord());
    const held = heldBy(await takeOver(run, target, stored, startingRecord(), 'collapsed'));
    expect(held.record).toEqual({ ...startingRecord(), writer: expect.stringMatching(UUID) });
  });

  it('succeeds for only one of two requests; the other request follows the attempt', async () => {
    const { run, target, results, key } = await made();
    const stored = results.put(key, underWayRecord());
    await takeOver(run, target, stored, underWayRecord(), 'collapsed');
    expect(await takeOver(run, target, stored, underWayRecord(), 'miss')).toEqual({
      at: 'following',
      target,
      cacheStatus: 'miss',
      seen: await results.read(key),
    });
  });
});

describe('release', () => {
  it('lets exactly one other request take over at once', async () => {
    const { run, target, results, key } = await made();
    const held = heldBy(await createAttempt(run, target, undefined, {}));
    await release(run, target, held);
    const { leaseMs: _, ...free } = held.record;
    expect(results.document(key)).toEqual({ ...free, writer: expect.stringMatching(UUID) });
    const next = await results.read(key);
    const takers = [1, 2].map(() => takeOver(run, target, next, held.record, 'collapsed'));
    expect((await Promise.all(takers)).map(({ at }) => at)).toEqual(['leading', 'following']);
  });

  it('records the known facts of the execution for the request that takes over', async () => {
    const { run, target, results, key } = await made();
    const record = underWayRecord();
    const stored = results.put(key, record);
    await release(run, target, { stored, record }, { elapsedMs: 9_000, runningAt: START });
    expect(results.document(key)).toMatchObject({ elapsedMs: 9_000, runningAt: START });
  });

  it('does not overwrite a record that another request has written meanwhile', async () => {
    const { run, target, results, key } = await made();
    const held = heldBy(await createAttempt(run, target, undefined, {}));
    results.put(key, succeededRecord());
    await release(run, target, held);
    expect(results.document(key)).toEqual(succeededRecord());
  });
});

describe('withElapsed', () => {
  it('adds the passed time to the record of a query under way, and does not change a record without a query', () => {
    expect(withElapsed(underWayRecord({ elapsedMs: 5 }), 20)).toEqual(underWayRecord({ elapsedMs: 25 }));
    expect(withElapsed(startingRecord(), 20)).toEqual(startingRecord());
  });
});
