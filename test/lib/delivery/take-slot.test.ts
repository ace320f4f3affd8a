import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { DeliveryTerms, Wanted } from '../../../lib/delivery/delivery.ts';
import { Overloaded, Unavailable } from '../../../lib/problems/problem.ts';
import { publisherReport } from '../../../lib/report/catalogue.ts';
import { parseRequest } from '../../../lib/report/parse-request.ts';
import { jobRecordKey, slotsKey } from '../../../lib/results/keys.ts';
import type { Progress } from '../../../lib/results/ticket.ts';
import {
  type Answer,
  evenDice,
  following,
  leftBy,
  recordKeyOf,
  recordOf,
  request as requested,
} from './ask.ts';
import type { Plan } from './memory-queries.ts';
import { type Setting, START, setting, startingRecord, UUID, underWayRecord, wanted } from './setting.ts';
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

/** The request for a report from 1 January up to and including `day`. */
const reportOf = (day: number, client = 'client-1'): Wanted => ({
  request: parseRequest(publisherReport, {
    accept: undefined,
    parameters: {
      requestedFields: ['Day,Clicks'],
      startInclusive: ['2026-01-01T00:00:00Z'],
      endExclusive: [`2026-01-${String(day + 1).padStart(2, '0')}T00:00:00Z`],
      'api-version': ['1.0'],
    },
  }),
  entitlement: 'every-company',
  client,
});

const TWO: Partial<DeliveryTerms> = { queriesPerPartner: 2 };

/** Adds to an answer the time at which it came, in milliseconds after START. */
const answered = <T extends Answer>(answer: Promise<T>) =>
  answer.then((given) => ({ ...given, atMs: Date.now() - START }));

const request = (of: Setting, wanted: Wanted, terms = TWO, left?: Progress) =>
  answered(requested(of, terms, left, wanted));

/** Sends a request, and follows the waiting URLs as a client does. */
const follow = (of: Setting, wanted: Wanted, terms = TWO) => answered(following(of, terms, wanted));

const queries = (count: number, plan: Plan): Plan[] => Array.from({ length: count }, () => plan);

/** The largest number of executions that ran at the same time. */
function mostAtOnce({ queries: { started } }: Setting): number {
  const running = started.map(
    ({ submittedAt: at }) =>
      started.filter(
        ({ submittedAt, plan: { afterMs = 0 } }) => submittedAt <= at && at < submittedAt + afterMs,
      ).length,
  );
  return Math.max(...running);
}

