import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Claims } from '../../../lib/access/claims.ts';
import { daysHandler } from '../../../lib/http/days-handler.ts';
import { publisherReport } from '../../../lib/report/catalogue.ts';
import { lakeObject } from '../delivery/memory-lake.ts';
import { START } from '../delivery/setting.ts';
import { parametersOf } from '../report/parameters.ts';
import { BY_CLAIMS, functionSetting, request, tokenOf } from './setting.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: START, toFake: ['Date'] });
  return () => vi.useRealTimers();
});

const PARAMETERS = parametersOf('2026-02-01T12:00:00Z/2026-02-03');

const PATH = '/reporting/publisherperformance';

function service({ env = {}, claims = {} as Claims } = {}) {
  const made = functionSetting(env);
  const list = vi.spyOn(made.lake, 'list');
  const handler = daysHandler(publisherReport, { ...made.dependencies, verifyToken: tokenOf(claims) });
  const ask = (parameters: Record<string, string[]> | undefined = PARAMETERS, headers = {}) =>
    request(handler, { path: `${PATH}/days`, headers, ...(parameters && { parameters }) });
  return { ...made, list, ask };
}

describe('the days of a report', () => {
  it('come with Cache-Control: no-store, and the log names the caller', async () => {
    const made = service({ claims: { azp: 'first-partner' } });
    made.lake.objects = ['2026-01-20/_SUCCESS', '2026-02-01/a', '2026-02-02/a', '2026-02-02/_SUCCESS'].map(
      (path) => lakeObject(`publisher_events/day=${path}`),
    );
    const answer = await made.ask();
    const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
    expect(answer).toMatchObject({ statusCode: 200, headers });
    const { startInclusive, days } = JSON.parse(answer.body);
    expect([startInclusive, ...days]).toMatchObject([
      '2026-02-01T12:00:00Z',
      // The window begins at noon, but the version is that of the whole day.
      { day: '2026-02-01', startInclusive: '2026-02-01T00:00:00Z', state: 'open' },
      { day: '2026-02-02', endExclusive: '2026-02-03T00:00:00Z', state: 'final' },
    ]);
    const caller = { client: 'first-partner', companies: 'every-company' };
    const facts = { status: 200, report: 'publisherperformance', ...caller };
    expect(made.lines).toMatchObject([{ level: 'info', facts }]);
    // It is listed again for each request. The month before the window shows whether this lake marks complete days.
    const listed = expect.objectContaining({ start: Date.parse('2026-01-01T12:00:00Z') });
    expect(made.list.mock.calls).toEqual([[publisherReport, listed, 0]]);
    expect(made.untils).toEqual([START + 27_500]);
  });

  it('are refused with 401, before the lake is listed, if no valid token gives access to rows of the report', async () => {
    const stranger = service();
    expect((await stranger.ask({}, { Authorization: ['Bearer other'] })).statusCode).toBe(401);
    const entitledToNothing = service({ env: BY_CLAIMS });
    expect((await entitledToNothing.ask()).statusCode).toBe(401);
    // A caller without rights learns nothing about its parameters.
    expect((await entitledToNothing.ask({})).statusCode).toBe(401);
    for (const { list } of [stranger, entitledToNothing]) expect(list).not.toHaveBeenCalled();
  });

  it('are refused with 400, and every fault is listed, if the request has no parameters', async () => {
    const answer = await service().ask(null as never);
    expect(answer.statusCode).toBe(400);
    expect(JSON.parse(answer.body).errors).toHaveLength(3);
  });

  it('are answered with 500 if the lake can not be listed, and the log says what to do', async () => {
    const made = service();
    made.lake.objects = undefined;
    expect((await made.ask()).statusCode).toBe(500);
    const error = { message: expect.stringMatching(/^The lake can not be listed: EVENTS_BUCKET/) };
    expect(made.lines).toMatchObject([{ level: 'error', facts: { error } }]);
    // No failed report is counted.
    expect(made.metrics).toEqual({});
  });
});
