import { describe, expect, it, vi } from 'vitest';
import type { Claims } from '../../../lib/access/claims.ts';
import { reportHandler } from '../../../lib/http/report-handler.ts';
import { publisherReport } from '../../../lib/report/catalogue.ts';
import type { Plan } from '../delivery/memory-queries.ts';
import { CSV, LARGE, PARAMETERS, START } from '../delivery/setting.ts';
import { useFakeTime } from '../delivery/settled.ts';
import * as settings from './setting.ts';

const { BY_CLAIMS, BY_REGISTER, FAILED_LISTINGS, functionSetting, PARTNER, request, SECRET } = settings;

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));
vi.mock('../../../lib/results/gzipped.ts', () => import('../delivery/gzipped-at-once.ts'));
useFakeTime();

const ASKED = { ...PARAMETERS, 'filter[DeviceOrProxy]': [SECRET] };

function service({ env = {}, claims = {} as Claims, plans = [{}] as Plan[] } = {}) {
  const made = functionSetting(env, ...plans);
  const verifyToken = settings.tokenOf(claims);
  const handler = reportHandler(publisherReport, { ...made.dependencies, verifyToken });
  const ask = async (
    parameters: Record<string, string[]> | undefined = ASKED,
    headers = {},
    requestTimeEpoch = START,
  ) => {
    const times = { headers, requestTimeEpoch, ...(parameters && { parameters }) };
    const answering = request(handler, { path: '/reporting/publisherperformance', ...times });
    await vi.advanceTimersByTimeAsync(60_000);
    return answering;
  };
  return { ...made, ask };
}
const ofRegister = (plans?: Plan[]) =>
  service({ env: BY_REGISTER, claims: { client_id: 'client-1' }, plans });
