import { describe, expect, it, vi } from 'vitest';
import type { Claims } from '../../../lib/access/claims.ts';
import type { PartnerRecord } from '../../../lib/access/partner-record.ts';
import { reportHandler } from '../../../lib/http/report-handler.ts';
import { NotAuthorized, Unauthenticated } from '../../../lib/problems/problem.ts';
import { publisherReport } from '../../../lib/report/catalogue.ts';
import type { Plan } from '../delivery/memory-queries.ts';
import { PARAMETERS, START } from '../delivery/setting.ts';
import { useFakeTime } from '../delivery/settled.ts';
import {
  BY_REGISTER,
  FAILED_LISTINGS,
  failListing,
  functionSetting,
  invoke,
  looksWhenRegisterIsRead,
  PARTNER,
  requestEvent,
  SECRET,
} from './setting.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
vi.mock('../../../lib/results/gzipped.ts', () => import('../delivery/gzipped-at-once.ts'));
useFakeTime();

const ASKED = { ...PARAMETERS, 'filter[DeviceOrProxy]': [SECRET] };
const CLAIMED = {
  ENTITLEMENTS: 'claims',
  COMPANY_CLAIMS: '{"publisherCompanies":{"claim":"companies"}}',
  EVERY_COMPANY_VALUE: 'all',
};

