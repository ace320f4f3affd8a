import { describe, expect, it, vi } from 'vitest';
import { watchRecord } from '../../../lib/delivery/deliver-report.ts';
import { type DeliveryTerms, QueryFailed } from '../../../lib/delivery/delivery.ts';
import { publishLarge } from '../../../lib/delivery/publication.ts';
import { Overloaded, ReportTooLarge } from '../../../lib/problems/problem.ts';
import type { JobRecord } from '../../../lib/results/job-record.ts';
import { jobRecordKey, slotsKey } from '../../../lib/results/keys.ts';
import { readPublication } from '../../../lib/results/publication-request.ts';
import type { Progress } from '../../../lib/results/ticket.ts';
import type { Plan } from './memory-queries.ts';
import type { Setting } from './setting.ts';
import {
  CSV,
  doneRecord,
  failedRecord,
  LARGE,
  START,
  setting,
  startingRecord,
  UUID,
  underWayRecord,
} from './setting.ts';
import { ask, follow, following, request, settled, useFakeTime } from './settled.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
vi.mock('../../../lib/results/gzipped.ts', () => import('./gzipped-at-once.ts'));
useFakeTime();

const soon = { afterMs: 100 };
const one = { queriesPerPartner: 1 };
const late = new Overloaded('Later.', 30);
const told = (message: string) => expect.objectContaining({ message: expect.stringContaining(message) });
const WAITS_FOR_SLOT = { waitsFor: 'slot', dataChanges: 0 } as const;
const NO_SLOT = told('Too many reports of this client');
const TOO_LONG = told('took too long and was given up');
/** Puts a record of the usual job into the bucket, for the lake as it is now. */
async function recorded(of: Setting, record: JobRecord) {
  const job = await of.job();
  of.results.put(jobRecordKey(job), { ...record, fingerprint: job.data.fingerprint });
}

it('who takes a query over passes on its age: that in the record, and the record’s own', async () => {
  const of = setting({ ends: 'never' });
  await ask(of);
  await vi.advanceTimersByTimeAsync(60_000);
  // Athena does not answer the next request.
  vi.spyOn(of.queries, 'get').mockRejectedValue(late);
  await ask(of);
  expect(of.record()).toMatchObject({ elapsedMs: expect.closeTo(110_000, -4) });
  expect(of.record()).not.toHaveProperty('leaseMs');
});

