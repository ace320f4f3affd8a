import { describe, expect, it, vi } from 'vitest';
import { Overloaded, Unavailable } from '../../../lib/problems/problem.ts';
import { ask, follow, following, leftBy, recordOf, request, statusOf, textOf } from './ask.ts';
import { CSV, type Setting, START, setting } from './setting.ts';
import { settled, useFakeTime } from './settled.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
vi.mock('../../../lib/results/gzipped.ts', () => import('./gzipped-at-once.ts'));
useFakeTime();

describe('a query that takes too long', () => {
  const limits = { longestQueryMs: 60_000, longestQueueMs: 20_000 };
  /** As in the handlers, a caller waits a little longer than a query may be queued and run. */
  const PATIENCE_MS = 83_000;
  const now = () => ({
    ...limits,
    askedAt: Date.now(),
    giveUpAt: Date.now() + PATIENCE_MS,
    publishUntil: Date.now() + PATIENCE_MS + 900_000,
  });

  it('is stopped, and its caller gets Unavailable with Retry-After', async () => {
    const of = setting({ ends: 'never' });
    const answer = await follow(of, now());
    expect(answer.error).toBeInstanceOf(Unavailable);
    expect(answer.error).toMatchObject({
      message: 'The report took too long and was given up. Narrow it, or request it later.',
      headers: { 'Retry-After': '60' },
    });
    expect(of.queries.stopped).toEqual(['q1']);
    expect(of.facts.finishedQueries).toEqual([
      { state: 'failed', bytesScanned: 1_000, queryMs: expect.any(Number) },
    ]);
    expect(recordOf(of)).toMatchObject({ state: 'failed', cause: 'took-too-long' });
    expect(recordOf(of)['engineMs']).toBeGreaterThanOrEqual(60_000);
    expect(Date.now()).toBeGreaterThanOrEqual(START + 60_000);
    // The running time counts only from the moment at which a request first saw the query running: a few seconds late.
    expect(Date.now()).toBeLessThanOrEqual(START + 66_000);
  });

  it('causes no error for a caller who joined it late and has time for another query', async () => {
    const of = setting({ ends: 'never' }, { afterMs: 100 });
    const first = following(of, now());
    // When the query has taken too long, the first caller asks Athena about it, and the second only watches.
    await vi.advanceTimersByTimeAsync(52_000);
    const second = following(of, now());
    expect((await settled(first)).error).toBeInstanceOf(Unavailable);
    expect(textOf(of, await settled(second))).toBe(CSV);
    expect(of.queries.stopped).toEqual(['q1']);
  });

  it('is stopped and run again for a new caller if the first caller left hours ago', async () => {
    const of = setting({ ends: 'never' }, { afterMs: 100 });
    await ask(of, now());
    await vi.advanceTimersByTimeAsync(3 * 3_600_000);
    const answer = await ask(of, now());
    expect([of.queries.stopped, of.finished]).toEqual([['q1'], ['failed', 'succeeded']]);
    expect(textOf(of, answer)).toBe(CSV);
  });

  it('is not stopped when one of its callers gives up, if the query’s own time limit is not reached yet', async () => {
    const of = setting({ afterMs: 30_000 });
    const hurried = following(of, { ...now(), giveUpAt: START + 10_000 });
    const patient = following(of, now());
    expect((await settled(hurried)).error).toBeInstanceOf(Unavailable);
    expect(textOf(of, await settled(patient))).toBe(CSV);
    expect(of.queries.stopped).toEqual([]);
  });

  it('causes a 503 for a caller who joined it and has no more time', async () => {
    const of = setting({ ends: 'never' });
    const leading = request(of);
    await vi.advanceTimersByTimeAsync(1_000);
    const answer = await ask(of, { giveUpAt: Date.now() + 5_000 });
    expect(answer.error).toBeInstanceOf(Unavailable);
    expect(answer.ms).toBeLessThan(5_100);
    await settled(leading);
  });

  it.each([undefined, 1])('is not started for a caller whose time is up (slots: %s)', async (slots) => {
    const of = setting({ afterMs: 100 });
    const terms = { queriesPerPartner: slots };
    const { start } = of.queries;
    of.queries.start = async () => {
      throw new Overloaded('Later.', 30);
    };
    const first = await ask(of, terms);
    of.queries.start = start;
    const left = recordOf(of);
    expect(left['state']).toBe('starting');
    expect(left).not.toHaveProperty('leaseMs');
    const late = await ask(of, { ...terms, giveUpAt: Date.now() }, leftBy(first));
    expect(late.error).toBeInstanceOf(Unavailable);
    expect(late.error).toMatchObject({ message: expect.stringContaining('took too long') });
    expect(of.queries.started).toEqual([]);
    expect(recordOf(of)).toEqual(left);
  });
});

describe('a query about which Athena does not answer', () => {
  it('is handed on with the time that Athena has had it', async () => {
    const of = setting({ ends: 'never' });
    of.queries.onGet = () => {
      throw new Overloaded('Later.', 30);
    };
    const left = leftBy(await ask(of));
    await vi.advanceTimersByTimeAsync(60_000);
    await ask(of, {}, left);
    expect(recordOf(of)['elapsedMs']).toBeGreaterThanOrEqual(109_000);
  });
});