function service({ env = {}, claims = {} as Claims, plans = [{}] as Plan[] } = {}) {
  const made = functionSetting(env, ...plans);
  const tokens: (string | undefined)[] = [];
  const handler = reportHandler(publisherReport, {
    ...made.dependencies,
    verifyToken: async (authorization) => {
      tokens.push(authorization);
      if (authorization === 'Bearer without-scope') throw new NotAuthorized('scope', 'first-partner');
      if (authorization !== `Bearer ${SECRET}`) throw new Unauthenticated('The token is no good.');
      return claims;
    },
  });
  const ask = async (
    parameters: Record<string, string[]> | undefined = ASKED,
    headers = {},
    requestTimeEpoch = START,
  ) => {
    const answering = invoke(
      handler,
      requestEvent({
        path: '/reporting/publisherperformance',
        headers,
        requestTimeEpoch,
        ...(parameters && { parameters }),
      }),
    );
    await vi.advanceTimersByTimeAsync(60_000);
    return answering;
  };
  return { ...made, tokens, ask };
}
describe('a report route', () => {
  it('answers with the report’s URL, and writes a log line for the download link and one for the request', async () => {
    const made = service({ env: BY_REGISTER, claims: { client_id: 'client-1' } });
    made.partners.set('client-1', PARTNER);
    const answer = await made.ask();
    expect(answer).toMatchObject({
      statusCode: 303,
      headers: {
        Location:
          'https://download.example/reports/q1/publisherperformance_20260101T000000Z_20260103T000000Z.csv?for=300',
        'Cache-Status': 'PerformanceReports; fwd=miss',
        'Data-Version': expect.stringMatching(/^[0-9a-f]{32}$/),
        'Cache-Control': 'no-store',
        Vary: 'Accept-Encoding',
        'Content-Type': 'text/plain; charset=utf-8',
      },
      body:
        'The report is ready. GET the URL in the Location header, without an Authorization header. ' +
        'Keep it to yourself: until it expires, whoever has it can download the report.\n',
    });
    expect(made.lines).toHaveLength(2);
    expect(made.lines[0]).toEqual({
      level: 'info',
      message: 'download',
      facts: {
        requestId: 'request-1',
        client: 'client-1',
        partner: 'first-partner',
        report: 'publisherperformance',
        startInclusive: '2026-01-01T00:00:00Z',
        endExclusive: '2026-01-03T00:00:00Z',
        requestedFields: 'Day,Clicks',
        companies: '7,9',
        dataVersion: answer.headers?.['Data-Version'],
        bytes: expect.any(Number),
      },
    });
    expect(made.lines[1]).toEqual({
      level: 'info',
      message: 'request',
      facts: {
        requestId: 'request-1',
        status: 303,
        durationMs: expect.any(Number),
        report: 'publisherperformance',
        client: 'client-1',
        partner: 'first-partner',
        companies: 2,
        queryExecutionId: 'q1',
        dataVersion: answer.headers?.['Data-Version'],
        job: expect.stringMatching(/^[0-9a-f]{64}$/),
        bytesScanned: 1_000,
        engineMs: 7,
        queryMs: 0,
        ends: [{ state: 'succeeded', bytesScanned: 1_000, queryMs: 0 }],
        endedQueries: 1,
        endedBytes: 1_000,
        cacheStatus: 'miss',
        isReady: true,
      },
    });
    for (const secret of [SECRET, 'partner.example'])
      expect(JSON.stringify(made.lines)).not.toContain(secret);
    expect(made.metrics).toEqual({ Reports: 1, BytesScanned: 1_000, QueryDuration: 0 });
  });

  it('takes its times and limits from the configuration', async () => {
    const env = {
      DOWNLOAD_URL_SECONDS: '60',
      QUERY_WAIT_MS: '5000',
      MAX_BYTES_SCANNED: '5',
      LISTING_SECONDS: '9',
    };
    const made = service({ env, plans: [{ ends: 'scan-limit-exceeded' }] });
    expect((await made.ask()).statusCode).toBe(400);
    expect(made.lake.looks[0]).toBe(9_000);
    const record = [...made.results.objects.values()].map(({ document }) => document)[0];
    expect(record).toMatchObject({ why: 'too-large', limit: 5 });
    // `QUERY_WAIT_MS` is shorter than 8 s. Even so, the calls of a first request may last until 1.5 s after these 8 s.
    expect(new Set(made.untils)).toEqual(new Set([START + 9_500]));
    const hit = service({ env });
    expect((await hit.ask()).headers?.['Location']).toMatch(/\?for=60$/);
  });

  const late = { plans: [{ ends: 'never' }] } as const;
  // The calls of a first request may last until 1.5 s after the 8 s that it may wait. If its caller must wait, the
  // ticket may be stored until 2.5 s after the 25 s that the gateway leaves.
  it.each<[string, Parameters<typeof service>[0], gatewayMs: number, untils: number[]]>([
    ['of a request that came just now', {}, 0, [9_500]],
    ['of a request that came a second ago', {}, -1_000, [8_500]],
    ['of a request that came in the future, which counts as now', {}, 5_000, [9_500]],
    ['of a request that came longer ago than the gateway waits, which counts as now', {}, -29_000, [9_500]],
    [
      'and of the call that stores the ticket of a caller that must wait',
      { plans: [...late.plans] },
      0,
      [9_500, 27_500],
    ],
    [
      'for a moment, even if all time has passed by a clock that is ahead',
      { plans: [...late.plans] },
      -28_999,
      [3_000, 4_000],
    ],
  ])('limits the time of the calls to AWS %s', async (_, given, gatewayMs, untils) => {
    const made = service(given);
    expect((await made.ask(ASKED, {}, START + gatewayMs)).statusCode).toBe(303);
    expect([...new Set(made.untils)].map((until) => until - START)).toEqual(untils);
  });

  it('answers 401 before it reads the query parameters and the lake', async () => {
    const made = service();
    const answer = await made.ask({}, { Authorization: ['Bearer other'] });
    expect(answer.statusCode).toBe(401);
    expect(made.lake.looks).toEqual([]);
    expect(made.lines).toMatchObject([{ level: 'info', facts: { problem: 'unauthenticated', status: 401 } }]);
  });

  it('answers 401 for a valid token without the scope, and the log names the token’s client', async () => {
    const made = service();
    expect((await made.ask(ASKED, { Authorization: ['Bearer without-scope'] })).statusCode).toBe(401);
    expect(made.lines).toMatchObject([
      {
        level: 'info',
        facts: { problem: 'not-authorized', client: 'first-partner', partner: 'first-partner' },
      },
    ]);
  });

  it('answers 400 with every fault if the request has no parameters and its Accept header does not allow CSV', async () => {
    const made = service({ claims: { client_id: 'first-partner' } });
    const answer = await made.ask(null as never, { Accept: [], ACCEPT: ['application/json'] });
    expect(answer.statusCode).toBe(400);
    const errors: { parameter: string }[] = JSON.parse(answer.body).errors;
    expect(errors.map(({ parameter }) => parameter)).toEqual(
      expect.arrayContaining(['Accept', 'api-version']),
    );
    expect(made.lines[0]?.facts).toMatchObject({ client: 'first-partner', problem: 'invalid-request' });
  });

  it('queries the rows of the companies that the token gives access to, and answers 401 if there are none', async () => {
    const nobody = service({ env: CLAIMED });
    expect((await nobody.ask()).statusCode).toBe(401);
    expect(nobody.lines[0]?.facts).toMatchObject({ problem: 'not-authorized', client: 'unnamed' });
    const made = service({ env: CLAIMED, claims: { companies: ['7', '9'] } as Claims });
    expect((await made.ask()).statusCode).toBe(303);
    expect(made.lines.at(-1)?.facts['companies']).toBe(2);
    expect(made.queries.started[0]?.query.sql).toContain('publisher_company_id IN (7, 9)');
  });
});

