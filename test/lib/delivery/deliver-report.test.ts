import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Overloaded, ReportTooLarge, Unavailable } from '../../../lib/answers/problem.ts';
import { deliverReport } from '../../../lib/delivery/deliver-report.ts';
import {
  type Delivery,
  type DeliveryFacts,
  type DeliveryTerms,
  type Progress,
  PublicationFailed,
  QueryFailed,
} from '../../../lib/delivery/delivery.ts';
import { lakeObject } from './memory-lake.ts';
import { CSV, LARGE, START, setting, succeededRecord, termsNow, wanted } from './setting.ts';
import { settled } from './settled.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
beforeEach(() => {
  vi.useFakeTimers({ now: START });
  // Random numbers that cover [0, 1) evenly and are the same in every run.
  let throws = 0;
  const dice = vi.spyOn(Math, 'random').mockImplementation(() => (++throws * 0.618_034) % 1);
  return () => {
    dice.mockRestore();
    vi.useRealTimers();
  };
});

type Setting = ReturnType<typeof setting>;

/** One request: its answer or error, and how long it took. */
interface Answer {
  readonly delivery?: Delivery;
  readonly error?: unknown;
  readonly ms: number;
}

/** Sends a request that comes now. */
function request(of: Setting, terms: Partial<DeliveryTerms> = {}, left?: Progress): Promise<Answer> {
  const from = Date.now();
  return deliverReport(of.backends, wanted, termsNow(terms), of.note, left).then(
    (delivery) => ({ delivery, ms: Date.now() - from }),
    (error: unknown) => ({ error, ms: Date.now() - from }),
  );
}

const ask = (...given: Parameters<typeof request>) => settled(request(...given));

/** Sends a request, and follows the waiting URLs as a client does. */
async function following(
  of: Setting,
  terms: Partial<DeliveryTerms> = {},
): Promise<Answer & { hops: number }> {
  const { giveUpAt, publishUntil } = termsNow(terms);
  let answer = await request(of, terms);
  let hops = 0;
  for (; answer.delivery?.state === 'waiting'; hops++)
    answer = await request(of, { ...terms, giveUpAt, publishUntil }, answer.delivery.progress);
  return { ...answer, hops };
}
const follow = (...given: Parameters<typeof following>) => settled(following(...given));

/** The keys of the latest order: `recordKeyOf` of its tries, `copyKeyOf` of the note that names its copy. */
const keyIn = ({ results }: Setting, form: RegExp) =>
  [...results.objects.keys()].filter((key) => form.test(key)).at(-1) ?? '';
const recordKeyOf = (of: Setting) => keyIn(of, /^orders\/\w{64}\/[\w-]{32,36}\.json$/);
const copyKeyOf = (of: Setting) => keyIn(of, /^orders\/\w{64}\.json$/);
const recordOf = (of: Setting) => of.results.document(recordKeyOf(of)) as Record<string, unknown>;
const copyOf = (of: Setting) => of.results.document(copyKeyOf(of));
const textOf = ({ results }: Setting, { delivery }: Answer) =>
  delivery?.state === 'ready' ? results.objects.get(delivery.key)?.text : undefined;
const keyOf = ({ delivery }: Answer) => (delivery?.state === 'ready' ? delivery.key : undefined);
const statusOf = ({ delivery }: Answer) =>
  delivery?.state === 'ready' ? delivery.cacheStatus : delivery?.state;
const versionOf = ({ delivery }: Answer) => (delivery?.state === 'ready' ? delivery.dataVersion : undefined);