describe.each([undefined, 1])('a query that goes wrong, with %s slots,', (queriesPerPartner) => {
  const lost = { ...soon, isLost: true };
  const retryable: Plan = { ...soon, ends: 'retryable' };
  const gone: Plan = { ends: 'forgotten' };
  const six = <T>(each: T): T[] => Array(6).fill(each);
  const refusal = expect.any(ReportTooLarge);
  const overLimit: Plan = { ...soon, ends: 'scan-limit-exceeded' };
  const failed = (id: string, why = 'FAILED: boom') => {
    const message = expect.stringContaining(`query ${id} ${why}`);
    return expect.objectContaining({ constructor: QueryFailed, message });
  };

  // The plans of the queries; what the caller gets; the counted queries; what the next caller gets.
  it.each<[string, Plan[], unknown, string[], unknown]>([
    ['fails', [{ ...soon, ends: 'failed' }], failed('q1'), ['failed'], CSV],
    ['is repeated once', [retryable], CSV, ['failed', 'succeeded'], CSV],
    ['fails on its retry', [retryable, retryable], failed('q2'), ['failed', 'failed'], CSV],
    ['leaves no result', [lost], CSV, ['succeeded', 'succeeded'], CSV],
    ['leaves no result six times', six(lost), failed('q6', 'has no'), six('succeeded'), CSV],
    ['is forgotten twice', [gone, retryable, gone, retryable], failed('q4'), ['failed', 'failed'], CSV],
    ['is not Athena’s CSV', [{ ...soon, csv: 'x' }], failed('q1', 'the engine'), ['failed'], CSV],
    ['exceeds the scan limit', [overLimit], refusal, ['scan-limit-exceeded'], refusal],
    ['takes too long', [{ ends: 'never' }], TOO_LONG, ['failed'], CSV],
  ])('%s', async (_, plans, outcome, finished, next) => {
    const of = setting(...plans, soon);
    const got = async () => {
      const answer = await follow(of, { queriesPerPartner });
      return answer.error ?? answer.text;
    };
    expect([await got(), of.finished]).toEqual([outcome, finished]);
    const before = of.queries.started.length;
    for (const name of Object.keys(of.facts)) Reflect.deleteProperty(of.facts, name);
    expect(await got()).toEqual(next);
    expect(of.queries.started.length > before).toBe(next === CSV && outcome !== CSV);
    const { executionId, follows } = of.record();
    const isRepeated = of.queries.started.length > 1;
    expect([of.facts.queryExecutionId, follows !== undefined]).toEqual([executionId, isRepeated]);
    if (outcome !== CSV) expect(of.facts.engineMs).toBe(soon.afterMs);
  });

  it('gets a new token if its token belongs to another query', async () => {
    const of = setting(soon);
    const start = vi.spyOn(of.queries, 'start').mockResolvedValueOnce(undefined);
    const answer = await ask(of, { queriesPerPartner });
    const [first, second] = start.mock.calls.map(([, token]) => token);
    expect([answer.text, answer.status, first === second]).toEqual([CSV, 'miss', false]);
    expect(of.record()).toMatchObject({ attempts: 1, attempt: second });
    start.mockResolvedValue(undefined);
    of.lake.add('2026-01-01', 'b.parquet');
    expect((await ask(of, { queriesPerPartner })).error).toEqual(told('knows the token of a new attempt'));
  });
});

it('a query that nobody has asked about for an hour is stopped, and run again for a new caller', async () => {
  const of = setting({ ends: 'never' }, soon);
  await ask(of);
  await vi.advanceTimersByTimeAsync(3_600_000);
  vi.spyOn(of.queries, 'stop').mockRejectedValueOnce(late);
  const first = await ask(of);
  expect([first.status, of.record()]).toMatchObject(['waiting, collapsed', { isStopped: true }]);
  expect((await ask(of, {}, first.left)).text).toBe(CSV);
  expect([of.queries.stopped, of.finished]).toEqual([['q1'], ['failed', 'succeeded']]);
});

describe('for a caller whose time is up', () => {
  const free = { leaseMs: undefined };
  const later = { waitUntil: START, giveUpAt: START + 1 };

  it.each<[string, JobRecord | undefined, object, unknown, (Progress | undefined)?, Plan?]>([
    ['a query that goes on is left', underWayRecord(free), {}, TOO_LONG, undefined, { ends: 'never' }],
    ['no query is started', undefined, {}, TOO_LONG],
    ['no query is started, with slots', undefined, one, TOO_LONG],
    ['no query is started when it has waited for a slot', undefined, one, NO_SLOT, WAITS_FOR_SLOT],
    ['a query that has not been started is not taken over', startingRecord(free), one, TOO_LONG],
    ['a query that others ask about is not waited for', underWayRecord(), {}, TOO_LONG],
    ['a query that nobody asks about is asked about once more', underWayRecord(free), {}, 'collapsed'],
    ['no lease is taken, if this request’s time is up', underWayRecord(free), later, 'waiting, collapsed'],
  ])('%s', async (_, record, terms, outcome, left, plan = {}) => {
    const of = setting(plan);
    of.queries.startNow({ sql: '', parameters: [] }, 'a'.repeat(32));
    if (record) await recorded(of, record);
    const { error, status } = await ask(of, { giveUpAt: START, ...terms }, left);
    expect(error ?? status).toEqual(outcome);
    expect(of.queries.started).toHaveLength(1);
    const writes = of.results.calls.filter((call) => !call.startsWith('read '));
    expect(writes.length > 0).toBe(of.queries.asked.size > 0);
  });
});