describe('a query that is stopped', () => {
  const terms = () => ({ longestQueryMs: 60_000, longestQueueMs: 20_000, giveUpAt: Date.now() + 83_000 });

  it('is stopped by the next request if Athena throttles the stop', async () => {
    const of = setting({ ends: 'never' }, { afterMs: 100 });
    await ask(of, terms());
    await vi.advanceTimersByTimeAsync(3_600_000);
    const { stop } = of.queries;
    of.queries.stop = async () => {
      throw new Overloaded('Later.', 30);
    };
    const first = await ask(of, terms());
    expect(statusOf(first)).toBe('waiting');
    of.queries.stop = stop;
    expect(textOf(of, await ask(of, terms(), leftBy(first)))).toBe(CSV);
    expect([of.queries.stopped, of.finished]).toEqual([['q1'], ['failed', 'succeeded']]);
  });
});

describe("a query that waits in Athena's queue", () => {
  const terms = () => ({
    longestQueryMs: 60_000,
    longestQueueMs: 60_000,
    giveUpAt: Date.now() + 123_000,
    publishUntil: Date.now() + 1_023_000,
  });

  it('has its full time to run after the queue, however many requests its caller needs', async () => {
    const of = setting({ queuedMs: 50_000, afterMs: 80_000 });
    const answer = await follow(of, terms());
    expect([textOf(of, answer), of.queries.stopped]).toEqual([CSV, []]);
    expect(of.finished).toEqual(['succeeded']);
  });
});

/**
 * Sends a request whose function is killed after `afterMs`, so that the request never gives up its lease. Resolves to
 * the setting for the other requests, whose calls to the same services still succeed.
 */
async function killed(of: Setting, afterMs: number): Promise<Setting> {
  void request(of);
  await vi.advanceTimersByTimeAsync(afterMs);
  const [results, queries] = [{ ...of.results }, { ...of.queries }];
  const kill = () => Promise.reject(new Error('killed'));
  Object.assign(of.results, { head: kill, read: kill, create: kill, replace: kill });
  Object.assign(of.queries, { get: kill });
  return { ...of, results, queries, backends: { ...of.backends, results, queries } };
}

describe('a request whose function is killed', () => {
  it('is replaced by another request when its lease has ended', async () => {
    const of = await killed(setting({ afterMs: 10_000 }), 1_000);
    const answer = await follow(of);
    expect([textOf(of, answer), of.queries.started.length]).toEqual([CSV, 1]);
    // The lease was 25 s. A second is added because S3's ages may be wrong by a second. Up to another second is added
    // at random, so that not all waiting requests take over at once.
    expect(Date.now()).toBeGreaterThanOrEqual(START + 25_000);
    expect(Date.now()).toBeLessThan(START + 28_000);
  });

  it('is not replaced by a request that has no time left to ask Athena', async () => {
    const of = await killed(setting({ ends: 'never' }), 1_000);
    const first = await ask(of, { waitUntil: Date.now() + 1_000 });
    await vi.advanceTimersByTimeAsync(60_000);
    const { writer } = recordOf(of);
    const second = await ask(of, { waitUntil: Date.now() }, leftBy(first));
    expect([statusOf(second), recordOf(of)['writer']]).toEqual(['waiting', writer]);
    expect(of.queries.asked.get('q1')).toBeUndefined();
  });

  it('is replaced by another request even if it had not started its query yet', async () => {
    const broken = setting({ afterMs: 100 });
    const { start } = broken.queries;
    broken.queries.start = () => new Promise(() => {});
    const of = await killed(broken, 1_000);
    of.queries.start = start;
    const created = recordOf(of);
    expect(textOf(of, await follow(of))).toBe(CSV);
    expect(of.queries.started).toMatchObject([{ token: created['attempt'] }]);
  });
});

describe('a machine whose clock is hours wrong', () => {
  it.each([3, -3])('holds no lease longer than its record says (clock ahead by %d h)', async (hours) => {
    const wrong = setting({ afterMs: 40_000 });
    wrong.clock.skewMachine(hours * 3_600_000);
    const of = await killed(wrong, 100);
    expect(recordOf(of)).toMatchObject({ state: 'under-way', leaseMs: 25_000 });
    of.clock.skewMachine(-hours * 3_600_000);
    const answer = await follow(of);
    expect([textOf(of, answer), of.queries.started.length]).toEqual([CSV, 1]);
    expect(Date.now()).toBeLessThan(START + 43_000);
  });

  it.each([3, -3])('takes no lease from the request that holds it (clock ahead by %d h)', async (hours) => {
    const of = await killed(setting({ ends: 'never' }), 1_000);
    const { writer } = recordOf(of);
    of.clock.skewMachine(hours * 3_600_000);
    const early = await ask(of, { waitUntil: Date.now() + 5_000 });
    expect([statusOf(early), recordOf(of)['writer']]).toEqual(['waiting', writer]);
    await ask(of, {}, leftBy(early));
    expect(recordOf(of)['writer']).not.toBe(writer);
  });
});
