import { describe, expect, it, vi } from 'vitest';
import type { DeliveryTerms, Wanted } from '../../../lib/delivery/delivery.ts';
import { Unavailable } from '../../../lib/problems/problem.ts';
import { publisherReport } from '../../../lib/report/catalogue.ts';
import { parseRequest } from '../../../lib/report/parse-request.ts';
import { slotsKey } from '../../../lib/results/keys.ts';
import type { Progress } from '../../../lib/results/ticket.ts';
import { recordKeyOf, request as requested } from './ask.ts';
import type { Plan } from './memory-queries.ts';
import { type Setting, setting, underWayRecord, wanted } from './setting.ts';
import { settled, useFakeTime } from './settled.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
vi.mock('../../../lib/results/gzipped.ts', () => import('./gzipped-at-once.ts'));
useFakeTime();

/** The request for a report from 1 January up to and including `day`. */
const reportOf = (day: number): Wanted => ({
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
  client: 'client-1',
});

const TWO: Partial<DeliveryTerms> = { queriesPerPartner: 2 };

const request = (of: Setting, wanted: Wanted, terms = TWO, left?: Progress) =>
  requested(of, terms, left, wanted);

const queries = (count: number, plan: Plan): Plan[] => Array.from({ length: count }, () => plan);

describe('a client that requests more reports than it has slots', () => {
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
});

describe('the S3 calls for a slot', () => {
  it('delay no cached report', async () => {
    const of = setting({});
    await settled(request(of, reportOf(1)));
    const { read } = of.results;
    of.results.read = (key) => (key.startsWith('slots/') ? new Promise(() => {}) : read(key));
    expect((await settled(request(of, reportOf(1)))).delivery).toMatchObject({ cacheStatus: 'hit' });
  });

  it('include no read of a job record while the client has a free slot', async () => {
    const of = setting(...queries(2, { afterMs: 2_000 }));
    const first = request(of, reportOf(1));
    await vi.advanceTimersByTimeAsync(1_000);
    const firstRecord = recordKeyOf(of);
    of.results.calls.length = 0;
    await settled(request(of, reportOf(2)));
    await first;
    expect(of.results.calls).not.toContain(`read ${firstRecord}`);
  });
});

describe('a slot', () => {
  it('is not waited for longer than its request may take if another request always writes first', async () => {
    const of = setting();
    let writes = 0;
    const taken = () => {
      // Each time that this request tries, another request writes between its read and its write.
      of.results.put(slotsKey('client-1'), { form: 2, slots: [], nth: writes++ });
      of.results.before('replace slots/', taken);
    };
    taken();
    const answer = await settled(request(of, reportOf(1), { ...TWO, waitUntil: Date.now() + 1_000 }));
    expect([answer.delivery?.state, of.queries.started]).toEqual(['waiting', []]);
    expect(writes).toBeGreaterThan(5);
  });

  it.each([
    ['whose query a request asks Athena about', { slot: 'slot-1' }],
    ['whose attempt is not created yet', { slot: 'slot-before', leaseMs: undefined }],
  ])('%s does not go to another report, even if the result of the job is there', async (_, record) => {
    const of = setting();
    const key = 'jobs/other/fingerprint.json';
    of.results.put(slotsKey('client-1'), { form: 2, slots: [{ id: 'slot-1', record: key, heldMs: 0 }] });
    of.results.put(key, { ...underWayRecord(), ...record });
    of.results.putResult('s3://results/athena/q1.csv', 'its result');
    const one = { queriesPerPartner: 1, waitUntil: Date.now() + 10_000 };
    expect((await settled(request(of, reportOf(1), one))).delivery?.state).toBe('waiting');
  });
});
