import { describe, expect, it, vi } from 'vitest';
import { type DeliveryFacts, PublicationFailed, QueryFailed } from '../../../lib/delivery/delivery.ts';
import { Overloaded, Unavailable } from '../../../lib/problems/problem.ts';
import type { JobRecord } from '../../../lib/results/job-record.ts';
import {
  ask,
  cachedKeyOf,
  cachedOf,
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
import {
  CSV,
  LARGE,
  type Setting,
  START,
  setting,
  startingRecord,
  succeededRecord,
  UUID,
} from './setting.ts';
import { settled, useFakeTime } from './settled.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
vi.mock('../../../lib/results/gzipped.ts', () => import('./gzipped-at-once.ts'));
useFakeTime();

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
    const { text, file } = of.results.objects.get(keyOf(answer) ?? '') ?? {};
    const metadata = { 'query-execution-id': 'q1', 'data-version': versionOf(answer) };
    expect([text, file?.metadata]).toEqual([CSV, metadata]);
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
    expect(keyOf(await ask(of, { acceptsGzip: true }))).toBe(`${keyOf(first)}.gz`);
    expect(of.queries.asked).toEqual(asked);
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

  it('keeps its cache status for a caller whose attempt another request takes over first', async () => {
    const of = setting({ ends: 'never' });
    const left = leftBy(await ask(of));
    of.results.before('replace jobs/', () =>
      of.results.put(recordKeyOf(of), { ...recordOf(of), leaseMs: 1e6 }),
    );
    expect((await ask(of, {}, left)).delivery).toMatchObject({ state: 'waiting', cacheStatus: 'miss' });
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
    await settled(first);
    // The log gets no figures of a query that has not ended.
    expect(of.facts).toEqual({ queryExecutionId: 'q1', job: expect.any(String) });
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
    const { file } = of.results.objects.get(keyOf(second) ?? '') ?? {};
    expect(file?.metadata).toEqual({ 'query-execution-id': 'q1', 'data-version': versionOf(first) });
    expect(of.finished).toEqual(['succeeded']);
  });

  it('causes an error, and no query, if its files can not be written', async () => {
    const of = setting({});
    await made(of);
    const refused = new Error('S3 PutObject: AccessDenied');
    of.results.before('writeFile', () => {
      throw refused;
    });
    expect((await ask(of)).error).toBe(refused);
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

describe('a large result', () => {
  const large = { afterMs: 100, bytes: LARGE };

  it('is published by the publishing function, and delivered once the file exists', async () => {
    const of = setting(large);
    const answering = request(of, { partner: 'first-partner' });
    await vi.advanceTimersByTimeAsync(2_000);
    const requested = of.results.document('publications/q1.json') as { key: string };
    expect(requested).toMatchObject({
      partner: 'first-partner',
      columns: [
        { name: 'Day', type: 'datetime' },
        { name: 'Clicks', type: 'integer' },
      ],
      dataVersion: expect.any(String),
      cachedReport: cachedKeyOf(of),
    });
    // A request that finds it in the cache waits for its files.
    const { delivery } = await ask(of, { waitUntil: Date.now() + 10 });
    expect(delivery).toMatchObject({
      state: 'waiting',
      cacheStatus: 'collapsed',
      progress: { cacheStatus: 'collapsed' },
    });
    of.results.putFile(requested.key, CSV);
    const answer = await settled(answering);
    expect(answer.delivery).toMatchObject({ state: 'ready', cacheStatus: 'miss', key: requested.key });
    expect(of.results.calls.filter((call) => call.startsWith('writeFile'))).toEqual([]);
    expect(of.finished).toEqual(['succeeded']);
  });

  it('is published without a version if files changed during its query', async () => {
    const of: Setting = setting({ ...large, onStart: () => of.lake.add('2026-01-01', 'b.parquet') });
    await ask(of);
    const requested = of.results.document('publications/q1.json');
    for (const member of ['dataVersion', 'cachedReport']) expect(requested).not.toHaveProperty(member);
  });

  it.each([
    [START + 1_000, undefined],
    [START + 1_001, 'waiting'],
  ])('is waited for until the time `publishUntil` (%d)', async (publishUntil, state) => {
    const of = setting(large);
    const { delivery, error } = await ask(of, {
      waitUntil: START + 1_000,
      giveUpAt: START + 900,
      publishUntil,
    });
    expect([delivery?.state, error instanceof Unavailable]).toEqual([state, state === undefined]);
  });

  it('causes an error for the waiting callers when its publication is given up; the next request runs another query', async () => {
    const of = setting(large, { afterMs: 100 });
    const answering = Promise.all([following(of), following(of)]);
    await vi.advanceTimersByTimeAsync(40_000);
    of.results.put('abandoned/q1.json', {});
    for (const { error } of await settled(answering)) expect(error).toBeInstanceOf(PublicationFailed);
    expect(textOf(of, await ask(of))).toBe(CSV);
  });
});

describe('a request that can not go on', () => {
  const late = () => {
    throw new Overloaded('Later.', 30);
  };

  it('does not change a record that another request has written meanwhile', async () => {
    const of = setting();
    of.queries.start = async () => {
      of.results.put(recordKeyOf(of), { form: 0 });
      throw new Error('boom');
    };
    expect((await ask(of)).error).toEqual(new Error('boom'));
    expect(recordOf(of)).toEqual({ form: 0 });
  });

  it('answers as usual even if its lease can not be given up', async () => {
    const of = setting({ ends: 'never' });
    const { replace } = of.results;
    of.results.replace = async (was, key, document) => {
      if (!('leaseMs' in (document as object))) throw new Error('AccessDenied');
      return replace(was, key, document);
    };
    expect(statusOf(await ask(of))).toBe('waiting');
    await vi.advanceTimersByTimeAsync(60_000);
    of.queries.onGet = () => {
      throw new Error('boom');
    };
    expect((await ask(of)).error).toEqual(new Error('boom'));
  });

  it('keeps its caller waiting if the start of the query can not be recorded', async () => {
    const of = setting({ afterMs: 100 });
    of.results.before('replace jobs/', late);
    const answer = await follow(of);
    expect([textOf(of, answer), answer.hops > 0]).toEqual([CSV, true]);
    expect([of.queries.started.length, of.finished]).toEqual([1, ['succeeded']]);
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
    // When the lake was listed, this machine knows by its own clock: other machines can't use this time.
    expect(left).not.toHaveProperty('data.listedAt');
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

describe('a result that is seen before Athena reports the end', () => {
  it('is not used if Athena names another, reused one; then the lake is listed again', async () => {
    const location = 's3://results/athena/q0.csv';
    const of = setting({ afterMs: 1_000, location });
    of.results.putResult(location, '"Day","Clicks"\n"2026-01-01T00:00:00Z","7"\n');
    of.results.putResult('s3://results/athena/q1.csv', 'nonsense');
    setTimeout(() => of.lake.add('2026-01-01', 'b.parquet'), 500);
    const answer = await ask(of);
    expect([textOf(of, answer), versionOf(answer)]).toEqual([CSV.replace(',1', ',7'), undefined]);
  });

  it('may fail to be read if the query fails', async () => {
    const of = setting({ ends: 'failed', afterMs: 1_000 });
    of.results.putResult('s3://results/athena/q1.csv', 'nonsense');
    of.results.before('readResult', () => {
      throw new Error('boom');
    });
    expect((await ask(of)).error).toEqual(new QueryFailed('query q1 FAILED: boom'));
  });
});

describe('a query whose record another request changes at the same moment', () => {
  type Written = Pick<JobRecord, 'state' | 'writer'>;
  const next = () => startingRecord({ attempt: 'next' });
  /** Puts another record into the place of the one that a request writes in this state. */
  const changing = ({ results }: Setting, state: Written['state'], change: (record: Written) => object) => {
    const { replace } = results;
    results.replace = async (was, key, document) => {
      if ((document as Written).state !== state) return replace(was, key, document);
      results.put(key, change(document as Written));
      return undefined;
    };
  };

  it('is delivered, and not counted, if it succeeds', async () => {
    const of = setting({ afterMs: 100 });
    changing(of, 'under-way', next);
    expect([textOf(of, await ask(of)), of.finished]).toEqual([CSV, []]);
  });

  // How the query ends; the state of the record that is changed, and its change; the queries that are counted.
  it.each<[string, 'failed' | 'retryable', Written['state'], (record: Written) => object, string[]]>([
    [
      'recorded, and the next attempt created at once: counted',
      'failed',
      'failed',
      ({ writer }) => startingRecord({ follows: writer }),
      ['failed'],
    ],
    [
      'repeated, and the repetition taken over at once: counted',
      'retryable',
      'starting',
      (record) => ({ ...record, writer: 'other' }),
      ['failed'],
    ],
    ['recorded by another request first: not counted', 'failed', 'failed', next, []],
    ['repeated by another request first: not counted', 'retryable', 'starting', next, []],
    ['replaced before it was known: not counted', 'failed', 'under-way', next, []],
    ['replaced before it was known, with a repetition: not counted', 'retryable', 'under-way', next, []],
    ['damaged: only the next query is counted', 'failed', 'failed', () => ({ form: 0 }), ['succeeded']],
  ])('is %s', async (_, ends, state, change, finished) => {
    const of = setting({ ends, afterMs: 100 }, {});
    changing(of, state, change);
    expect((await ask(of)).error).toBeUndefined();
    expect(of.finished).toEqual(finished);
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
