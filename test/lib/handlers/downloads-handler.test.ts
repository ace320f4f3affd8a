import { beforeEach, describe, expect, it, vi } from 'vitest';
import { issueTicket, type Ticket } from '../../../lib/delivery/ticket.ts';
import { downloadsHandler } from '../../../lib/handlers/downloads-handler.ts';
import type { Plan } from '../delivery/memory-queries.ts';
import { START } from '../delivery/setting.ts';
import { functionSetting, invoke, requestEvent, SECRET } from './setting.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
beforeEach(() => {
  vi.useFakeTimers({ now: START });
  return () => vi.useRealTimers();
});

const ticket: Ticket = {
  form: 1,
  report: 'publisherperformance',
  parameters: {
    requestedFields: ['Day,Clicks'],
    startInclusive: ['2026-01-01T00:00:00Z'],
    endExclusive: ['2026-01-03T00:00:00Z'],
    'api-version': ['1.0'],
  },
  companies: 'every-company',
  client: 'first-partner',
  progress: {
    data: { version: 'v1', trace: 't1', listedAt: START, isListed: true },
    token: 'token-0',
    cacheStatus: 'collapsed',
    moves: 0,
  },
  giveUpAt: START + 105_000,
  publishUntil: START + 1_005_000,
  expiresAt: START + 1_065_000,
};

async function waitingRoom({ plans = [{}] as Plan[], more = {} as Partial<Ticket> } = {}) {
  const made = functionSetting({ QUERY_WAIT_MS: '1000' }, ...plans);
  const id = await issueTicket(made.results, { ...ticket, ...more });
  const handler = downloadsHandler(made.dependencies);
  const get = async (pathParameters: Record<string, string> | undefined = { ticket: id, hop: '1' }) => {
    const path = `/reporting/downloads/${pathParameters['ticket']}/${pathParameters['hop']}`;
    const answering = invoke(handler, requestEvent({ path, pathParameters }));
    await vi.advanceTimersByTimeAsync(30_000);
    return answering;
  };
  const stored = () => made.results.document(`tickets/${id}.json`) as Ticket;
  return { ...made, id, get, stored, handler };
}

describe('the waiting room', () => {
  it('leads to the report when it is ready', async () => {
    const room = await waitingRoom();
    const answer = await room.get();
    expect(answer.statusCode).toBe(303);
    expect(answer.headers?.['Location']).toMatch(/^https:\/\/download\.example\/reports\/q1\//);
    expect(room.lines).toMatchObject([
      { message: 'download', facts: { client: 'first-partner', partner: 'first-partner' } },
      {
        level: 'info',
        facts: {
          report: 'publisherperformance',
          client: 'first-partner',
          hop: 1,
          isReady: true,
          queryExecutionId: 'q1',
        },
      },
    ]);
    expect(JSON.stringify(room.lines)).not.toContain(SECRET);
    expect(JSON.stringify(room.lines)).not.toContain(room.id);
  });

  it('leads to the next waiting URL while the report is not ready, and records how far it is', async () => {
    const room = await waitingRoom({ plans: [{ ends: 'never' }] });
    const answer = await room.get({ ticket: room.id, hop: '7' });
    expect(answer.headers?.['Location']).toBe(`/prod/reporting/downloads/${room.id}/8`);
    expect(room.stored()).toEqual({
      ...ticket,
      progress: { ...ticket.progress, token: room.queries.started[0]?.token, cacheStatus: 'miss' },
    });
    expect(room.lines[0]?.facts).toMatchObject({ hop: 7, isReady: false, cacheStatus: 'miss' });
  });

  it('answers 503 when its caller’s time is up', async () => {
    const room = await waitingRoom({ plans: [{ ends: 'never' }], more: { giveUpAt: START + 500 } });
    expect((await room.get()).statusCode).toBe(503);
    expect(room.untils).toEqual([START + 3_500, START + 3_500]);
  });

  it('queries the rows of the companies in the ticket', async () => {
    const room = await waitingRoom({ more: { companies: ['9223372036854775807'] } });
    await room.get();
    const { sql, parameters } = room.queries.started[0]?.query ?? { sql: '', parameters: [] };
    expect([sql, ...parameters].join(' ')).toContain('9223372036854775807');
    const every = await waitingRoom();
    await every.get();
    expect(every.queries.started[0]?.query.sql).not.toContain('publisher_company_id');
  });

  it.each<[string, Record<string, string>]>([
    ['an unknown ticket', { ticket: 'A'.repeat(43), hop: '1' }],
    ['no ticket', { hop: '1' }],
  ])('is 404 for %s', async (_, pathParameters) => {
    const room = await waitingRoom();
    expect((await room.get(pathParameters)).statusCode).toBe(404);
    expect(room.lines).toMatchObject([
      { level: 'info', facts: { problem: 'no-such-download', status: 404 } },
    ]);
  });

  it.each(['x', '', '1x', 'x1', '-1', '1234567'])(
    'is 404 at the hop %j, and no ticket is looked for',
    async (hop) => {
      const room = await waitingRoom();
      expect((await room.get({ ticket: room.id, hop })).statusCode).toBe(404);
      expect(room.results.calls.filter((call) => call.startsWith('read'))).toEqual([]);
    },
  );

  it('is 404 without a ticket or a hop', async () => {
    const room = await waitingRoom();
    const answer = await invoke(room.handler, requestEvent({ path: '/reporting/downloads/x/1' }));
    expect(answer.statusCode).toBe(404);
    const unhopped = await invoke(
      room.handler,
      requestEvent({ path: '/reporting/downloads/x/1', pathParameters: { ticket: room.id } }),
    );
    expect(unhopped.statusCode).toBe(404);
  });

  it('answers at the hop 999999', async () => {
    const room = await waitingRoom();
    expect((await room.get({ ticket: room.id, hop: '999999' })).statusCode).toBe(303);
  });

  it('is 404 for a ticket that has expired, or whose report no longer exists', async () => {
    const gone = await waitingRoom({ more: { report: 'otherperformance' } });
    expect((await gone.get()).statusCode).toBe(404);
    const expired = await waitingRoom({ more: { expiresAt: Date.now() } });
    expect((await expired.get()).statusCode).toBe(404);
  });
});
