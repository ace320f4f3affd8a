import { setTimeout as delay } from 'node:timers/promises';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, it, vi } from 'vitest';
import { makeJob, type Wanted } from '../../../lib/delivery/delivery.ts';
import { redirectToWaitingRoom } from '../../../lib/http/answer-delivery.ts';
import { downloadsHandler } from '../../../lib/http/downloads-handler.ts';
import { readDataState } from '../../../lib/lake/data-version.ts';
import { Overloaded } from '../../../lib/problems/problem.ts';
import { jobRecordKey } from '../../../lib/results/keys.ts';
import type { Progress } from '../../../lib/results/ticket.ts';
import { issueTicket } from '../../../lib/results/ticket.ts';
import type { Plan } from '../delivery/memory-queries.ts';
import { PARAMETERS, START, underWayRecord, wanted } from '../delivery/setting.ts';
import { useFakeTime } from '../delivery/settled.ts';
import * as settings from './setting.ts';

const { BY_REGISTER, FAILED_LISTINGS, functionSetting, PARTNER, request, SECRET } = settings;

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
vi.mock('../../../lib/results/gzipped.ts', () => import('../delivery/gzipped-at-once.ts'));
useFakeTime();

const data = { version: 'v1', fingerprint: 'f1', isListed: true };
const WAITS_FOR_ATTEMPT: Progress = { waitsFor: 'attempt', data, cacheStatus: 'collapsed', dataChanges: 0 };
const WAITS_FOR_SLOT: Progress = { waitsFor: 'slot', dataChanges: 0 };
const TICKET = 'A'.repeat(43);

/** How long a caller waits if a query may take 100 s: 100 s in the queue, 100 s to run, and 5 s of tolerance. */
const PATIENCE_MS = 205_000;
/** How long a ticket is valid: a publication may take 15 minutes more, and a minute is left for the last answer. */
const TICKET_MS = PATIENCE_MS + 900_000 + 60_000;

const OF_COMPANIES = { entitlement: [7n, 9n] } as const;

/** The error of a call that AWS throttled until the request's time was up. */
const throttled = () =>
  new Overloaded('Later.', 30, { cause: new Error('S3 GetObject failed: SlowDown, status 503') });

interface Room {
  readonly plans?: Plan[];
  readonly env?: Record<string, string>;
  readonly asks?: Partial<Wanted>;
  readonly progress?: Progress;
  readonly waitedMs?: number;
}

async function waitingRoom(room: Room = {}) {
  const { plans = [{}], env = {}, asks = {}, progress = WAITS_FOR_ATTEMPT, waitedMs = 1_000 } = room;
  const made = functionSetting({ QUERY_WAIT_MS: '1000', LONGEST_QUERY_MS: '100000', ...env }, ...plans);
  const left = { progress, waitedMs, entitledMs: waitedMs };
  const id = await issueTicket(made.results, { ...wanted, ...asks }, PARAMETERS, left);
  made.results.calls.splice(0);
  const handler = downloadsHandler(made.dependencies);
  const get = async (pathParameters: Record<string, string> = { ticket: id, hop: '1' }) => {
    const path = `/reporting/downloads/${pathParameters['ticket']}/${pathParameters['hop']}`;
    const answering = request(handler, { path, pathParameters });
    await vi.advanceTimersByTimeAsync(30_000);
    return answering;
  };
  const stored = () => made.results.document(`waiting/${id}.json`) as Record<string, unknown>;
  return { ...made, id, get, stored };
}

