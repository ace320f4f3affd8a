import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Overloaded, Unavailable } from '../../../lib/answers/problem.ts';
import { deliverReport } from '../../../lib/delivery/deliver-report.ts';
import type { Delivery, DeliveryTerms, Progress, Wanted } from '../../../lib/delivery/delivery.ts';
import { shareKey } from '../../../lib/delivery/share.ts';
import { publisherReport } from '../../../lib/report/catalogue.ts';
import { parseRequest } from '../../../lib/report/parse-request.ts';
import type { Plan } from './memory-queries.ts';
import { START, setting, termsNow } from './setting.ts';
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

/** The report of January up to this day. */
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

type Setting = ReturnType<typeof setting>;

interface Answer {
  readonly delivery?: Delivery;
  readonly error?: unknown;
  /** When it came, in milliseconds after START. */
  readonly atMs: number;
}

const TWO: Partial<DeliveryTerms> = { queriesPerPartner: 2 };

const request = (of: Setting, wanted: Wanted, terms = TWO, left?: Progress): Promise<Answer> =>
  deliverReport(of.backends, wanted, termsNow(terms), of.note, left).then(
    (delivery) => ({ delivery, atMs: Date.now() - START }),
    (error: unknown) => ({ error, atMs: Date.now() - START }),
  );

/** Sends a request, and follows the waiting URLs as a client does. */
async function follow(of: Setting, wanted: Wanted, terms = TWO): Promise<Answer & { hops: number }> {
  const { giveUpAt } = termsNow(terms);
  let answer = await request(of, wanted, terms);
  let hops = 0;
  for (; answer.delivery?.state === 'waiting'; hops++)
    answer = await request(of, wanted, { ...terms, giveUpAt }, answer.delivery.progress);
  return { ...answer, hops };
}

const queries = (count: number, plan: Plan): Plan[] => Array.from({ length: count }, () => plan);

/** The largest number of these executions that ran at one time. */
function mostAtOnce({ queries: { started } }: Setting): number {
  const running = started.map(
    ({ submittedAt: at }) =>
      started.filter(
        ({ submittedAt, plan: { afterMs = 0 } }) => submittedAt <= at && at < submittedAt + afterMs,
      ).length,
  );
  return Math.max(...running);
}