it('a caller whose time ends while it takes its slot starts no query', async () => {
  const of = setting(soon);
  of.results.before('create slots/', () => vi.setSystemTime(START + 2));
  const { error } = await ask(of, { ...one, giveUpAt: START + 1 });
  expect([error, of.queries.started]).toEqual([TOO_LONG, []]);
});

it('a caller is told to come later if its files changed during the sixth query in a row', async () => {
  const of = setting();
  await recorded(of, failedRecord('data-changed', { attempts: 6 }));
  const { data } = await of.job();
  const left = { waitsFor: 'attempt', dataChanges: 0, data, cacheStatus: 'collapsed', attempt: 'attempt-1' };
  expect((await ask(of, {}, left as Progress)).error).toEqual(told('being rewritten'));
});

describe('a client that has as many queries under way as slots', () => {
  const full = (of: Setting, leaseMs: number | undefined = 9e9) => {
    of.results.put('jobs/other.json', underWayRecord({ slot: 'slot-1', executionId: 'other', leaseMs }));
    const slots = [{ id: 'slot-1', record: 'jobs/other.json', heldMs: 0 }];
    of.results.put(slotsKey('client-1'), { form: 2, slots });
  };

  it('waits, and starts its query when one has ended', async () => {
    const of = setting({ afterMs: 30_000 });
    full(of);
    const first = await ask(of, one);
    expect(first.delivery).toEqual({ state: 'waiting', cacheStatus: 'miss', progress: WAITS_FOR_SLOT });
    expect([of.facts.waitsForShare, of.results.keys(/^jobs/)]).toEqual([true, ['jobs/other.json']]);
    setTimeout(() => of.results.put('jobs/other.json', doneRecord({ slot: 'slot-1' })), 5_000);
    const second = await ask(of, one, first.left);
    expect([second.left?.waitsFor, of.record()['slot']]).toEqual(['attempt', expect.stringMatching(UUID)]);
    of.results.calls.length = 0;
    const third = await ask(of, one, second.left);
    expect([third.text, third.status, of.results.callsOf('read slots/')]).toEqual([CSV, 'miss', []]);
  });

  it('waits if Athena does not say whether a query has ended that nobody asks about, and not if it has', async () => {
    const of = setting(soon);
    full(of, 0);
    await vi.advanceTimersByTimeAsync(2_000);
    const get = vi.spyOn(of.queries, 'get').mockRejectedValueOnce(late);
    expect((await ask(of, one)).left).toEqual(WAITS_FOR_SLOT);
    expect([get.mock.calls, of.queries.started]).toEqual([[['other']], []]);
    get.mockResolvedValueOnce({ state: 'forgotten', id: 'other' });
    expect((await ask(of, one)).text).toBe(CSV);
  });

  it('gets a report that exists, and a query of another, without a slot', async () => {
    const of = setting(soon);
    await ask(of);
    full(of);
    const { read } = of.results;
    of.results.read = (key) => (key.startsWith('slots/') ? new Promise(() => {}) : read(key));
    expect((await ask(of, one)).status).toBe('hit');
    await recorded(of, underWayRecord({ leaseMs: undefined }));
    expect((await ask(of, one)).text).toBe(CSV);
  });

  it('takes a slot of its own to start the query of an attempt that it takes over', async () => {
    const of = setting(soon);
    await recorded(of, startingRecord({ attempt: 'a'.repeat(32), leaseMs: undefined, slot: 'of-another' }));
    full(of);
    const first = await ask(of, one);
    expect([first.status, of.queries.started]).toEqual(['waiting, collapsed', []]);
    of.results.put('jobs/other.json', doneRecord({ slot: 'slot-1' }));
    const second = await ask(of, one, first.left);
    const { slots } = of.results.document(slotsKey('client-1')) as { slots: { id: string }[] };
    expect([second.text, of.record()['slot']]).toEqual([CSV, slots[0]?.id]);
    expect(slots[0]?.id).toMatch(UUID);
  });

  it('counts a change of the data once, however many hops it then waits', async () => {
    const of = setting();
    await recorded(of, failedRecord('data-changed'));
    vi.advanceTimersByTime(5_000);
    full(of);
    let left: Progress | undefined = { ...WAITS_FOR_SLOT, dataChanges: 1, cacheStatus: 'collapsed' };
    for (let hop = 0; hop < 4; hop++) left = (await ask(of, one, left)).left;
    expect(left).toEqual({ ...WAITS_FOR_SLOT, dataChanges: 1, cacheStatus: 'collapsed' });
  });

  it('waits on as one who has waited, when its attempt has failed', async () => {
    const of = setting({ ...soon, isLost: true, ends: 'forgotten' });
    const first = request(of, one);
    await vi.advanceTimersByTimeAsync(10);
    full(of);
    const attempt = of.queries.started[0]?.token;
    expect((await settled(first)).left).toEqual({ ...WAITS_FOR_SLOT, attempt, cacheStatus: 'collapsed' });
  });
});