describe('the waiting room', () => {
  it('leads to the report when it is ready', async () => {
    const room = await waitingRoom();
    const answer = await room.get();
    expect(answer.statusCode).toBe(303);
    expect(answer.headers?.['Location']).toMatch(/^https:\/\/download\.example\/reports\/q1\//);
    const caller = { report: 'publisherperformance', client: 'client-1' };
    const facts = { ...caller, hop: 1, isReady: true, queryExecutionId: 'q1' };
    expect(room.factsOfBackends).toMatchObject([facts]);
    expect(room.lines).toMatchObject([
      { message: 'download', facts: { client: 'client-1', partner: 'client-1' } },
      { level: 'info', facts },
    ]);
    for (const secret of [SECRET, room.id]) expect(JSON.stringify(room.lines)).not.toContain(secret);
  });

  it('leads to the next waiting URL while the report is not ready, and stores the progress', async () => {
    const room = await waitingRoom({ plans: [{ ends: 'never' }] });
    const before = room.stored();
    const answer = await room.get({ ticket: room.id, hop: '123456' });
    expect(answer.headers?.['Location']).toBe(`/prod/reporting/downloads/${room.id}/123457`);
    const text = expect.any(String);
    // The record that the caller waited for is gone: its hop lists the lake again, and starts an attempt.
    const data = { version: text, fingerprint: text, isListed: true, whyEmpty: 'no-match' };
    const progress = { ...WAITS_FOR_ATTEMPT, data, attempt: room.queries.started[0]?.token };
    // The ticket says that its caller has waited for 1 s. This request waits for another 1 s.
    expect(room.stored()).toEqual({ ...before, progress, waitedMs: 2_000, entitledMs: 2_000 });
    expect(room.lines[0]?.facts).toMatchObject({ hop: 123_456, isReady: false, cacheStatus: 'miss' });
  });

  it('counts the time of a slow read of the ticket once, and ends its calls to AWS soon after its wait', async () => {
    const room = await waitingRoom({ plans: [{ ends: 'never' }], env: { QUERY_WAIT_MS: '25000' } });
    const { read } = room.results;
    room.results.read = async (key) => {
      if (key.startsWith('waiting/')) await delay(4_000);
      return read(key);
    };
    await room.get();
    // The caller had waited for 1 s before this request, which waits for another 25 s.
    expect(room.stored()).toMatchObject({ waitedMs: 26_000 });
    // Its calls to AWS end within 1.5 s after these 25 s, and the one that stores the ticket 2.5 s after them.
    expect(room.untils).toEqual([START + 26_500, START + 27_500]);
  });

  it('queries the rows of the companies in the ticket', async () => {
    const room = await waitingRoom({ asks: { entitlement: [9223372036854775807n] } });
    await room.get();
    const { sql, parameters } = room.queries.started[0]?.compiled ?? { sql: '', parameters: [] };
    expect([sql, ...parameters].join(' ')).toContain('9223372036854775807');
    const every = await waitingRoom();
    await every.get();
    expect(every.queries.started[0]?.compiled.sql).not.toContain('publisher_company_id');
  });

  it.each<[string, Record<string, string>, isLookedFor?: boolean]>([
    ['an unknown ticket', { ticket: TICKET, hop: '1' }, true],
    ['no ticket', { hop: '1' }],
    ['what has not the form of a ticket', { ticket: 'a-ticket', hop: '1' }],
    ...['x', '-1', '', '1e3', '1234567'].map((hop): [string, Record<string, string>] => [
      `the hop “${hop}”`,
      { ticket: TICKET, hop },
    ]),
  ])('answers 404 for %s', async (_, pathParameters, isLookedFor = false) => {
    const room = await waitingRoom();
    expect((await room.get(pathParameters)).statusCode).toBe(404);
    expect(room.lines).toMatchObject([
      { level: 'info', facts: { problem: 'no-such-download', status: 404 } },
    ]);
    expect(room.results.calls.length > 0).toBe(isLookedFor);
  });

  it('answers 503 for the minute after the caller’s time is up, and then 404', async () => {
    // The time that passes between two hops counts too.
    const late = await waitingRoom({ waitedMs: TICKET_MS - 10_000 });
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await late.get()).statusCode).toBe(503);
    expect(late.metrics).toEqual({ Unavailable: 1, FailedReports: 1 });
    expect(late.queries.started).toEqual([]);
    const expired = await waitingRoom({ waitedMs: TICKET_MS + 1 });
    expect((await expired.get()).statusCode).toBe(404);
    expect(expired.metrics).toEqual({});
  });
});

describe('a waiting hop that S3 throttles', () => {
  const partnerRoom = async (more: Room = {}) => {
    const usual: Room = { env: BY_REGISTER, asks: OF_COMPANIES, plans: [{ ends: 'never' }] };
    const room = await waitingRoom({ ...usual, ...more });
    room.partners.set('client-1', PARTNER);
    return room;
  };
  type Made = Awaited<ReturnType<typeof partnerRoom>>;
  const noRegister = (room: Made) => {
    room.register.find = () => Promise.reject(throttled());
  };
  const ledOn = (room: Made, hop: number) => {
    const Location = `/prod/reporting/downloads/${room.id}/${hop}`;
    const cache = { 'Cache-Control': 'no-store', 'Cache-Status': 'PerformanceReports; fwd=miss' };
    return { statusCode: 303, headers: expect.objectContaining({ Location, ...cache }) };
  };

  const noListing = (room: Made) => {
    room.lake.list = () => Promise.reject(throttled());
  };
  const noRecord = (room: Made) =>
    room.results.before('read jobs/', () => {
      throw throttled();
    });
  it.each<[string, Room, (room: Made) => void]>([
    ['the listing, for a caller that waits for a slot', { progress: WAITS_FOR_SLOT }, noListing],
    ['the listing, for a caller with other companies', { asks: { entitlement: [7n] } }, noListing],
    ['the record, for a caller with other companies', { asks: { entitlement: [7n] } }, noRecord],
  ])('leads to the next waiting URL: %s', async (_, more, fault) => {
    const room = await partnerRoom(more);
    const before = room.stored();
    fault(room);
    expect(await room.get()).toMatchObject(ledOn(room, 2));
    const common = { hop: 1, status: 303, isReady: false, cacheStatus: 'miss' };
    const facts = { ...common, cause: 'S3 GetObject failed: SlowDown, status 503' };
    expect(room.lines).toMatchObject([{ level: 'info', facts }]);
    expect(room.lines[0]?.facts).not.toHaveProperty('problem');
    expect([room.metrics, room.queries.started, room.stored()]).toEqual([{}, [], before]);
  });

  it('leads on until the caller’s time is up by its ticket, and then is answered 503', async () => {
    const upMs = TICKET_MS - 60_000;
    const early = await partnerRoom({ waitedMs: upMs - 1 });
    noRegister(early);
    expect((await early.get()).statusCode).toBe(303);
    const late = await partnerRoom({ waitedMs: upMs });
    noRegister(late);
    expect(await late.get()).toMatchObject({ statusCode: 503, headers: { 'Retry-After': '30' } });
    expect(late.metrics).toEqual({ Unavailable: 1, FailedReports: 1 });
  });

  // The caller’s time is 1,105 s. Each earlier hop waited for `QUERY_WAIT_MS`. Or it was throttled: until 1.5 s after
  // 25 s (8 s, if it waits for less), or up to 5 s less, if the next try would have come too late.
  it.each([
    [25_000, 26_500, 51],
    [1_000, 9_500, 1_096],
  ])(
    'that waits %i ms is answered 503 if its ticket can’t be read for %i ms and hop %i has used up the caller’s time',
    async (waitMs, throttledMs, last) => {
      const room = await partnerRoom({ env: { QUERY_WAIT_MS: String(waitMs) } });
      room.results.read = async () => {
        await delay(throttledMs);
        throw throttled();
      };
      const at = (hop: number) => room.get({ ticket: room.id, hop: String(hop) });
      expect(await at(last)).toMatchObject(ledOn(room, last + 1));
      expect(await at(last + 1)).toMatchObject({ statusCode: 503, headers: { 'Retry-After': '30' } });
    },
  );
});