describe('a report route', () => {
  it('answers with the report’s URL, and writes a log line for the download link and one for the request', async () => {
    const made = ofRegister([{ queuedMs: 3, afterMs: 10 }]);
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
    const caller = { client: 'client-1', partner: 'first-partner' };
    const dataVersion = answer.headers?.['Data-Version'];
    const every = { ...caller, requestId: 'request-1', report: 'publisherperformance', dataVersion };
    const window = { startInclusive: '2026-01-01T00:00:00Z', endExclusive: '2026-01-03T00:00:00Z' };
    const file = { requestedFields: 'Day,Clicks', companies: '7,9', bytes: CSV.length };
    const ran = { bytesScanned: 1_000_003, queryMs: 10 };
    const ends = { ends: [{ state: 'succeeded', ...ran }], endedQueries: 1, endedBytes: 1_000_003 };
    const job = expect.stringMatching(/^[0-9a-f]{64}$/);
    const query = { queryExecutionId: 'q1', job, ...ran, engineMs: 7 };
    const outcome = { status: 303, durationMs: expect.any(Number), cacheStatus: 'miss', isReady: true };
    expect(made.lines).toEqual([
      { level: 'info', message: 'download', facts: { ...every, ...window, ...file } },
      { level: 'info', message: 'request', facts: { ...every, ...query, ...ends, ...outcome, companies: 2 } },
    ]);
    expect(made.factsOfBackends).toMatchObject([caller]);
    for (const secret of [SECRET, 'partner.example'])
      expect(JSON.stringify(made.lines)).not.toContain(secret);
    expect(made.metrics).toEqual({ Reports: 1, BytesScanned: 1_000_003, QueryDuration: 10 });
  });

  it('names the partner in the request to publish a large result, for the publishing function’s log', async () => {
    const plans = [{ bytes: LARGE }];
    const made = service({ env: BY_REGISTER, claims: { client_id: 'client-1' }, plans });
    made.partners.set('client-1', PARTNER);
    await made.ask();
    expect(made.results.document('publications/q1.json')).toMatchObject({ partner: 'first-partner' });
  });

  it('takes its times and limits from the configuration', async () => {
    const times = { DOWNLOAD_URL_SECONDS: '60', QUERY_WAIT_MS: '5000', LISTING_SECONDS: '9' };
    const env = { ...times, MAX_BYTES_SCANNED: '5' };
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

  const late = { plans: [{ ends: 'never' as const }] };
  // The calls of a first request may last until 1.5 s after the 8 s that it may wait. If its caller must wait, the
  // ticket may be stored until 2.5 s after the 25 s that the gateway leaves.
  it.each<[string, Parameters<typeof service>[0], gatewayMs: number, untils: number[]]>([
    ['of a request that came just now', {}, 0, [9_500]],
    ['of a request that came a second ago', {}, -1_000, [8_500]],
    ['of a request that came in the future, which counts as now', {}, 5_000, [9_500]],
    ['of a request older than the gateway waits, which counts as now', {}, -29_000, [9_500]],
    ['and of the call that stores the ticket of a caller that must wait', late, 0, [9_500, 27_500]],
    ['for a moment, even if all time has passed by a clock that is ahead', late, -28_999, [3_000, 4_000]],
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
    const facts = { problem: 'not-authorized', client: 'first-partner', partner: 'first-partner' };
    expect(made.lines).toMatchObject([{ level: 'info', facts }]);
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
});

const other = { ...PARTNER, publisherCompanies: [], advertiserCompanies: ['3'] };
it.each([
  ['that has rows of the other report', other, 'no-companies', 'first-partner', ['advertiserperformance']],
  ['that is not in the register', undefined, 'unknown-client', 'client-1', undefined],
])('a client %s is refused, and only the log says why', async (_, record, refusal, partner, reports) => {
  const made = ofRegister();
  if (record) made.partners.set('client-1', record);
  const answer = await made.ask();
  expect(answer.statusCode).toBe(401);
  expect(answer.body).not.toMatch(/unknown|inactive|compan|partner/);
  // Only this member tells a client of the other report from the rest, and it is absent where it would be empty.
  expect(JSON.parse(answer.body).reports).toEqual(reports);
  const facts = { problem: 'not-authorized', client: 'client-1', refusal, partner };
  expect(made.lines).toMatchObject([{ facts }]);
});

describe('the listing of the lake', () => {
  it.each(FAILED_LISTINGS)(
    'that fails is answered $status only to a client in the register: $why',
    async ({ status, fail }) => {
      const made = ofRegister();
      fail(made);
      expect((await made.ask()).statusCode).toBe(401);
      made.partners.set('client-1', PARTNER);
      expect((await made.ask()).statusCode).toBe(status);
      expect(made.metrics['FailedReports']).toBe(status >= 500 ? 1 : undefined);
    },
  );

  it('runs while the register is read', async () => {
    const made = ofRegister();
    const looks = settings.slowRegister(made);
    expect((await made.ask()).statusCode).toBe(303);
    expect(looks).toEqual([1]);
  });

  it('does not run if the request is wrong', async () => {
    const made = ofRegister();
    expect((await made.ask({})).statusCode).toBe(401);
    made.partners.set('client-1', PARTNER);
    expect((await made.ask({})).statusCode).toBe(400);
    expect(made.lake.looks).toEqual([]);
  });
});

it('a report that takes longer than a request is answered with a waiting URL, whose ticket has the facts for it', async () => {
  const made = service({
    env: { ...BY_CLAIMS, QUERY_WAIT_MS: '1000', LONGEST_QUERY_MS: '100000' },
    claims: { client_id: 'first-partner', companies: ['7', '9223372036854775807'] } as Claims,
    plans: [{ ends: 'never' }],
  });
  const answer = await made.ask();
  const Location = expect.stringMatching(/^\/prod\/reporting\/downloads\/[\w-]{43}\/1$/);
  const cache = { 'Cache-Control': 'no-store', 'Cache-Status': 'PerformanceReports; fwd=miss' };
  const body =
    'The report is being made. GET the URL in the Location header: it answers when the report is ready, ' +
    'or says where to wait on.\n';
  expect(answer).toMatchObject({ statusCode: 303, headers: { Location, ...cache }, body });
  expect(answer.headers).not.toHaveProperty('Data-Version');
  expect(made.lines[0]?.facts).toMatchObject({ isReady: false, cacheStatus: 'miss', queryExecutionId: 'q1' });
  expect(made.metrics).toEqual({});
  expect(JSON.stringify(made.lines)).not.toContain('downloads');
  const [key = ''] = [...made.results.objects.keys()].filter((each) => each.startsWith('waiting/'));
  const digest = expect.stringMatching(/^[0-9a-f]{32}$/);
  const data = expect.objectContaining({ version: digest, fingerprint: digest, isListed: true });
  const progress = { waitsFor: 'attempt', data, cacheStatus: 'collapsed', dataChanges: 0 };
  expect(made.results.document(key)).toEqual({
    ...{ form: 2, report: 'publisherperformance', parameters: ASKED, waitedMs: 1_000, entitledMs: 1_000 },
    ...{ companies: ['7', '9223372036854775807'], client: 'first-partner' },
    progress: { ...progress, attempt: made.queries.started[0]?.token },
  });
});