describe('a large result', () => {
  const large = { ...soon, bytes: LARGE };
  const publication = async ({ results }: Setting) => {
    const wanted = await readPublication(results, 'publications/q1.json');
    if (!wanted) throw new Error('there is no publication');
    return wanted;
  };

  it.each([
    ['gzip', 'plain', '.gz', ''],
    ['plain', 'gzip', '', ''],
  ])('is published for the first caller’s encoding first: %s, then %s', async (one, _, first, second) => {
    const of = setting(large);
    const own = request(of, { acceptsGzip: one === 'gzip' });
    const other = request(of, { acceptsGzip: one !== 'gzip' });
    await vi.advanceTimersByTimeAsync(2_000);
    // Who comes now waits too, for longer than its query may take.
    const joins = (more = {}) => ask(of, { waitUntil: Date.now() + 10, giveUpAt: Date.now(), ...more });
    expect((await joins()).status).toBe('waiting, collapsed');
    expect((await joins({ publishUntil: Date.now() })).error).toEqual(TOO_LONG);
    const { uploadFile } = of.results;
    of.results.uploadFile = async (key, ...given) => {
      await new Promise((resolve) =>
        setTimeout(resolve, key.endsWith('.gz') === (one === 'gzip') ? 2_000 : 10_000),
      );
      return uploadFile(key, ...given);
    };
    const publishing = publishLarge(of.results, await publication(of));
    const [mine, joined] = await settled(Promise.all([own, other, publishing]));
    const { key } = await publication(of);
    expect([mine.key, mine.status, mine.ms < 5_000]).toEqual([key + first, 'miss', true]);
    expect(mine.delivery).toMatchObject({ bytes: (await of.results.head(`${key}${first}`))?.bytes });
    // Who takes gzip takes the plain file if that is there first.
    expect([joined.key, joined.status]).toEqual([key + second, 'collapsed']);
    expect(joined.ms > 14_000).toBe(one === 'gzip');
    expect(of.record()).toMatchObject({ state: 'done', rows: 1, files: { gzip: expect.any(Number) } });
    expect([of.results.callsOf('writeFile'), of.finished]).toEqual([[], ['succeeded']]);
  });
});