describe('the listing of the lake', () => {
  const room = (more: Room = {}) => waitingRoom({ env: BY_REGISTER, asks: OF_COMPANIES, ...more });

  it('is not made if the caller waits for an attempt and may see the same rows as before', async () => {
    const made = await room({ plans: [{ ends: 'never' }] });
    made.register.find = () => delay(500).then(() => PARTNER);
    await made.get();
    // A slow register does not shorten the time for which the caller has had its companies.
    expect(made.stored()).toMatchObject({ waitedMs: 2_000, entitledMs: 2_000 });
    for (const list of [made.lake.looks, made.lines]) list.length = 0;
    expect((await made.get()).statusCode).toBe(303);
    expect(made.lake.looks).toEqual([]);
    expect(made.lines[0]?.facts).toMatchObject({ partner: 'first-partner', companies: 2 });
  });

  it('is made while the register is read if the caller waits for a slot', async () => {
    const made = await room({ progress: WAITS_FOR_SLOT });
    const looks = settings.slowRegister(made);
    expect((await made.get()).statusCode).toBe(303);
    expect(looks).toEqual([1]);
  });
});

it.each([
  ['the hop that finds them changed', 0, /^https:.*\/reports\/q2\//],
  ['a later hop', 26_000, /\/downloads\//],
])('no failure from before a caller had its companies is answered by %s', async (_, leaseMs, first) => {
  const plans: Plan[] = [{ ends: 'failed', afterMs: 10 }, {}];
  const env = { ...BY_REGISTER, QUERY_WAIT_MS: '25000' };
  const room = await waitingRoom({ env, asks: { entitlement: [7n] }, plans, waitedMs: 60_000 });
  room.partners.set('client-1', PARTNER);
  const job = makeJob({ ...wanted, ...OF_COMPANIES }, await readDataState(room.lake, wanted.request, 0));
  const executionId = (await room.queries.start(job.query, 'a'.repeat(32))) ?? '';
  await vi.advanceTimersByTimeAsync(9_000);
  const { fingerprint } = job.data;
  room.results.put(
    jobRecordKey(job),
    underWayRecord({ executionId, fingerprint, elapsedMs: 9_000, leaseMs }),
  );
  expect((await room.get()).headers?.['Location']).toMatch(first);
  expect((await room.get()).headers?.['Location']).toMatch(/^https:.*\/reports\/q2\//);
});

it.each(FAILED_LISTINGS)(
  'a listing that fails for a caller that waits for a slot is hidden from a client that is not in the register: $why',
  async ({ status, fail }) => {
    const made = await waitingRoom({ env: BY_REGISTER, asks: OF_COMPANIES, progress: WAITS_FOR_SLOT });
    fail(made);
    const unknown = { statusCode: 404, body: expect.stringContaining('no-such-download') };
    expect(await made.get()).toMatchObject(unknown);
    made.partners.set('client-1', PARTNER);
    const partner = await made.get();
    expect(partner.statusCode).toBe(status === 503 ? 303 : status);
    expect(partner.body).not.toContain('no-such-download');
  },
);

it('the waiting URL keeps the part of the path before the service’s own path', () => {
  for (const [path, expected] of [
    ['/reporting/publisherperformance', '/reporting/downloads/T/1'],
    ['/v1/reporting/downloads/T/0', '/v1/reporting/downloads/T/1'],
    ['/reporting/reporting/advertiserperformance', '/reporting/reporting/downloads/T/1'],
  ]) {
    const event = { requestContext: { path } } as APIGatewayProxyEvent;
    const { headers } = redirectToWaitingRoom(event, { ticket: 'T', hop: 1 }, 'miss');
    expect(headers?.['Location']).toBe(expected);
  }
});
