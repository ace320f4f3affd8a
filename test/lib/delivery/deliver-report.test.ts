import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type DeliveryFacts, PublicationFailed, QueryFailed } from '../../../lib/delivery/delivery.ts';
import { publishLarge } from '../../../lib/delivery/publication.ts';
import { Overloaded, Unavailable } from '../../../lib/problems/problem.ts';
import { readPublication } from '../../../lib/results/publication-request.ts';
import {
  ask,
  cachedKeyOf,
  cachedOf,
  evenDice,
  follow,
  following,
  keyOf,
  leftBy,
  recordKeyOf,
  recordOf,
  request,
  statusOf,
  textOf,
  versionOf,
} from './ask.ts';
import { CSV, LARGE, type Setting, START, setting, succeededRecord, termsNow, UUID } from './setting.ts';
import { settled } from './settled.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
vi.mock('../../../lib/results/gzipped.ts', () => import('./gzipped-at-once.ts'));
beforeEach(() => {
  vi.useFakeTimers({ now: START });
  const endDice = evenDice();
  return () => {
    endDice();
    vi.useRealTimers();
  };
});

describe('a report that nobody has requested before', () => {
  it('is written and cached, and needs one query, which is counted once in the metrics', async () => {
    const of = setting({ afterMs: 500 });
    const answer = await ask(of);
    expect(answer.delivery).toMatchObject({
      state: 'ready',
      key: 'reports/q1/publisherperformance_20260101T000000Z_20260103T000000Z.csv',
      bytes: CSV.length,
      cacheStatus: 'miss',
      dataVersion: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(textOf(of, answer)).toBe(CSV);
    expect(answer.ms).toBeLessThan(700);
    expect(recordOf(of)).toEqual({
      form: 2,
      writer: expect.stringMatching(UUID),
      attempts: 1,
      state: 'succeeded',
      attempt: of.queries.started[0]?.token,
      executionId: 'q1',
      submittedAt: START,
      completedAt: START + 500,
      bytesScanned: 1_000,
      engineMs: 7,
      location: 's3://results/athena/q1.csv',
      resultBytes: 42,
      isOfVersion: true,
      files: { plain: CSV.length, gzip: expect.any(Number) },
    });
    expect(of.queries.started[0]?.token).toMatch(UUID);
    expect(cachedOf(of)).toEqual(recordOf(of));
    expect(of.facts).toEqual({
      queryExecutionId: 'q1',
      job: expect.stringMatching(/^[0-9a-f]{64}$/),
      dataVersion: versionOf(answer),
      bytesScanned: 1_000,
      engineMs: 7,
      queryMs: 500,
      finishedQueries: [{ state: 'succeeded', bytesScanned: 1_000, queryMs: 500 }],
    });
    expect(of.finished).toEqual(['succeeded']);
  });

  it('comes from the cache for the next request, after a listing and a read, without a call to Athena', async () => {
    const of = setting({ afterMs: 500 });
    const first = await ask(of);
    const asked = new Map(of.queries.asked);
    of.results.calls.length = 0;
    of.lake.looks.length = 0;
    const second = await ask(of);
    expect(second.delivery).toEqual({ ...first.delivery, cacheStatus: 'hit' });
    // The job record is read at the same time, but the request does not wait for that read.
    expect(of.results.calls).toEqual([`read ${cachedKeyOf(of)}`, `read ${recordKeyOf(of)}`]);
    expect(of.lake.looks).toEqual([0]);
    expect(of.queries.asked).toEqual(asked);
  });

  it('comes from the cache gzipped too, since both files were written together', async () => {
    const of = setting({ afterMs: 500 });
    const first = await ask(of);
    of.results.calls.length = 0;
    const second = await ask(of, { acceptsGzip: true });
    expect([statusOf(second), keyOf(second)]).toEqual(['hit', `${keyOf(first)}.gz`]);
    expect(of.results.calls.filter((call) => !call.startsWith('read'))).toEqual([]);
  });

  it('is queried once for fifty requests at the same time', async () => {
    const of = setting({ afterMs: 3_000 });
    const answers = await settled(Promise.all(Array.from({ length: 50 }, () => request(of))));
    expect(new Set(answers.map(keyOf)).size).toBe(1);
    expect(answers.map(statusOf).filter((status) => status === 'miss')).toHaveLength(1);
    expect(answers.map(statusOf).filter((status) => status === 'collapsed')).toHaveLength(49);
    expect(of.queries.asked.get('q1')).toBeLessThanOrEqual(4);
    expect(of.finished).toEqual(['succeeded']);
  });

  it('comes through the waiting room when it takes longer than a request', async () => {
    const of = setting({ afterMs: 60_000 });
    const answer = await follow(of);
    expect(answer.hops).toBe(2);
    expect(statusOf(answer)).toBe('miss');
    expect(textOf(of, answer)).toBe(CSV);
    expect(of.finished).toEqual(['succeeded']);
    expect(of.queries.asked.get('q1')).toBeLessThanOrEqual(12);
  });

  it('still reaches all waiting callers after the request that asked Athena has ended', async () => {
    const of = setting({ afterMs: 40_000 });
    const answers = await settled(
      Promise.all([request(of), ...Array.from({ length: 20 }, () => following(of))]),
    );
    expect(answers[0]?.delivery?.state).toBe('waiting');
    expect(answers.slice(1).map((answer) => textOf(of, answer))).toEqual(Array(20).fill(CSV));
    expect(Date.now()).toBeLessThan(START + 44_000);
    expect(of.queries.started).toHaveLength(1);
    expect(of.finished).toEqual(['succeeded']);
  });

  it('soon reaches a request that comes shortly before the end of the query', async () => {
    const of = setting({ afterMs: 400 });
    const first = request(of);
    await vi.advanceTimersByTimeAsync(350);
    expect((await settled(request(of))).ms).toBeLessThan(400);
    await settled(first);
  });

  it('lets a request that joins it log the execution if the record names the execution already', async () => {
    const of = setting({ ends: 'never' });
    const first = request(of);
    await vi.advanceTimersByTimeAsync(10);
    const joining = async () => {
      const facts: DeliveryFacts = {};
      const note = (learnt: DeliveryFacts) => void Object.assign(facts, learnt);
      await ask({ ...of, note }, { waitUntil: Date.now() + 10 });
      return facts;
    };
    expect(await joining()).toEqual({ queryExecutionId: 'q1', job: expect.any(String) });
    const { executionId: _, ...record } = recordOf(of);
    of.results.put(recordKeyOf(of), { ...record, state: 'starting' });
    expect(Object.keys(await joining())).toEqual(['job']);
    await settled(first);
  });

  it('has the cache status `collapsed` for a new request that takes over its attempt', async () => {
    const of = setting({ afterMs: 40_000 });
    await ask(of);
    expect(statusOf(await ask(of))).toBe('collapsed');
  });

  it('is queried again if its record is deleted during its query', async () => {
    const of = setting({ ends: 'never' }, { afterMs: 100 });
    const first = request(of);
    await vi.advanceTimersByTimeAsync(10);
    const joining = request(of);
    await vi.advanceTimersByTimeAsync(10);
    for (const key of of.results.objects.keys()) of.results.objects.delete(key);
    const answer = await settled(joining);
    expect([textOf(of, answer), statusOf(answer)]).toEqual([CSV, 'miss']);
    await settled(first);
  });

  it('gives a request that joins it a waiting URL when the time of that request is up', async () => {
    const of = setting({ ends: 'never' });
    const first = request(of);
    await vi.advanceTimersByTimeAsync(1_000);
    const joining = request(of, { waitUntil: Date.now() + 2_000 });
    const joined = await settled(joining);
    expect(joined.delivery).toMatchObject({
      state: 'waiting',
      progress: { cacheStatus: 'collapsed', dataChanges: 0 },
    });
    expect(joined.ms).toBeLessThan(2_100);
    expect(of.facts.queryExecutionId).toBe('q1');
    await settled(first);
  });
});

describe('a report whose files are gone, and whose record names no files', () => {
  /**
   * Makes a report, removes the files from its records, and deletes the files. The records of a large report look like
   * this before its publication has noted the files.
   */
  const made = async (of: Setting) => {
    const first = await ask(of);
    const { files: _, ...record } = cachedOf(of);
    for (const key of [cachedKeyOf(of), recordKeyOf(of)]) of.results.put(key, record);
    for (const key of of.results.keys(/^reports/)) of.results.objects.delete(key);
    of.results.calls.length = 0;
    return first;
  };

  it("is made again from the engine's result, under the same key", async () => {
    const of = setting({});
    const first = await made(of);
    const second = await ask(of);
    expect([statusOf(second), keyOf(second)]).toEqual(['hit', keyOf(first)]);
    expect(textOf(of, second)).toBe(CSV);
    expect(of.finished).toEqual(['succeeded']);
  });

  it("is queried again if the engine's result is gone too; the request looks for that result once", async () => {
    const of = setting({}, {});
    await made(of);
    of.results.objects.delete('athena/q1.csv');
    const second = await ask(of);
    expect(statusOf(second)).toBe('miss');
    expect(keyOf(second)).toContain('reports/q2/');
    expect(of.results.callsOf('readResult athena/q1.csv')).toHaveLength(1);
    expect(of.results.callsOf('head reports/q1/')).toHaveLength(2);
    for (const stored of [recordOf(of), cachedOf(of)]) expect(stored).toMatchObject({ executionId: 'q2' });
    expect(statusOf(await ask(of))).toBe('hit');
  });
});

describe('a cached report', () => {
  it('is not given again on the last day that its files are kept', async () => {
    const of = setting({}, {});
    await ask(of);
    vi.setSystemTime(START + 6 * 86_400_000 - 60_000);
    expect(statusOf(await ask(of))).toBe('hit');
    vi.setSystemTime(START + 6 * 86_400_000 + 60_000);
    expect(statusOf(await ask(of))).toBe('miss');
    expect(of.queries.started).toHaveLength(2);
    for (const stored of [recordOf(of), cachedOf(of)]) expect(stored).toMatchObject({ executionId: 'q2' });
  });
});

describe('a gzipped file that can not be written', () => {
  it('neither prevents nor delays the plain file, and the next request does not look for the gzipped one', async () => {
    const of = setting({ afterMs: 100 });
    const { writeFile } = of.results;
    of.results.writeFile = (key, ...given) =>
      key.endsWith('.gz') ? Promise.reject(new Overloaded('Later.', 30)) : writeFile(key, ...given);
    const first = await ask(of, { acceptsGzip: true });
    expect([textOf(of, first), statusOf(first)]).toEqual([CSV, 'miss']);
    expect(first.ms).toBeLessThan(300);
    of.results.calls.length = 0;
    const second = await ask(of, { acceptsGzip: true });
    expect([statusOf(second), keyOf(second)]).toEqual(['hit', keyOf(first)]);
    expect(of.results.callsOf('head')).toEqual([]);
  });

  it('delays the plain file by at most a second if its own write never ends', async () => {
    const of = setting({ afterMs: 100 });
    const { writeFile } = of.results;
    of.results.writeFile = (key, ...given) =>
      key.endsWith('.gz') ? new Promise(() => {}) : writeFile(key, ...given);
    const first = await ask(of, { acceptsGzip: true });
    expect(textOf(of, first)).toBe(CSV);
    expect(first.ms).toBeLessThan(1_300);
    expect(recordOf(of)).toMatchObject({ files: { plain: CSV.length } });
  });
});

describe('a large result', () => {
  const large = { afterMs: 100, bytes: LARGE };

  it('is published by the publishing function, and delivered once the file exists', async () => {
    const of = setting(large);
    const answering = request(of);
    await vi.advanceTimersByTimeAsync(2_000);
    const requested = of.results.document('publications/q1.json') as { key: string };
    of.results.putFile(requested.key, CSV);
    const answer = await settled(answering);
    expect(answer.delivery).toMatchObject({ state: 'ready', cacheStatus: 'miss', key: requested.key });
    expect(of.results.calls.filter((call) => call.startsWith('writeFile'))).toEqual([]);
    expect(of.finished).toEqual(['succeeded']);
  });

  it('reaches twelve waiting requests as one file of one query', async () => {
    const of = setting(large);
    const answering = Promise.all(Array.from({ length: 12 }, () => following(of)));
    await vi.advanceTimersByTimeAsync(70_000);
    of.results.putFile((of.results.document('publications/q1.json') as { key: string }).key, CSV);
    const answers = await settled(answering);
    expect(new Set(answers.map(keyOf)).size).toBe(1);
    expect(of.queries.started).toHaveLength(1);
    expect(of.finished).toEqual(['succeeded']);
  });

  it('causes an error for the waiting callers when its publication is given up; the next request runs another query', async () => {
    const of = setting(large, { afterMs: 100 });
    const answering = Promise.all([following(of), following(of)]);
    await vi.advanceTimersByTimeAsync(40_000);
    of.results.put('abandoned/q1.json', {});
    for (const { error } of await settled(answering)) expect(error).toBeInstanceOf(PublicationFailed);
    expect(textOf(of, await ask(of))).toBe(CSV);
  });

  it('is a cache hit once the publishing function has noted its files; then no request looks for the files', async () => {
    const of = setting(large);
    const answering = request(of, { acceptsGzip: true });
    await vi.advanceTimersByTimeAsync(2_000);
    const publication = await readPublication(of.results, 'publications/q1.json');
    if (publication) await publishLarge(of.results, publication);
    const first = await settled(answering);
    expect(keyOf(first)).toMatch(/^reports\/q1\/.*\.csv\.gz$/);
    of.results.calls.length = 0;
    const second = await ask(of, { acceptsGzip: true });
    expect([statusOf(second), keyOf(second)]).toEqual(['hit', keyOf(first)]);
    expect(of.results.callsOf('head')).toEqual([]);
  });
});

describe('a request that can not go on', () => {
  const late = () => {
    throw new Overloaded('Later.', 30);
  };

  it('starts no further query when its caller has no time left', async () => {
    const of: Setting = setting({
      ends: 'failed',
      afterMs: 40_000,
      onStart: () => of.lake.add('2026-01-01', 'b.parquet'),
    });
    const { giveUpAt, publishUntil, askedAt } = termsNow();
    const left = leftBy(await ask(of));
    vi.setSystemTime(giveUpAt + 60_000);
    const { error } = await ask(of, { askedAt, giveUpAt, publishUntil }, left);
    expect(error).toBeInstanceOf(Unavailable);
    expect(error).toMatchObject({
      message: 'The report took too long and was given up. Narrow it, or request it later.',
    });
    expect([of.queries.started.length, of.queries.stopped]).toEqual([1, []]);
  });

  it('leaves its attempt to the next request at once if Athena refuses the start', async () => {
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

  it('keeps its caller waiting if the engine is at its limit; the next hop starts the query', async () => {
    const of = setting({ afterMs: 100 });
    const { start } = of.queries;
    of.queries.start = async () => late();
    const first = await ask(of);
    expect(first.delivery).toMatchObject({
      state: 'waiting',
      progress: { cacheStatus: 'miss', dataChanges: 0 },
    });
    of.queries.start = start;
    const left = leftBy(first);
    const second = await ask(of, {}, left);
    expect([textOf(of, second), of.queries.started.length]).toEqual([CSV, 1]);
    expect(second.ms).toBeLessThan(300);
  });

  it('keeps its caller waiting if the report can not be written in time', async () => {
    const of = setting({ afterMs: 24_500 });
    of.results.before('writeFile', late);
    const first = await ask(of);
    expect(first.delivery).toMatchObject({
      state: 'waiting',
      progress: { waitsFor: 'attempt', cacheStatus: 'miss' },
    });
    const left = leftBy(first);
    expect(textOf(of, await ask(of, {}, left))).toBe(CSV);
    expect(of.finished).toEqual(['succeeded']);
  });

  it('throws Overloaded if S3 throttles and its caller has no time left to wait', async () => {
    const of = setting({ afterMs: 24_500 });
    of.results.before('writeFile', () => {
      vi.setSystemTime(START + 30_000);
      late();
    });
    const terms = { giveUpAt: START + 30_000, publishUntil: START + 30_000 };
    expect((await ask(of, terms)).error).toBeInstanceOf(Overloaded);
  });

  it('keeps its caller waiting as before when the record of the attempt is gone and S3 throttles', async () => {
    const of = setting({ ends: 'never' }, { afterMs: 100 });
    const left = leftBy(await ask(of));
    of.results.objects.clear();
    of.results.before('read cached/', late);
    const second = await ask(of, {}, left);
    expect(second.delivery).toEqual({ state: 'waiting', progress: left, cacheStatus: 'miss' });
    expect(textOf(of, await ask(of, {}, leftBy(second)))).toBe(CSV);
  });

  it('keeps its own cache status when the report is cached and the record of the attempt is gone', async () => {
    const of = setting({ afterMs: 30_000 });
    const [first, joined] = await settled(Promise.all([request(of), request(of)]));
    await follow(of);
    of.results.objects.delete(recordKeyOf(of));
    const answers = [first, joined].map((answer) => ask(of, {}, answer && leftBy(answer)));
    expect((await Promise.all(answers)).map(statusOf).sort()).toEqual(['collapsed', 'miss']);
  });

  it('throws Overloaded if S3 throttles before there is an attempt for which its caller could wait', async () => {
    const of = setting({});
    of.results.before('read cached/', late);
    expect((await ask(of)).error).toBeInstanceOf(Overloaded);
    expect(of.queries.started).toEqual([]);
  });
});

describe('a write whose answer was lost, so that S3 refused it when it was repeated', () => {
  const losing = (of: Setting, operation: 'create' | 'replace', state: string) => {
    const { results } = of;
    const write = results[operation] as (...given: unknown[]) => ReturnType<typeof results.create>;
    Object.assign(results, {
      [operation]: async (...given: unknown[]) => {
        const written = await write(...given);
        return (given.at(-1) as { state?: string }).state === state ? undefined : written;
      },
    });
  };

  it.each([
    ['create', 'starting'],
    ['replace', 'under-way'],
    ['replace', 'succeeded'],
  ] as const)('is recognised by its writer: %s of the record in the state “%s”', async (operation, state) => {
    const of = setting({ afterMs: 100 });
    losing(of, operation, state);
    const answer = await ask(of);
    expect([textOf(of, answer), statusOf(answer), of.queries.started.length]).toEqual([CSV, 'miss', 1]);
    expect(answer.ms).toBeLessThan(300);
    expect(of.finished).toEqual(['succeeded']);
  });

  it('is recognised too if it records a failure, and the failed query is counted in the metrics', async () => {
    const of = setting({ ends: 'failed', afterMs: 100 });
    losing(of, 'replace', 'failed');
    expect((await ask(of)).error).toBeInstanceOf(QueryFailed);
    expect(of.finished).toEqual(['failed']);
  });
});

describe('a stored document of a job', () => {
  it('counts as absent if it can not be read', async () => {
    const of = setting({}, {});
    await ask(of);
    for (const key of [recordKeyOf(of), cachedKeyOf(of)])
      of.results.put(key, { ...succeededRecord(), form: 0 });
    expect(keyOf(await ask(of))).toContain('reports/q2/');
    for (const stored of [recordOf(of), cachedOf(of)])
      expect(stored).toMatchObject({ form: 2, executionId: 'q2' });
  });

  it('is read and judged again if another request creates it first', async () => {
    const of = setting({ afterMs: 100 });
    of.results.before('create jobs/', () => {
      const key = of.results.calls.at(-1)?.replace('create ', '') ?? '';
      const location = 's3://results/athena/other.csv';
      of.results.putResult(location, '"Day","Clicks"\n');
      of.results.put(key, succeededRecord({ executionId: 'other', location }));
    });
    const answer = await ask(of);
    expect([statusOf(answer), keyOf(answer)]).toEqual([
      'collapsed',
      expect.stringContaining('reports/other/'),
    ]);
    expect(of.queries.started).toEqual([]);
  });
});