describe('a request that can’t go on', () => {
  it('keeps its caller waiting if the engine is at its limit; the next one starts the query', async () => {
    const of = setting(soon);
    vi.spyOn(of.queries, 'start').mockRejectedValueOnce(late);
    const first = await ask(of);
    expect([first.status, of.record()['leaseMs']]).toEqual(['waiting, miss', undefined]);
    const second = await ask(of, {}, first.left);
    expect([second.text, second.status, second.ms < 300]).toEqual([CSV, 'miss', true]);
  });

  it.each([
    ['goes on if the start can’t be written', 'replace', soon, 0],
    ['keeps its caller waiting if the report can’t be written', 'writeFile', { afterMs: 24_500 }, 1],
  ] as const)('%s', async (_, call, plan, hops) => {
    const of = setting(plan);
    vi.spyOn(of.results, call).mockRejectedValueOnce(late);
    const answer = await follow(of);
    expect([answer.text, answer.status, answer.hops]).toEqual([CSV, 'miss', hops]);
    expect(of.finished).toEqual(['succeeded']);
  });

  it.each<[string, object, Progress | undefined, unknown]>([
    ['does not wait yet', {}, undefined, late],
    ['waits for a slot', {}, WAITS_FOR_SLOT, 'waiting, miss'],
    ['has no time left', { publishUntil: 0 }, WAITS_FOR_SLOT, late],
  ])('throws Overloaded unless its caller can go on waiting: it %s', async (_, terms, left, outcome) => {
    const of = setting();
    vi.spyOn(of.results, 'read').mockRejectedValueOnce(late);
    const { error, status } = await ask(of, terms, left);
    expect(error ?? status).toBe(outcome);
  });
});

describe('a write of the record', () => {
  /** Refuses the first write in this state, as if another had come first, after `act`. */
  const refusing = ({ results }: Setting, state: JobRecord['state'], act: Setting['results']['put']) => {
    let isFirst = true;
    for (const name of ['create', 'replace'] as const) {
      const write = results[name] as (...given: unknown[]) => ReturnType<typeof results.create>;
      vi.spyOn(results, name).mockImplementation(async (...given: unknown[]) => {
        const [key, record] = given.slice(-2) as [string, JobRecord];
        if (!isFirst || record.state !== state) return write(...given);
        isFirst = false;
        act(key, record);
        return undefined;
      });
    }
  };

  const next = startingRecord({ attempt: 'a'.repeat(32), leaseMs: undefined });
  const followed = ({ writer }: JobRecord) => ({ ...next, follows: writer });
  it.each<[string, JobRecord['state'], (record: JobRecord) => object, number]>([
    ['its end was stored, and followed at once: counted', 'done', followed, 2],
    ['its end was recorded by another: not counted', 'done', () => next, 1],
    ['its end was replaced by what can’t be read: not counted', 'done', () => ({ form: 1 }), 1],
    ['it was replaced before it was known: not counted', 'under-way', () => next, 1],
    ['it was created by another: not started', 'starting', () => doneRecord({ executionId: 'q9' }), 0],
  ])('finds another record in its place: %s', async (_, state, other, counted) => {
    const of = setting(soon, soon);
    const isCreated = state === 'starting';
    refusing(of, state, (key, record) => {
      const { fingerprint, ...ours } = record as JobRecord;
      return of.results.put(key, { ...other(ours as JobRecord), fingerprint });
    });
    const answer = await ask(of);
    expect([of.finished.length, of.queries.started.length]).toEqual([counted, isCreated ? 0 : 2]);
    expect(answer.key).toContain(isCreated ? 'reports/q9/' : 'reports/q2/');
  });

  it('finds the files of its own publication in it: the query is counted', async () => {
    const of = setting({ ...soon, bytes: LARGE });
    refusing(of, 'publishing', (key, record) =>
      of.results.put(key, { ...(record as JobRecord), state: 'done', files: { plain: 9 } }),
    );
    expect([(await ask(of)).status, of.finished]).toEqual(['miss', ['succeeded']]);
  });

  it('fails: the request answers as usual, or with its first error', async () => {
    const of = setting({ ends: 'never' });
    const { replace } = of.results;
    vi.spyOn(of.results, 'replace').mockImplementation((was, key, document) =>
      (document as { leaseMs?: number }).leaseMs ? replace(was, key, document) : Promise.reject(late),
    );
    expect((await ask(of)).status).toBe('waiting, miss');
    await vi.advanceTimersByTimeAsync(60_000);
    vi.spyOn(of.queries, 'get').mockRejectedValue(new Error('first'));
    expect((await ask(of)).error).toEqual(new Error('first'));
  });
});