describe('a client that requests more reports than it has slots', () => {
  it('never has more queries under way than it has slots, and gets every report', async () => {
    const of = setting(...queries(6, { afterMs: 3_000 }));
    const answers = await settled(Promise.all([1, 2, 3, 4, 5, 6].map((day) => follow(of, reportOf(day)))));
    expect(answers.map(({ delivery }) => delivery?.state)).toEqual(Array(6).fill('ready'));
    expect(mostAtOnce(of)).toBe(2);
    // Six queries in two slots take three rounds. After a round, the next request finds the free slot within 2.6 s.
    expect(Math.max(...answers.map(({ atMs }) => atMs))).toBeLessThan(3 * 3_000 + 2 * 2_600 + 500);
    expect(of.facts.waitsForShare).toBe(true);
  });

  it('waits in the waiting room, and gets a 503 when its time is up', async () => {
    const of = setting(...queries(2, { afterMs: 500_000 }));
    const terms = {
      ...TWO,
      longestQueryMs: 600_000,
      giveUpAt: START + 100_000,
      publishUntil: START + 100_000,
    };
    const [, , third] = await settled(
      Promise.all([
        request(of, reportOf(1)),
        request(of, reportOf(2)),
        // Within this second, the two earlier requests take both slots.
        new Promise((resolve) => setTimeout(resolve, 1_000)).then(() => follow(of, reportOf(3), terms)),
      ]),
    );
    expect(third).toMatchObject({
      error: new Unavailable(
        'Too many reports of this client were under way. Request fewer at a time, or this one later.',
        60,
      ),
      hops: 3,
      atMs: 100_000,
    });
    expect(of.queries.started).toHaveLength(2);
  });

  it('gets a 503 if S3 throttles the read of its slots at its first request; at a later request, it stays in the waiting room', async () => {
    const of = setting(...queries(2, { afterMs: 60_000 }), { afterMs: 100 });
    const refuse = () =>
      of.results.before('read slots/', () => {
        throw new Overloaded('S3 throttles', 30);
      });
    refuse();
    expect((await settled(request(of, reportOf(1)))).error).toBeInstanceOf(Overloaded);
    for (const day of [1, 2])
      await settled(request(of, reportOf(day), { ...TWO, waitUntil: Date.now() + 1_000 }));
    const waiting = await settled(request(of, reportOf(3)));
    refuse();
    expect(await settled(request(of, reportOf(3), TWO, leftBy(waiting)))).toMatchObject({
      delivery: { state: 'waiting' },
    });
  });

  it.each<[string, Progress | undefined]>([
    ['The report took too long', undefined],
    ['Too many reports of this client', { waitsFor: 'slot', dataChanges: 0 }],
  ])('takes no slot when its time is up, and gets a 503: %s', async (message, left) => {
    const of = setting();
    const { error } = await settled(request(of, wanted, { ...TWO, giveUpAt: Date.now() }, left));
    expect(error).toMatchObject({ message: expect.stringContaining(message) });
    expect(error).toBeInstanceOf(Unavailable);
    expect([...of.results.objects.keys()]).toEqual([]);
  });

  it('does not make another client wait', async () => {
    const of = setting(...queries(3, { afterMs: 3_000 }));
    const one = [1, 2].map((day) => request(of, reportOf(day)));
    const other = request(of, reportOf(3, 'client-2'));
    const answers = await settled(Promise.all([...one, other]));
    for (const { delivery, atMs } of answers)
      expect([delivery?.state, atMs < 3_500]).toEqual(['ready', true]);
  });

  it('still joins queries of another client, and still gets cached reports', async () => {
    const of = setting(...queries(4, { afterMs: 3_000 }));
    await settled(request(of, reportOf(4, 'client-2')));
    const answers = await settled(
      Promise.all([
        request(of, reportOf(3, 'client-2')),
        request(of, reportOf(1)),
        request(of, reportOf(2)),
        ...[3, 4].map(async (day) => {
          await new Promise((resolve) => setTimeout(resolve, 500));
          return request(of, reportOf(day));
        }),
      ]),
    );
    expect(of.queries.started).toHaveLength(4);
    expect(answers.map(({ delivery }) => delivery?.state)).toEqual(Array(5).fill('ready'));
  });
});

describe('a failed query that a request of another client repeats', () => {
  it('takes a slot of that client, even if the request has created an attempt of its own before', async () => {
    const of = setting(
      { ends: 'retryable', afterMs: 4_000 },
      // Files change during this query, so that its caller looks again and finds the query of client-2.
      { ends: 'failed', afterMs: 1_500, onStart: () => of.lake.writeAgain() },
      { ends: 'never' },
    );
    const { objects } = of.lake;
    of.lake.writeAgain();
    const { job, data } = await of.target();
    of.lake.objects = objects;
    const record = jobRecordKey(job, data);
    const executionId = of.queries.startNow(job.query, 'a'.repeat(40));
    of.results.put(record, underWayRecord({ executionId, leaseMs: undefined, slot: 'slot-2' }));
    of.results.put(slotsKey('client-2'), { form: 2, slots: [{ id: 'slot-2', record, heldMs: 1_199_000 }] });
    await settled(request(of, wanted, { queriesPerPartner: 1 }));
    const [slot] = (of.results.document(slotsKey('client-1')) as { slots: { id: string }[] }).slots;
    expect(of.results.document(record)).toMatchObject({ executionId: 'q3', isRetry: true, slot: slot?.id });
  });
});

describe('the S3 calls for a slot', () => {
  const slotCalls = ({ results }: Setting) => results.calls.filter((call) => call.includes('slots/'));

  it('are two for a new query: a read and a write', async () => {
    const of = setting({ afterMs: 100 });
    await settled(request(of, reportOf(1)));
    expect(slotCalls(of).map((call) => call.split(' ')[0])).toEqual(['read', 'create']);
  });

  it('delay no cached report', async () => {
    const of = setting({ afterMs: 100 });
    await settled(request(of, reportOf(1)));
    const { read } = of.results;
    of.results.read = (key) => (key.startsWith('slots/') ? new Promise(() => {}) : read(key));
    expect((await settled(request(of, reportOf(1)))).delivery).toMatchObject({ cacheStatus: 'hit' });
  });

  it('include no read of a job record while the client has a free slot', async () => {
    const of = setting(...queries(2, { afterMs: 20_000 }));
    await settled(request(of, reportOf(1), { ...TWO, waitUntil: Date.now() + 1_000 }));
    const firstRecord = recordKeyOf(of);
    of.results.calls.length = 0;
    await settled(request(of, reportOf(2), { ...TWO, waitUntil: Date.now() + 1_000 }));
    expect(of.queries.started).toHaveLength(2);
    expect(of.results.calls).not.toContain(`read ${firstRecord}`);
  });

  it('are not made if the stage has no limit of queries for a client', async () => {
    const of = setting({ afterMs: 100 });
    await settled(request(of, reportOf(1), { queriesPerPartner: undefined }));
    expect(slotCalls(of)).toEqual([]);
  });
});