describe('a report route, with a register of partners,', () => {
  const other = { publisherCompanies: [], advertiserCompanies: ['3'] };
  it.each<[string, Partial<PartnerRecord> | undefined, object, string[]?]>([
    [
      'of the other report',
      other,
      { refusal: 'no-companies', partner: 'first-partner' },
      ['advertiserperformance'],
    ],
    ['unknown', undefined, { refusal: 'unknown-client', partner: 'client-1' }],
  ])(
    'refuses a client that is %s, and gives the reason only in the log',
    async (_, facts, logged, reports) => {
      const made = service({ env: BY_REGISTER, claims: { client_id: 'client-1' } });
      if (facts) made.partners.set('client-1', { ...PARTNER, ...facts });
      const answer = await made.ask();
      expect(answer.statusCode).toBe(401);
      expect(answer.body).not.toMatch(/unknown|inactive|compan|partner/);
      // Only this member tells a client of the other report from the rest, and it is absent where it would be empty.
      expect(JSON.parse(answer.body).reports).toEqual(reports);
      expect(made.lines).toMatchObject([
        { facts: { problem: 'not-authorized', client: 'client-1', ...logged } },
      ]);
    },
  );
});

describe('the listing of the lake', () => {
  it.each(FAILED_LISTINGS)(
    'that fails is answered $status only to a client in the register: %o',
    async (failed) => {
      const made = service({ env: BY_REGISTER, claims: { client_id: 'client-1' } });
      failListing(made, failed);
      expect((await made.ask()).statusCode).toBe(401);
      made.partners.set('client-1', PARTNER);
      expect((await made.ask()).statusCode).toBe(failed.status);
    },
  );

  it('runs while the register is read', async () => {
    const made = service({ env: BY_REGISTER, claims: { client_id: 'client-1' } });
    const looks = looksWhenRegisterIsRead(made);
    expect((await made.ask()).statusCode).toBe(303);
    expect(looks).toEqual([1]);
  });

  it('does not run if the request is wrong', async () => {
    const made = service({ env: BY_REGISTER, claims: { client_id: 'client-1' } });
    expect((await made.ask({})).statusCode).toBe(401);
    made.partners.set('client-1', PARTNER);
    expect((await made.ask({})).statusCode).toBe(400);
    expect(made.lake.looks).toEqual([]);
  });
});

it('a report that takes longer than a request is answered with a waiting URL, whose ticket has the facts for it', async () => {
  const made = service({
    env: { ...CLAIMED, QUERY_WAIT_MS: '1000', LONGEST_QUERY_MS: '100000' },
    claims: { client_id: 'first-partner', companies: ['7', '9223372036854775807'] } as Claims,
    plans: [{ ends: 'never' }],
  });
  const answer = await made.ask();
  expect(answer).toMatchObject({
    statusCode: 303,
    headers: {
      Location: expect.stringMatching(/^\/prod\/reporting\/downloads\/[\w-]{43}\/1$/),
      'Cache-Control': 'no-store',
      'Cache-Status': 'PerformanceReports; fwd=miss',
    },
    body:
      'The report is being made. GET the URL in the Location header: it answers when the report is ready, ' +
      'or says where to wait on.\n',
  });
  expect(answer.headers).not.toHaveProperty('Data-Version');
  expect(made.lines[0]?.facts).toMatchObject({
    isReady: false,
    cacheStatus: 'miss',
    queryExecutionId: 'q1',
  });
  expect(made.metrics).toEqual({});
  expect(JSON.stringify(made.lines)).not.toContain('downloads');
  const [key = ''] = [...made.results.objects.keys()].filter((each) => each.startsWith('waiting/'));
  expect(made.results.document(key)).toEqual({
    form: 2,
    report: 'publisherperformance',
    parameters: ASKED,
    companies: ['7', '9223372036854775807'],
    client: 'first-partner',
    progress: {
      waitsFor: 'attempt',
      data: expect.objectContaining({
        version: expect.stringMatching(/^[0-9a-f]{32}$/),
        fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
        isListed: true,
      }),
      cacheStatus: 'collapsed',
      dataChanges: 0,
      attempt: made.queries.started[0]?.token,
    },
    waitedMs: 1_000,
  });
});