describe('a client with more reports than may be under way', () => {
  it('never has more queries under way than its share, and gets every report', async () => {
    const of = setting(...queries(6, { afterMs: 3_000 }));
    const answers = await settled(Promise.all([1, 2, 3, 4, 5, 6].map((day) => follow(of, reportOf(day)))));
    expect(answers.map(({ delivery }) => delivery?.state)).toEqual(Array(6).fill('ready'));
    expect(mostAtOnce(of)).toBe(2);
    // Three rounds of queries, and between them at most two waits of 2.6 s until the share is looked at again.
    expect(Math.max(...answers.map(({ atMs }) => atMs))).toBeLessThan(3 * 3_000 + 2 * 2_600 + 500);
    expect(of.facts.waitsForShare).toBe(true);
  });

  it('waits in the waiting room, and gets a 503 when its time is up', async () => {
    const of = setting(...queries(2, { afterMs: 500_000 }));
    const terms = { ...TWO, longestQueryMs: 600_000, giveUpAt: START + 100_000 };
    const [, , third] = await settled(
      Promise.all([
        request(of, reportOf(1)),
        request(of, reportOf(2)),
        // The others have taken the whole share by then.
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

  it('gets a 503 at once while S3 throttles the share, and keeps waiting where it waited already', async () => {
    const of = setting(...queries(2, { afterMs: 60_000 }), { afterMs: 100 });
    const refuse = () =>
      of.results.before('read shares/', () => {
        throw new Overloaded('S3 throttles', 30);
      });
    refuse();
    expect((await settled(request(of, reportOf(1)))).error).toBeInstanceOf(Overloaded);
    for (const day of [1, 2])
      await settled(request(of, reportOf(day), { ...TWO, waitUntil: Date.now() + 1_000 }));
    const waiting = await settled(request(of, reportOf(3)));
    refuse();
    const left = waiting.delivery?.state === 'waiting' ? waiting.delivery.progress : undefined;
    expect(await settled(request(of, reportOf(3), TWO, left))).toMatchObject({
      delivery: { state: 'waiting' },
    });
  });

  it('does not make another client wait', async () => {
    const of = setting(...queries(3, { afterMs: 3_000 }));
    const one = [1, 2].map((day) => request(of, reportOf(day)));
    const other = request(of, reportOf(3, 'client-2'));
    const answers = await settled(Promise.all([...one, other]));
    for (const { delivery, atMs } of answers)
      expect([delivery?.state, atMs < 3_500]).toEqual(['ready', true]);
  });

  it('still joins queries of another client, and gets copies', async () => {
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

describe('a query that fails and is tried again by another client', () => {
  it('still counts for the client that it was first started for', async () => {
    const of = setting({ afterMs: 20_000, ends: 'retryable' }, { afterMs: 20_000 }, { afterMs: 100 });
    const one: Partial<DeliveryTerms> = { queriesPerPartner: 1 };
    await settled(request(of, reportOf(1), { ...one, waitUntil: Date.now() + 1_000 }));
    const other = follow(of, reportOf(1, 'client-2'), one);
    const next = follow(of, reportOf(2), one);
    const answers = await settled(Promise.all([other, next]));
    expect(answers.map(({ delivery }) => delivery?.state)).toEqual(['ready', 'ready']);
    // Both tries count for client-1, though client-2's request started the second: client-1's next report came after.
    expect(answers[1]?.atMs).toBeGreaterThan(40_000);
  });
});

describe('what a share costs in calls of S3', () => {
  const shareCalls = ({ results }: Setting) => results.calls.filter((call) => call.includes('shares/'));

  it('is a read and a write where a query is started', async () => {
    const of = setting({ afterMs: 100 });
    await settled(request(of, reportOf(1)));
    expect(shareCalls(of).map((call) => call.split(' ')[0])).toEqual(['read', 'create']);
  });

  it('is nothing for a copy', async () => {
    const of = setting({ afterMs: 100 });
    await settled(request(of, reportOf(1)));
    of.results.calls.length = 0;
    expect((await settled(request(of, reportOf(1)))).delivery).toMatchObject({ cacheStatus: 'hit' });
    expect(shareCalls(of)).toEqual([]);
  });

  it('is nothing where a stage has no bound', async () => {
    const of = setting({ afterMs: 100 });
    await settled(request(of, reportOf(1), { queriesPerPartner: 0 }));
    expect(shareCalls(of)).toEqual([]);
  });
});

describe('a query that nobody waits for any more', () => {
  /** The first report's request ends before its query; the next report needs the share. */
  const one: Partial<DeliveryTerms> = { queriesPerPartner: 1 };
  const leave = (of: Setting) => settled(request(of, reportOf(1), { ...one, waitUntil: Date.now() + 1_000 }));

  it('gives its share back when its result is there', async () => {
    const of = setting({ afterMs: 40_000 }, { afterMs: 100 });
    await leave(of);
    const next = await settled(follow(of, reportOf(2), one));
    expect(next.delivery?.state).toBe('ready');
    expect(next.atMs).toBeGreaterThan(40_000);
    expect(next.atMs).toBeLessThan(43_000);
  });

  it('gives its share back after the longest query time when it leaves no result', async () => {
    const of = setting({ ends: 'never' }, { afterMs: 100 });
    await leave(of);
    const next = await settled(follow(of, reportOf(2), { ...one, longestQueryMs: 60_000 }));
    expect(next.delivery?.state).toBe('ready');
    expect(next.atMs).toBeGreaterThan(60_000);
  });
});

describe('leases that several requests write at one time', () => {
  it('are all kept', async () => {
    const of = setting(...queries(9, { afterMs: 20_000 }));
    const many = { queriesPerPartner: 9 };
    await settled(Promise.all(Array.from({ length: 9 }, (_, day) => request(of, reportOf(day + 1), many))));
    expect(of.queries.started).toHaveLength(9);
    const [key = ''] = [...of.results.objects.keys()].filter((each) => each.startsWith('shares/'));
    expect((of.results.document(key) as { leases: unknown[] }).leases).toHaveLength(9);
  });

  it('send a request that has lost every time to the waiting room', async () => {
    const of = setting();
    let etags = 0;
    const taken = () => {
      // Another request writes between this one's read and write, each time it tries.
      of.results.put(shareKey('client-1'), { form: 1, leases: [], nth: etags++ });
      of.results.before('replace shares/', taken);
    };
    of.results.put(shareKey('client-1'), { form: 1, leases: [] });
    of.results.before('replace shares/', taken);
    const waitUntil = Date.now() + 1_000;
    expect(await settled(request(of, reportOf(1), { ...TWO, waitUntil }))).toMatchObject({
      delivery: { state: 'waiting' },
    });
    expect(etags).toBeGreaterThan(5);
    expect(of.queries.started).toEqual([]);
  });

  it('are taken by a write whose response was lost', async () => {
    const of = setting({ afterMs: 100 });
    // When the retry is refused, the lease that the first call wrote is there.
    of.results.before('create shares/', () => {
      const [key = ''] = of.results.calls.filter((call) => call.startsWith('read shares/'));
      const record = [...of.results.calls].reverse().find((call) => call.startsWith('read orders/'));
      of.results.put(key.slice('read '.length), {
        form: 1,
        leases: [{ record: record?.slice('read '.length), takenAt: START, until: START + 600_000 }],
      });
    });
    expect((await settled(request(of, reportOf(1), { queriesPerPartner: 1 }))).delivery?.state).toBe('ready');
  });
});