describe('a query that nobody waits for any more', () => {
  /** The client has one slot, so its next report needs the slot of the first query. */
  const one: Partial<DeliveryTerms> = { queriesPerPartner: 1 };
  const leave = (of: Setting) => settled(request(of, reportOf(1), { ...one, waitUntil: Date.now() + 1_000 }));

  it('gives its slot back when its result appears', async () => {
    const of = setting({ afterMs: 40_000 }, { afterMs: 100 });
    await leave(of);
    const next = await settled(follow(of, reportOf(2), one));
    expect(next.delivery?.state).toBe('ready');
    expect(next.atMs).toBeGreaterThan(40_000);
    expect(next.atMs).toBeLessThan(43_000);
  });

  it('gives its slot back, if it leaves no result, after the longest time in the queue plus the longest time to run', async () => {
    const of = setting({ ends: 'never' }, { afterMs: 100 });
    await leave(of);
    const next = await settled(
      follow(of, reportOf(2), { ...one, longestQueryMs: 60_000, longestQueueMs: 20_000 }),
    );
    expect(next.delivery?.state).toBe('ready');
    expect(next.atMs).toBeGreaterThan(80_000);
    expect(next.atMs).toBeLessThan(83_000);
  });
});

describe('a query that a request asks Athena about', () => {
  it('keeps its slot until its end is recorded: a request for another report does not look for the query’s result', async () => {
    const of = setting();
    const record = 'jobs/other/fingerprint.json';
    of.results.put(slotsKey('client-1'), { form: 2, slots: [{ id: 'slot-1', record, heldMs: 0 }] });
    of.results.put(record, underWayRecord({ slot: 'slot-1' }));
    of.results.putResult('s3://results/athena/q1.csv', 'its result');
    const one = { queriesPerPartner: 1, waitUntil: Date.now() + 10_000 };
    expect((await settled(request(of, reportOf(1), one))).delivery?.state).toBe('waiting');
    expect(of.results.callsOf('head')).toEqual([]);
  });
});

describe('a slot that a request took a moment ago, for an attempt that is not created yet,', () => {
  it('does not go to another report, even if the result of the job’s earlier query has appeared', async () => {
    const of = setting();
    const record = 'jobs/other/fingerprint.json';
    of.results.put(record, underWayRecord({ slot: 'slot-before', leaseMs: undefined }));
    of.results.putResult('s3://results/athena/q1.csv', 'its result');
    of.results.put(slotsKey('client-1'), { form: 2, slots: [{ id: 'slot-1', record, heldMs: 0 }] });
    const one = { queriesPerPartner: 1, waitUntil: Date.now() + 10_000 };
    expect((await settled(request(of, reportOf(1), one))).delivery?.state).toBe('waiting');
    expect(of.queries.started).toEqual([]);
  });
});

describe('an attempt whose start is not recorded yet when another request begins to take it over', () => {
  it('keeps its slot if the request that created the attempt goes on with it', async () => {
    const of = setting({ afterMs: 60_000 });
    const one = { queriesPerPartner: 1, waitUntil: Date.now() + 3_000 };
    const { job, data } = await of.target();
    const record = jobRecordKey(job, data);
    of.results.put(record, startingRecord({ slot: 'slot-1', leaseMs: 0 }));
    of.results.put(slotsKey('client-1'), { form: 2, slots: [{ id: 'slot-1', record, heldMs: 0 }] });
    // Just before the request below replaces the record, the request that created the attempt records the start.
    of.results.before(`replace ${record}`, () => of.results.put(record, underWayRecord({ slot: 'slot-1' })));
    const answer = await settled(request(of, wanted, one));
    expect(answer.delivery?.state).toBe('waiting');
    expect(of.results.document(slotsKey('client-1'))).toMatchObject({ slots: [{ id: 'slot-1' }] });
    expect(recordOf(of)).toMatchObject({ slot: 'slot-1' });
  });
});