it.each([
  ['the record has changed', 500, 'starting', 800, [0, 400]],
  ['the given time', 2_000, 'under-way', 1_000, [0, 400, 800]],
])('reads the record until %s, after the given pauses', async (_, changedAfterMs, state, ms, waited) => {
  const of = setting();
  const job = await of.job();
  const wait = { ...of.wait(job), stored: of.results.put(jobRecordKey(job), underWayRecord()) };
  setTimeout(() => of.results.put(jobRecordKey(job), startingRecord()), changedAfterMs);
  const pauseMs = vi.fn((_waitedMs: number) => 400);
  await settled(watchRecord(wait, wait.stored, START + 1_000, pauseMs));
  expect(wait.stored.document).toMatchObject({ state });
  expect([Date.now() - START, pauseMs.mock.calls.map(([waitedMs]) => waitedMs)]).toEqual([ms, waited]);
});

/** How long each call takes, in milliseconds: longer than all other pauses of a delivery together. */
const CALL_MS = 1_000;

/** Makes the calls of a service slow. Calls that start at the same time end at the same time. */
const slow = <T extends object>(service: T): T =>
  new Proxy(service, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function' || ['folderOf', 'locationOf'].includes(String(name))) return member;
      return async (...given: never[]) => {
        await new Promise((resolve) => setTimeout(resolve, CALL_MS));
        return member.apply(target, given);
      };
    },
  });

/**
 * Gets a report: how many calls run one after the other; and which calls reach S3, without the looks for the result and
 * without the names of the objects.
 */
async function callsOf(of: Setting, more: Partial<DeliveryTerms> = {}) {
  const [lake, results, queries] = [slow(of.lake), slow(of.results), slow(of.queries)];
  const from = Date.now();
  of.results.calls.length = 0;
  const answer = await settled(following({ ...of, lake, backends: { lake, results, queries } }, more));
  expect([answer.text, answer.hops]).toEqual([CSV, 0]);
  const ms = Date.now() - from;
  // The pauses between the calls must not add up to the time of a call.
  expect(ms % CALL_MS).toBeLessThan(CALL_MS / 10);
  const toS3 = of.results.calls.filter((call) => !call.startsWith('head athena/'));
  const named = toS3.map((call) => call.replace(/\/.*?(\.gz)?$/, '$1')).sort();
  return { inARow: Math.floor(ms / CALL_MS), toS3: [...of.lake.looks.splice(0).map(() => 'list'), ...named] };
}

const five = { queriesPerPartner: 5 };

// Nine calls of S3 in all, and eleven with a limit of queries. Calls of one step run at the same time. The eight steps
// are: the listing; the job's record; the attempt; the start; the look that finds the result; Athena's answer, the closing
// listing and the result; the files; the end. With a limit of queries, one more step writes the slot before the attempt.
const end = 'readResult athena,replace jobs,replace jobs,writeFile reports,writeFile reports.gz'.split(',');
const fresh = ['list', 'list', 'create jobs', 'read jobs', ...end];
const withSlot = ['list', 'list', 'create jobs', 'create slots', 'read jobs', 'read slots', ...end];
it.each<[string, Partial<DeliveryTerms>, number, string[]]>([
  ['without a limit of queries', {}, 8, fresh],
  ['with a limit of queries', five, 9, withSlot],
])('a fresh report makes these calls: %s', async (_, terms, inARow, toS3) => {
  for (const acceptsGzip of [false, true])
    expect(await callsOf(setting({}), { ...terms, acceptsGzip })).toEqual({ inARow, toS3 });
});

it('a report that exists makes two calls in a row, the listing and the read of its record', async () => {
  const of = setting({});
  await callsOf(of, five);
  const once = { inARow: 2, toS3: ['list', 'read jobs'] };
  for (const acceptsGzip of [false, true]) expect(await callsOf(of, { acceptsGzip })).toEqual(once);
  // The client's slots are read beside the record, and not waited for.
  expect(await callsOf(of, five)).toEqual({ inARow: 2, toS3: ['list', 'read jobs', 'read slots'] });
});