describe('a report that nobody has asked for', () => {
  it('is queried, published, remembered and counted once', async () => {
    const of = setting({ afterMs: 500 });
    const answer = await ask(of);
    expect(answer.delivery).toMatchObject({
      state: 'ready',
      key: 'reports/q1/publisherperformance_20260101T000000Z_20260103T000000Z.csv',
      cacheStatus: 'miss',
      dataVersion: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(textOf(of, answer)).toBe(CSV);
    expect(answer.ms).toBeLessThan(700);
    expect(recordOf(of)).toEqual({
      form: 1,
      state: 'succeeded',
      token: of.queries.started[0]?.token,
      trace: expect.stringMatching(/^[0-9a-f]{32}$/),
      executionId: 'q1',
      submittedAt: START,
      completedAt: START + 500,
      bytesScanned: 1_000,
      engineMs: 7,
      location: 's3://results/athena/q1.csv',
      resultBytes: 42,
      isCopy: true,
      goodUntil: 0,
    });
    expect(copyOf(of)).toEqual(recordOf(of));
    expect(of.facts).toEqual({
      queryExecutionId: 'q1',
      dataVersion: versionOf(answer),
      bytesScanned: 1_000,
      engineMs: 7,
      queryMs: 500,
      ends: [{ state: 'succeeded', bytesScanned: 1_000, queryMs: 500 }],
    });
    expect(of.ends).toEqual(['succeeded']);
  });

  it('is a hit for the next request, by a listing, the note of the copy and the file, without Athena', async () => {
    const of = setting({ afterMs: 500 });
    const first = await ask(of);
    const asked = new Map(of.queries.asked);
    of.results.calls.length = 0;
    of.lake.looks.length = 0;
    const second = await ask(of);
    expect([statusOf(second), keyOf(second), versionOf(second)]).toEqual([
      'hit',
      keyOf(first),
      versionOf(first),
    ]);
    expect(of.results.calls).toEqual([`read ${copyKeyOf(of)}`, `head ${keyOf(first)}`]);
    expect(of.lake.looks).toEqual([0]);
    expect(of.queries.asked).toEqual(asked);
  });

  it('is queried once for fifty requests at one time', async () => {
    const of = setting({ afterMs: 3_000 });
    const answers = await settled(Promise.all(Array.from({ length: 50 }, () => request(of))));
    expect(new Set(answers.map(keyOf)).size).toBe(1);
    expect(answers.map(statusOf).filter((status) => status === 'miss')).toHaveLength(1);
    expect(answers.map(statusOf).filter((status) => status === 'collapsed')).toHaveLength(49);
    expect(of.queries.asked.get('q1')).toBeLessThanOrEqual(4);
    expect(of.ends).toEqual(['succeeded']);
  });

  it('is delivered through the waiting room when it takes longer than a request', async () => {
    const of = setting({ afterMs: 60_000 });
    const answer = await follow(of);
    expect(answer.hops).toBe(2);
    expect(statusOf(answer)).toBe('miss');
    expect(textOf(of, answer)).toBe(CSV);
    expect(of.ends).toEqual(['succeeded']);
    expect(of.queries.asked.get('q1')).toBeLessThanOrEqual(12);
  });

  it('is watched by another request when the one that watched it has ended, in time for all who wait', async () => {
    const of = setting({ afterMs: 40_000 });
    const answers = await settled(
      Promise.all([request(of), ...Array.from({ length: 20 }, () => following(of))]),
    );
    expect(answers[0]?.delivery?.state).toBe('waiting');
    expect(answers.slice(1).map((answer) => textOf(of, answer))).toEqual(Array(20).fill(CSV));
    expect(Date.now()).toBeLessThan(START + 44_000);
    expect(of.queries.started).toHaveLength(1);
    expect(of.ends).toEqual(['succeeded']);
  });

  it('is delivered soon to a request that joins it shortly before its end', async () => {
    const of = setting({ afterMs: 400 });
    const first = request(of);
    await vi.advanceTimersByTimeAsync(350);
    expect((await settled(request(of))).ms).toBeLessThan(400);
    await settled(first);
  });

  it('names its execution in the log of a request that joins it, as soon as there is one', async () => {
    const of = setting({ ends: 'never' });
    const first = request(of);
    await vi.advanceTimersByTimeAsync(10);
    const joining = async () => {
      const facts: DeliveryFacts = {};
      const note = (learnt: DeliveryFacts) => void Object.assign(facts, learnt);
      await settled(deliverReport(of.backends, wanted, termsNow({ waitUntil: Date.now() + 10 }), note));
      return facts;
    };
    expect(await joining()).toEqual({ queryExecutionId: 'q1' });
    const { executionId: _, ...record } = recordOf(of);
    of.results.put(recordKeyOf(of), { ...record, state: 'starting' });
    expect(Object.keys(await joining())).toEqual([]);
    await settled(first);
  });

  it('is collapsed for a request that takes over from one that has ended', async () => {
    const of = setting({ afterMs: 40_000 });
    await ask(of);
    expect(statusOf(await ask(of))).toBe('collapsed');
  });

  it('is started anew where its record is deleted meanwhile', async () => {
    const of = setting({ ends: 'never' });
    const first = request(of);
    await vi.advanceTimersByTimeAsync(10);
    const joining = request(of);
    await vi.advanceTimersByTimeAsync(10);
    for (const key of of.results.objects.keys()) of.results.objects.delete(key);
    // The token is the same, so that Athena runs nothing twice.
    expect((await settled(joining)).delivery).toMatchObject({
      state: 'waiting',
      progress: { cacheStatus: 'miss' },
    });
    expect(of.queries.started).toHaveLength(1);
    await settled(first);
  });

  it('is answered with a waiting URL in time for a request that joins it', async () => {
    const of = setting({ ends: 'never' });
    const first = request(of);
    await vi.advanceTimersByTimeAsync(1_000);
    const joining = request(of, { waitUntil: Date.now() + 2_000 });
    const joined = await settled(joining);
    expect(joined.delivery).toMatchObject({
      state: 'waiting',
      progress: { cacheStatus: 'collapsed', moves: 0 },
    });
    expect(joined.ms).toBeLessThan(2_100);
    expect(of.facts.queryExecutionId).toBe('q1');
    await settled(first);
  });
});

describe('a file that is gone', () => {
  it("is made again from the engine's result, under the same key", async () => {
    const of = setting({});
    const first = await ask(of);
    of.results.objects.delete(keyOf(first) ?? '');
    const second = await ask(of);
    expect([statusOf(second), keyOf(second)]).toEqual(['hit', keyOf(first)]);
    expect(textOf(of, second)).toBe(CSV);
    expect(of.ends).toEqual(['succeeded']);
  });

  it('is queried anew where the result is gone too', async () => {
    const of = setting({}, {});
    const first = await ask(of);
    of.results.objects.delete(keyOf(first) ?? '');
    of.results.objects.delete('athena/q1.csv');
    const second = await ask(of);
    expect(statusOf(second)).toBe('miss');
    expect(keyOf(second)).toContain('reports/q2/');
    for (const stored of [recordOf(of), copyOf(of)]) expect(stored).toMatchObject({ executionId: 'q2' });
    expect(statusOf(await ask(of))).toBe('hit');
  });

  it('is not given on the last day that it is kept', async () => {
    const of = setting({}, {});
    await ask(of);
    vi.setSystemTime(START + 6 * 86_400_000 - 60_000);
    expect(statusOf(await ask(of))).toBe('hit');
    vi.setSystemTime(START + 6 * 86_400_000 + 60_000);
    expect(statusOf(await ask(of))).toBe('miss');
    expect(of.queries.started).toHaveLength(2);
    for (const stored of [recordOf(of), copyOf(of)]) expect(stored).toMatchObject({ executionId: 'q2' });
  });
});

describe('a query without a result', () => {
  it('that was lost is followed by another try in the same request', async () => {
    const of = setting({ isLost: true, afterMs: 100 }, { afterMs: 100 });
    const answer = await ask(of);
    expect(keyOf(answer)).toContain('reports/q2/');
    expect(
      of.queries.started
        .map(({ token }) => token)
        .filter((token, index, all) => all.indexOf(token) === index),
    ).toHaveLength(2);
    expect(of.ends).toEqual(['succeeded']);
  });

  it('six times is an internal error', async () => {
    const of = setting(...Array.from({ length: 7 }, () => ({ isLost: true, afterMs: 50 })));
    const { error } = await ask(of);
    expect(error).toEqual(new Error('none of 6 queries left a result'));
    expect(of.queries.started).toHaveLength(6);
  });

  it('that Athena has forgotten is followed by another try', async () => {
    const of = setting({ ends: 'forgotten' }, { afterMs: 100 });
    expect(textOf(of, await ask(of))).toBe(CSV);
  });

  it('that failed long ago under three tokens is run again under a fourth, which is random', async () => {
    const old = { ends: 'failed', endedAgoMs: 3_600_000 } as const;
    const of = setting(old, old, old, { afterMs: 50 });
    const answer = await ask(of);
    expect(keyOf(answer)).toContain('reports/q4/');
    expect(of.ends).toEqual(['succeeded']);
    // Another service with the same history uses the same three tokens, and a fourth of its own.
    const again = setting(old, old, old, { afterMs: 50 });
    await ask(again);
    const tokens = [of, again].map(({ queries }) => queries.started.map(({ token }) => token));
    expect(tokens[0]?.slice(0, 3)).toEqual(tokens[1]?.slice(0, 3));
    expect(tokens[0]?.[3]).not.toBe(tokens[1]?.[3]);
  });

  it('that was cut off long ago is run again', async () => {
    const of = setting({ ends: 'cut-off', endedAgoMs: 3_600_000 }, {});
    expect(textOf(of, await ask(of))).toBe(CSV);
  });

  it('that succeeded long ago under the same token is the report', async () => {
    const of = setting({ endedAgoMs: 3_600_000 });
    expect(statusOf(await ask(of))).toBe('miss');
    expect(of.queries.started).toHaveLength(1);
  });
});

describe('a query that fails', () => {
  it('is retried once where the failure is retryable, and both are counted', async () => {
    const of = setting({ ends: 'retryable', afterMs: 100 }, { afterMs: 100 });
    expect(textOf(of, await ask(of))).toBe(CSV);
    expect(of.ends).toEqual(['failed', 'succeeded']);
    expect(of.facts.ends).toEqual([
      { state: 'failed', bytesScanned: 1_000, queryMs: 100 },
      { state: 'succeeded', bytesScanned: 1_000, queryMs: 100 },
    ]);
  });

  it('is an internal error for all who waited after a second failure, and is run again for the next one', async () => {
    const of = setting({ ends: 'retryable', afterMs: 100 }, { ends: 'retryable', afterMs: 100 }, {});
    const answers = await settled(Promise.all([request(of), request(of), request(of)]));
    for (const { error } of answers) expect(error).toEqual(new QueryFailed('query q2 FAILED: boom'));
    expect(of.ends).toEqual(['failed', 'failed']);
    expect(recordOf(of)).toMatchObject({ state: 'failed', reason: 'FAILED: boom', hasDataMoved: false });
    expect(textOf(of, await ask(of))).toBe(CSV);
  });

  it('is an internal error at once where the failure is final', async () => {
    const of = setting({ ends: 'failed', afterMs: 100 });
    expect((await ask(of)).error).toBeInstanceOf(QueryFailed);
    expect(of.facts).toMatchObject({ queryExecutionId: 'q1', bytesScanned: 1_000 });
    expect(of.facts.ends).toEqual([{ state: 'failed', bytesScanned: 1_000, queryMs: 100 }]);
    expect(of.ends).toEqual(['failed']);
  });

  it('is the same error for those in the waiting room', async () => {
    const of = setting({ ends: 'failed', afterMs: 30_000 });
    const [leader, joined] = await settled(Promise.all([following(of), following(of)]));
    expect([leader?.error, joined?.error]).toEqual([
      new QueryFailed('query q1 FAILED: boom'),
      new QueryFailed('query q1 FAILED: boom'),
    ]);
    expect(of.ends).toEqual(['failed']);
  });
});

describe('a query that is cut off', () => {
  it('is refused, and so is the same request under the same limit, without a query', async () => {
    const of = setting({ ends: 'cut-off', afterMs: 100 });
    expect((await ask(of)).error).toBeInstanceOf(ReportTooLarge);
    expect(of.ends).toEqual(['cut-off']);
    expect(recordOf(of)).toMatchObject({ state: 'cut-off', limit: 10, bytesScanned: 1_000 });
    expect(copyOf(of)).toEqual(recordOf(of));
    const asked = of.queries.asked.get('q1');
    for (const key of ['queryExecutionId', 'bytesScanned'] as const) delete of.facts[key];
    const again = await ask(of);
    expect(again.error).toBeInstanceOf(ReportTooLarge);
    expect(of.facts).toMatchObject({
      queryExecutionId: 'q1',
      bytesScanned: 1_000,
      queryMs: 100,
      engineMs: 7,
    });
    expect(of.queries.asked.get('q1')).toBe(asked);
    expect(of.ends).toEqual(['cut-off']);
  });

  it('is run again under another limit', async () => {
    const of = setting({ ends: 'cut-off' }, {});
    await ask(of);
    expect(textOf(of, await ask(of, { maxBytesScanned: 20 }))).toBe(CSV);
  });

  it('is run again over other data', async () => {
    const of = setting({ ends: 'cut-off' }, {});
    await ask(of);
    of.lake.add('2026-01-02', 'b.parquet');
    expect(textOf(of, await ask(of))).toBe(CSV);
  });

  it('is still a report too large where that came after the time limit', async () => {
    const of = setting({ ends: 'cut-off', afterMs: 620_000 });
    const answer = await ask(of, { waitUntil: START + 640_000, longestQueryMs: 620_000 });
    expect(answer.error).toBeInstanceOf(ReportTooLarge);
  });
});

describe('a query that takes too long', () => {
  const terms = { longestQueryMs: 60_000, giveUpAt: START + 63_000, publishUntil: START + 963_000 };

  it('is stopped, and its caller gets Unavailable with Retry-After', async () => {
    const of = setting({ ends: 'never' });
    const answer = await follow(of, terms);
    expect(answer.error).toBeInstanceOf(Unavailable);
    expect(answer.error).toMatchObject({
      message: 'The report took too long and was given up. Narrow it, or request it later.',
      headers: { 'Retry-After': '60' },
    });
    expect(of.queries.stopped).toEqual(['q1']);
    expect(Date.now()).toBeGreaterThanOrEqual(START + 60_000);
    expect(Date.now()).toBeLessThan(START + 61_000);
  });

  it('does not fail a caller who comes back after that', async () => {
    const of = setting({ ends: 'never' }, { afterMs: 100 });
    await follow(of, terms);
    await vi.advanceTimersByTimeAsync(60_000);
    const later = { ...terms, giveUpAt: Date.now() + 63_000 };
    expect(textOf(of, await ask(of, later))).toBe(CSV);
  });

  it('does not fail a caller who joined it late and has time for another query', async () => {
    const of = setting({ ends: 'never' }, { afterMs: 100 });
    const first = following(of, terms);
    // When the query has taken too long, the first caller asks Athena about it, and the second only watches.
    await vi.advanceTimersByTimeAsync(52_000);
    const second = following(of, { ...terms, giveUpAt: Date.now() + 63_000 });
    expect((await settled(first)).error).toBeInstanceOf(Unavailable);
    expect(textOf(of, await settled(second))).toBe(CSV);
    expect(of.queries.stopped).toEqual(['q1']);
  });

  it('is stopped and run again for a new caller, where the first one left hours ago', async () => {
    const of = setting({ ends: 'never' }, { afterMs: 100 });
    await ask(of, terms);
    await vi.advanceTimersByTimeAsync(3 * 3_600_000);
    const answer = await ask(of, { ...terms, giveUpAt: Date.now() + 63_000 });
    expect(of.queries.stopped).toEqual(['q1']);
    expect(textOf(of, answer)).toBe(CSV);
  });

  it('is not stopped by a caller who gives up earlier', async () => {
    const of = setting({ afterMs: 30_000 });
    const hurried = following(of, { ...terms, giveUpAt: START + 10_000 });
    const patient = following(of, terms);
    expect((await settled(hurried)).error).toBeInstanceOf(Unavailable);
    expect(textOf(of, await settled(patient))).toBe(CSV);
    expect(of.queries.stopped).toEqual([]);
  });

  it('is Unavailable for a caller who joined it and has no more time', async () => {
    const of = setting({ ends: 'never' });
    const leading = request(of);
    await vi.advanceTimersByTimeAsync(1_000);
    const answer = await ask(of, { giveUpAt: Date.now() + 5_000 });
    expect(answer.error).toBeInstanceOf(Unavailable);
    expect(answer.ms).toBeLessThan(5_100);
    await settled(leading);
  });
});

describe('a failure that nobody has noticed', () => {
  it('does not fail a new caller who did not wait for it', async () => {
    const of = setting({ ends: 'failed', afterMs: 40_000 }, { afterMs: 100 });
    expect((await ask(of)).delivery?.state).toBe('waiting');
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(textOf(of, await ask(of))).toBe(CSV);
  });

  it('is told to a new caller too where it was a cut-off, since the query would be cut off again', async () => {
    const of = setting({ ends: 'cut-off', afterMs: 40_000 });
    expect((await ask(of)).delivery?.state).toBe('waiting');
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect((await ask(of)).error).toBeInstanceOf(ReportTooLarge);
    expect(of.ends).toEqual(['cut-off']);
  });

  it('fails the caller who waited for it, however late its next hop comes', async () => {
    const of = setting({ ends: 'failed', afterMs: 40_000 });
    const { delivery } = await ask(of);
    await vi.advanceTimersByTimeAsync(60_000);
    const left = delivery?.state === 'waiting' ? delivery.progress : undefined;
    expect((await ask(of, {}, left)).error).toBeInstanceOf(QueryFailed);
  });
});

describe('a lake that changes', () => {
  const change = (of: () => Setting, name: string) => () => of().lake.add('2026-01-01', name);
  /** Gives the same files another time, as if written again. */
  const writtenAgain = ({ lake }: Setting) => {
    lake.objects = lake.objects?.map((object) => ({ ...object, lastModified: 2_000 }));
  };

  it('after a report gets a new report, and the first file stays as it was', async () => {
    const of = setting({}, { csv: '"Day","Clicks"\n"2026-01-01T00:00:00Z","2"\n' });
    const first = await ask(of);
    of.lake.add('2026-01-01', 'b.parquet');
    const second = await ask(of);
    expect([statusOf(second), textOf(of, second)]).toEqual(['miss', CSV.replace(',1', ',2')]);
    expect(versionOf(second)).not.toBe(versionOf(first));
    expect(textOf(of, first)).toBe(CSV);
    of.lake.objects = of.lake.objects?.slice(0, 1);
    expect([statusOf(await ask(of)), keyOf(await ask(of))]).toEqual(['hit', keyOf(first)]);
  });

  it('during the query gives its report only to those who waited, without a version and without a copy', async () => {
    const of: Setting = setting({ afterMs: 100, onStart: change(() => of, 'b.parquet') }, {});
    const answer = await ask(of);
    expect([statusOf(answer), versionOf(answer), textOf(of, answer)]).toEqual(['miss', undefined, CSV]);
    expect(recordOf(of)).toMatchObject({ isCopy: false, goodUntil: 0 });
    expect(copyKeyOf(of)).toBe('');
    of.lake.objects = of.lake.objects?.slice(0, 1);
    expect(statusOf(await ask(of))).toBe('miss');
    expect(of.queries.started).toHaveLength(2);
  });

  it('during the query and back is noticed too, by the times of its files', async () => {
    const of: Setting = setting({
      afterMs: 100,
      onStart: () => {
        of.lake.objects = of.lake.objects?.map((object) => ({ ...object, lastModified: 2_000 }));
      },
    });
    expect(versionOf(await ask(of))).toBeUndefined();
  });

  it('is listed anew after a query, whatever age a listing may have', async () => {
    const of: Setting = setting({ onStart: change(() => of, 'b.parquet') });
    await ask(of, { listingMs: 60_000 });
    expect(of.lake.looks).toEqual([60_000, 0]);
  });

  it('during the query gives its report again for as long as the stage reuses a listing', async () => {
    const of: Setting = setting({ onStart: change(() => of, 'b.parquet') }, {});
    const listingMs = 60_000;
    const first = await ask(of, { listingMs });
    expect(recordOf(of)).toMatchObject({ isCopy: false, goodUntil: START + listingMs });
    // Another function may still have a listing from before the change.
    of.lake.objects = of.lake.objects?.slice(0, 1);
    const again = await ask(of, { listingMs });
    expect([statusOf(again), keyOf(again), versionOf(again)]).toEqual(['hit', keyOf(first), undefined]);
    vi.setSystemTime(START + listingMs);
    expect(statusOf(await ask(of, { listingMs }))).toBe('miss');
  });

  it('during a query that fails leads to a query of the new version', async () => {
    const of: Setting = setting(
      { ends: 'failed', afterMs: 100, onStart: change(() => of, 'b.parquet') },
      { afterMs: 100 },
    );
    const [leader, joined] = await settled(Promise.all([request(of), request(of)]));
    for (const answer of [leader, joined]) expect(answer && textOf(of, answer)).toBe(CSV);
    expect(leader && versionOf(leader)).toMatch(/^[0-9a-f]{32}$/);
    expect(of.queries.started).toHaveLength(2);
    expect(of.ends).toEqual(['failed', 'succeeded']);
  });

  it('during each of four queries that fail is a 503, also through the waiting room', async () => {
    const plan = (name: string) => ({
      ends: 'failed' as const,
      afterMs: 30_000,
      onStart: () => of.lake.add('2026-01-01', name),
    });
    const of: Setting = setting(plan('b'), plan('c'), plan('d'), plan('e'));
    const answer = await follow(of);
    expect(answer.error).toBeInstanceOf(Unavailable);
    expect(answer.error).toMatchObject({
      message:
        'The events of this window are being rewritten at this moment. Request the report again later.',
      headers: { 'Retry-After': '60' },
    });
    expect(of.queries.started).toHaveLength(4);
    expect(answer.hops).toBeGreaterThan(1);
  });

  it('but for the times of its files: a query for the earlier listing is not joined', async () => {
    const of = setting(
      { afterMs: 1_000, csv: '"Day","Clicks"\n"2026-01-01T00:00:00Z","2"\n' },
      { afterMs: 100 },
    );
    const first = request(of);
    await vi.advanceTimersByTimeAsync(100);
    writtenAgain(of);
    const second = await ask(of);
    expect([keyOf(second), textOf(of, second)]).toEqual([expect.stringContaining('reports/q2/'), CSV]);
    // The first request keeps its report, without a version: files were written during its query.
    const answer = await settled(first);
    expect([keyOf(answer), textOf(of, answer), versionOf(answer)]).toEqual([
      expect.stringContaining('reports/q1/'),
      CSV.replace(',1', ',2'),
      undefined,
    ]);
    expect(versionOf(second)).toMatch(/^[0-9a-f]{32}$/);
    expect(of.ends).toEqual(['succeeded', 'succeeded']);
  });

  it('but for the times of its files: a copy is given, without a query', async () => {
    const of = setting({ afterMs: 100 });
    const first = await ask(of);
    writtenAgain(of);
    const second = await ask(of);
    expect([statusOf(second), keyOf(second), versionOf(second)]).toEqual([
      'hit',
      keyOf(first),
      versionOf(first),
    ]);
  });

  it('but for the times of its files: what was cut off is refused, without a query', async () => {
    const of = setting({ ends: 'cut-off', afterMs: 100 });
    await ask(of);
    writtenAgain(of);
    expect((await ask(of)).error).toBeInstanceOf(ReportTooLarge);
    expect(of.queries.started).toHaveLength(1);
  });

  it('during a query that is cut off: the refusal is not remembered for the version', async () => {
    const of: Setting = setting(
      { ends: 'cut-off', afterMs: 100, onStart: change(() => of, 'b.parquet') },
      { afterMs: 100 },
    );
    expect((await ask(of)).error).toBeInstanceOf(ReportTooLarge);
    expect(copyKeyOf(of)).toBe('');
    of.lake.objects = of.lake.objects?.slice(0, 1).map((object) => ({ ...object, lastModified: 2_000 }));
    expect(statusOf(await ask(of))).toBe('miss');
  });

  it('during a query and back before its caller returns late: the report becomes no copy', async () => {
    const of: Setting = setting(
      { afterMs: 26_000, onStart: change(() => of, 'wrong.parquet') },
      { afterMs: 100 },
    );
    const { giveUpAt, publishUntil } = termsNow();
    const { delivery } = await ask(of);
    const left = delivery?.state === 'waiting' ? delivery.progress : undefined;
    // The query has read the wrong file. Four minutes after its end the file is deleted: the listing is as before.
    await vi.advanceTimersByTimeAsync(240_000);
    of.lake.objects = of.lake.objects?.slice(0, 1);
    await vi.advanceTimersByTimeAsync(60_000);
    const answer = await ask(of, { giveUpAt, publishUntil }, left);
    expect(answer.delivery).toMatchObject({ state: 'ready', key: expect.stringContaining('reports/q1/') });
    expect([versionOf(answer), copyKeyOf(of)]).toEqual([undefined, '']);
    expect((await ask(of)).delivery).toMatchObject({
      cacheStatus: 'miss',
      key: expect.stringContaining('reports/q2/'),
    });
  });

  // The request that takes over finds the result at once, `lateMs` after the query's end.
  it.each([
    [9_999, true],
    [10_000, false],
  ])(
    "not at all: a request that comes %d ms after the query's end makes a copy: %s",
    async (lateMs, isCopy) => {
      const of = setting({ ends: 'succeeded', afterMs: 30_000 });
      const { giveUpAt, publishUntil } = termsNow();
      const { delivery } = await ask(of);
      const left = delivery?.state === 'waiting' ? delivery.progress : undefined;
      vi.setSystemTime(START + 30_000 + lateMs);
      of.results.putResult('s3://results/athena/q1.csv', '"Day","Clicks"\n');
      expect(versionOf(await ask(of, { giveUpAt, publishUntil }, left)) !== undefined).toBe(isCopy);
      expect(copyKeyOf(of) !== '').toBe(isCopy);
    },
  );
});

describe('a lake that can not be listed', () => {
  it('is queried anew for each request, and no report has a version', async () => {
    const of = setting({}, {});
    of.lake.objects = undefined;
    const answers = [await ask(of), await ask(of)];
    expect(answers.map(statusOf)).toEqual(['miss', 'miss']);
    expect(answers.map(versionOf)).toEqual([undefined, undefined]);
    expect(recordOf(of)).toMatchObject({ isCopy: false, goodUntil: 0 });
    expect(of.lake.looks).toEqual([0, 0]);
  });

  it('makes no report that is given again, whatever age a listing may have', async () => {
    const of = setting({});
    of.lake.objects = undefined;
    await ask(of, { listingMs: 60_000 });
    expect(recordOf(of)).toMatchObject({ goodUntil: 0 });
  });

  it('does not make a failure look like changed files', async () => {
    const of = setting({ ends: 'failed' });
    of.lake.objects = undefined;
    expect((await ask(of)).error).toBeInstanceOf(QueryFailed);
  });
});

describe('a large result', () => {
  const large = { afterMs: 100, bytes: LARGE };

  it('is published by the publishing function, and delivered when that is done', async () => {
    const of = setting(large);
    const answering = request(of);
    await vi.advanceTimersByTimeAsync(2_000);
    const requested = of.results.document('publications/q1.json') as { key: string };
    of.results.put(requested.key, {});
    const answer = await settled(answering);
    expect(answer.delivery).toMatchObject({ state: 'ready', cacheStatus: 'miss', key: requested.key });
    expect(of.results.calls.filter((call) => call.startsWith('writeOnce'))).toEqual([]);
    expect(of.ends).toEqual(['succeeded']);
  });

  it('is waited for by twelve requests with one request for its publication', async () => {
    const of = setting(large);
    const answering = Promise.all(Array.from({ length: 12 }, () => following(of)));
    await vi.advanceTimersByTimeAsync(70_000);
    of.results.put((of.results.document('publications/q1.json') as { key: string }).key, {});
    const answers = await settled(answering);
    expect(new Set(answers.map(keyOf)).size).toBe(1);
    expect(of.queries.started).toHaveLength(1);
    expect(of.ends).toEqual(['succeeded']);
  });

  it('that was given up fails those who wait, and the next request runs another query', async () => {
    const of = setting(large, { afterMs: 100 });
    const answering = Promise.all([following(of), following(of)]);
    await vi.advanceTimersByTimeAsync(40_000);
    of.results.put('abandoned/q1.json', {});
    for (const { error } of await settled(answering)) expect(error).toBeInstanceOf(PublicationFailed);
    expect(textOf(of, await ask(of))).toBe(CSV);
  });
});

describe('a lake with a writer at work, whose hidden files differ in each listing', () => {
  const busy = (of: Setting) => {
    const list = of.lake.list.bind(of.lake);
    let looks = 0;
    of.lake.list = async (...given) => {
      const listing = await list(...given);
      looks += 1;
      const hidden = lakeObject('publisher_events/day=2026-01-01/_temporary/0', { lastModified: looks });
      return listing && { ...listing, objects: [...listing.objects, hidden] };
    };
    return of;
  };

  it('is queried once for two callers of a query of 40 s', async () => {
    const of = busy(setting({ afterMs: 40_000 }));
    const first = following(of);
    await vi.advanceTimersByTimeAsync(5_000);
    const answers = await settled(Promise.all([first, following(of)]));
    expect(answers.map(keyOf)).toEqual(Array(2).fill(expect.stringContaining('reports/q1/')));
  });

  it('is queried once for ten requests at one time', async () => {
    const of = busy(setting({ afterMs: 1_000 }));
    const answers = await settled(Promise.all(Array.from({ length: 10 }, () => following(of))));
    expect(answers.map((answer) => textOf(of, answer))).toEqual(Array(10).fill(CSV));
    expect([of.queries.started.length, of.ends]).toEqual([1, ['succeeded']]);
    expect(versionOf(await ask(of))).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('a lake whose markers are written again before each listing', () => {
  const busy = (of: Setting) => {
    const list = of.lake.list.bind(of.lake);
    let looks = 0;
    of.lake.list = async (...given) => {
      const listing = await list(...given);
      looks += 1;
      const marker = lakeObject('publisher_events/day=2026-01-01/_SUCCESS', { lastModified: looks });
      return listing && { ...listing, objects: [...listing.objects, marker] };
    };
    return of;
  };

  it('gives each of two callers of a query of 40 s a report, by a query each', async () => {
    const of = busy(setting({ afterMs: 40_000 }, { afterMs: 40_000 }));
    const first = following(of);
    await vi.advanceTimersByTimeAsync(5_000);
    const answers = await settled(Promise.all([first, following(of)]));
    expect(answers.map(keyOf)).toEqual([
      expect.stringContaining('reports/q1/'),
      expect.stringContaining('reports/q2/'),
    ]);
    expect(of.ends).toEqual(['succeeded', 'succeeded']);
  });

  it('gives ten callers their reports, each by a query of its own', async () => {
    const of = busy(setting(...Array.from({ length: 10 }, () => ({ afterMs: 1_000 }))));
    const answers = await settled(Promise.all(Array.from({ length: 10 }, () => following(of))));
    expect(answers.map((answer) => textOf(of, answer))).toEqual(Array(10).fill(CSV));
    expect(of.ends).toEqual(Array(10).fill('succeeded'));
  });
});

describe('a request that can not go on', () => {
  const late = () => {
    throw new Overloaded('Later.', 30);
  };

  it('starts no query when its caller has no time left', async () => {
    const of: Setting = setting({
      ends: 'failed',
      afterMs: 40_000,
      onStart: () => of.lake.add('2026-01-01', 'b.parquet'),
    });
    const { giveUpAt, publishUntil } = termsNow();
    const { delivery } = await ask(of);
    const left = delivery?.state === 'waiting' ? delivery.progress : undefined;
    vi.setSystemTime(giveUpAt + 60_000);
    const { error } = await ask(of, { giveUpAt, publishUntil }, left);
    expect(error).toBeInstanceOf(Unavailable);
    expect(error).toMatchObject({
      message: 'The report took too long and was given up. Narrow it, or request it later.',
    });
    expect([of.queries.started.length, of.queries.stopped]).toEqual([1, []]);
  });

  it('leaves its try to the next request at once, where Athena refuses the start', async () => {
    const of = setting({ afterMs: 100 });
    const { start } = of.queries;
    const refused = new Error('Athena StartQueryExecution: AccessDeniedException');
    of.queries.start = () => Promise.reject(refused);
    expect((await ask(of)).error).toBe(refused);
    of.queries.start = start;
    const answer = await ask(of);
    expect(textOf(of, answer)).toBe(CSV);
    expect(answer.ms).toBeLessThan(300);
  });

  it('keeps its caller waiting where the engine is at its limit, and the next hop starts the query', async () => {
    const of = setting({ afterMs: 100 });
    const { start } = of.queries;
    of.queries.start = async () => late();
    const first = await ask(of);
    expect(first.delivery).toMatchObject({ state: 'waiting', progress: { cacheStatus: 'miss', moves: 0 } });
    of.queries.start = start;
    const left = first.delivery?.state === 'waiting' ? first.delivery.progress : undefined;
    const second = await ask(of, {}, left);
    expect([textOf(of, second), of.queries.started.length]).toEqual([CSV, 1]);
    expect(of.queries.started[0]?.token).toBe(left?.token);
    expect(second.ms).toBeLessThan(300);
  });

  it('keeps its caller waiting where the report can not be written in time', async () => {
    const of = setting({ afterMs: 24_500 });
    of.results.before('writeOnce', late);
    const { delivery } = await ask(of);
    expect(delivery).toMatchObject({ state: 'waiting', progress: { token: of.queries.started[0]?.token } });
    const left = delivery?.state === 'waiting' ? delivery.progress : undefined;
    expect(textOf(of, await ask(of, {}, left))).toBe(CSV);
    expect(of.ends).toEqual(['succeeded']);
  });

  it('is Overloaded where its caller has no more time to wait', async () => {
    const of = setting({ afterMs: 24_500 });
    of.results.before('writeOnce', () => {
      vi.setSystemTime(START + 30_000);
      late();
    });
    expect((await ask(of, { giveUpAt: START + 30_000 })).error).toBeInstanceOf(Overloaded);
  });

  it('is Overloaded where there is no try yet that its caller could wait for', async () => {
    const of = setting({});
    of.results.before('read orders/', late);
    expect((await ask(of)).error).toBeInstanceOf(Overloaded);
    expect(of.queries.started).toEqual([]);
  });
});

describe('a write whose response was lost, so that its retry was refused', () => {
  it('is recognised by its writer, which starts the query', async () => {
    const of = setting({ afterMs: 100 });
    const { create } = of.results;
    of.results.create = async (key, document) => {
      await create(key, document);
      return create(key, document);
    };
    const answer = await ask(of);
    expect([textOf(of, answer), statusOf(answer), of.queries.started.length]).toEqual([CSV, 'miss', 1]);
    expect(answer.ms).toBeLessThan(300);
  });
});

describe('what is stored of an order', () => {
  it('counts as absent where it can not be read', async () => {
    const of = setting({}, {});
    const first = await ask(of);
    for (const key of [recordKeyOf(of), copyKeyOf(of)])
      of.results.put(key, { ...succeededRecord(), form: 0 });
    // The token is the same as the first time, so that Athena runs nothing.
    expect(keyOf(await ask(of))).toBe(keyOf(first));
    expect(of.queries.started).toHaveLength(1);
    for (const stored of [recordOf(of), copyOf(of)])
      expect(stored).toMatchObject({ form: 1, executionId: 'q1' });
  });

  it('is judged anew where another request wrote first', async () => {
    const of = setting({ afterMs: 100 });
    of.results.before('create orders/', () => {
      const key = of.results.calls.at(-1)?.replace('create ', '') ?? '';
      of.results.putResult('s3://results/athena/other.csv', '"Day","Clicks"\n');
      of.results.put(
        key,
        succeededRecord({ executionId: 'other', location: 's3://results/athena/other.csv' }),
      );
    });
    const answer = await ask(of);
    expect([statusOf(answer), keyOf(answer)]).toEqual(['hit', expect.stringContaining('reports/other/')]);
    expect(of.queries.started).toEqual([]);
  });
});