describe('slots that several requests write at the same time', () => {
  it('are all stored', async () => {
    const of = setting(...queries(9, { afterMs: 20_000 }));
    const many = { queriesPerPartner: 9 };
    await settled(Promise.all(Array.from({ length: 9 }, (_, day) => request(of, reportOf(day + 1), many))));
    expect(of.queries.started).toHaveLength(9);
    const [key = ''] = [...of.results.objects.keys()].filter((each) => each.startsWith('slots/'));
    expect((of.results.document(key) as { slots: unknown[] }).slots).toHaveLength(9);
  });

  it('make a request wait in the waiting room if another request always writes first', async () => {
    const of = setting();
    let etags = 0;
    const taken = () => {
      // Each time that this request tries, another request writes between its read and its write.
      of.results.put(slotsKey('client-1'), { form: 2, slots: [], nth: etags++ });
      of.results.before('replace slots/', taken);
    };
    of.results.put(slotsKey('client-1'), { form: 2, slots: [] });
    of.results.before('replace slots/', taken);
    const waitUntil = Date.now() + 1_000;
    expect(await settled(request(of, reportOf(1), { ...TWO, waitUntil }))).toMatchObject({
      delivery: { state: 'waiting' },
    });
    expect(etags).toBeGreaterThan(5);
    expect(of.queries.started).toEqual([]);
  });

  it.each(['create', 'replace'] as const)(
    'are taken even if the answer to the call `%s` was lost',
    async (operation) => {
      const of = setting({ afterMs: 100 });
      if (operation === 'replace') of.results.put(slotsKey('client-1'), { form: 2, slots: [] });
      const { [operation]: write } = of.results;
      // S3 has stored the document, and refuses the same write when it is repeated.
      of.results[operation] = async (...given: never[]) => {
        const written = await (write as (...given: never[]) => ReturnType<typeof write>)(...given);
        return String(given).includes('slots/') ? undefined : written;
      };
      const answer = await settled(request(of, reportOf(1), { queriesPerPartner: 1 }));
      expect(answer.delivery?.state).toBe('ready');
      expect(answer.atMs).toBeLessThan(500);
      expect((of.results.document(slotsKey('client-1')) as { slots: unknown[] }).slots).toHaveLength(1);
    },
  );
});

describe('the record of a query that takes a slot', () => {
  it('names the slot, from the creation of the attempt to its end', async () => {
    const of = setting({ afterMs: 1_000 });
    const answering = request(of, reportOf(1));
    await vi.advanceTimersByTimeAsync(10);
    const [slot] = (of.results.document(slotsKey('client-1')) as { slots: { id: string; record: string }[] })
      .slots;
    expect(slot).toEqual({ id: expect.stringMatching(UUID), record: recordKeyOf(of), heldMs: 0 });
    expect(recordOf(of)).toMatchObject({ state: 'under-way', slot: slot?.id });
    await settled(answering);
    expect(recordOf(of)).toMatchObject({ state: 'succeeded', slot: slot?.id });
  });

  it('serves three simultaneous requests for the same report: they start one query in one slot', async () => {
    const of = setting({ afterMs: 1_000 });
    const one = { queriesPerPartner: 1 };
    const answers = await settled(Promise.all([1, 2, 3].map(() => request(of, reportOf(1), one))));
    expect(answers.map(({ delivery }) => delivery?.state)).toEqual(Array(3).fill('ready'));
    expect(of.queries.started).toHaveLength(1);
  });
});

describe('a slot taken by a machine whose clock is wrong', () => {
  it.each([3, -3])(
    'becomes free at the end of its query, like any other slot (clock ahead by %d h)',
    async (hours) => {
      const of = setting({ afterMs: 20_000 }, { afterMs: 100 });
      const one = { queriesPerPartner: 1 };
      of.clock.skewMachine(hours * 3_600_000);
      await settled(request(of, reportOf(1), { ...one, waitUntil: Date.now() + 1_000 }));
      of.clock.skewMachine(-hours * 3_600_000);
      const next = await settled(follow(of, reportOf(2), one));
      expect(next.delivery?.state).toBe('ready');
      expect(next.atMs).toBeGreaterThan(20_000);
      expect(next.atMs).toBeLessThan(23_000);
    },
  );
});
