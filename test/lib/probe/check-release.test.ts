import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { askEach, fetchFromVersions } from '../../../lib/probe/fetch-from-versions.ts';
import { releaseCheckHandler } from '../../../lib/probe/probe-handlers.ts';
import { reportPuller } from '../../../lib/probe/pull-report.ts';

const COMMIT = '0123456789ab';
const HOOK = { DeploymentId: 'd-1', LifecycleEventHookExecutionId: 'hook-1' };
const FILE = 'https://results.s3.example/reports/1/report.csv?X-Amz-Signature=1';
const seeOther = (Location: string): APIGatewayProxyResult => ({
  statusCode: 303,
  headers: { Location },
  body: '',
});

/** The answer of each version, by the version's ARN. */
type Answers = Readonly<Record<string, (event: APIGatewayProxyEvent) => APIGatewayProxyResult>>;

const delivering: Answers = {
  'arn:publisher:8': () => seeOther('/prod/reporting/downloads/t/1'),
  'arn:downloads:5': () => seeOther(FILE),
};

/**
 * Runs the check of a release whose versions give these answers. Resolves to the check's outcome, the requests to the
 * versions, the fetched URLs, the reports to CodeDeploy, and the lines of its log.
 */
async function check(answers: Answers, hook: object = HOOK, commit = COMMIT) {
  const asked: { version: string; event: APIGatewayProxyEvent }[] = [];
  const fetched: { url: string; headers: RequestInit['headers'] }[] = [];
  const told: unknown[] = [];
  const lines: unknown[] = [];
  const serviceUrl = 'https://reports.example/prod';
  const fetch: typeof globalThis.fetch = async (target, init) => {
    fetched.push({ url: String(target), headers: init?.headers });
    return String(target) === FILE
      ? new Response('"Day","ServedAds"\n"2026-02-28T00:00:00Z",7\n')
      : Response.json({ access_token: 'secret-token' });
  };
  const service = {
    serviceUrl,
    versions: { publisherperformance: 'arn:publisher:8', downloads: 'arn:downloads:5' },
    invoke: async (version: string, event: APIGatewayProxyEvent) => {
      const answer = answers[version];
      if (!answer) throw new Error(`${version} fails`);
      if (!event.multiValueHeaders['authorization'] && version.startsWith('arn:publisher'))
        return { statusCode: 401, headers: { 'Service-Version': commit }, body: '' };
      asked.push({ version, event });
      const { headers, ...rest } = answer(event);
      return { ...rest, headers: { ...headers, 'Service-Version': commit } };
    },
  };
  const pull = reportPuller({
    config: { scope: 's/.default', serviceUrl, tokenUrl: 'https://login.example/token', clientSecretId: 'x' },
    fetch: fetchFromVersions({ ...service, fetch }),
    readSecret: async () => '{"clientId":"probe","clientSecret":"s3cret"}',
    now: () => Date.parse('2026-03-01T12:00:00Z'),
    secondsLate: 61,
  });
  const handle = releaseCheckHandler({
    pull: () => askEach(service, COMMIT).then(pull),
    tell: async (...facts) => void told.push(facts),
    log: { info: (_, facts) => lines.push(facts), error: (_, facts) => lines.push(facts) },
  });
  return { outcome: await handle(hook), asked, fetched, told, lines };
}

describe('the check of a release', () => {
  it('pulls yesterday’s report through the new versions, from the waiting room to the file, and tells CodeDeploy the outcome', async () => {
    const { outcome, asked, fetched, told, lines } = await check(delivering);
    expect(outcome).toEqual({ status: 'Succeeded' });
    expect(told).toEqual([[HOOK, 'Succeeded']]);
    expect(lines).toEqual([{ isPulled: true, rows: 1, durationMs: expect.any(Number) }]);
    // Before the pull, the check calls each function once. The report function answers this first call with 401, and
    // `asked` leaves the call out.
    const [, report, waitingRoom] = asked;
    expect(asked.map(({ version }) => version)).toEqual([
      'arn:downloads:5',
      'arn:publisher:8',
      'arn:downloads:5',
    ]);
    expect(report?.event).toMatchObject({
      path: '/prod/reporting/publisherperformance',
      multiValueHeaders: { authorization: ['Bearer secret-token'], accept: ['text/csv'] },
      multiValueQueryStringParameters: {
        requestedFields: ['Day,ServedAds'],
        startInclusive: ['2026-02-28T00:01:01Z'],
        endExclusive: ['2026-03-01T00:00:00Z'],
        'api-version': ['1.0'],
      },
      requestContext: { path: '/prod/reporting/publisherperformance', domainName: 'reports.example' },
    });
    expect(waitingRoom?.event.pathParameters).toEqual({ ticket: 't', hop: '1' });
    // Only the service gets the token.
    expect(fetched.at(-1)).toEqual({ url: FILE, headers: undefined });
  });

  it.each<[string, Answers]>([
    ['answers 500', { 'arn:publisher:8': () => ({ statusCode: 500, body: '{}' }) }],
    ['crashes', {}],
    [
      'leads to a waiting room that crashes',
      { 'arn:publisher:8': () => seeOther('/prod/reporting/downloads/t/1') },
    ],
    [
      'leads to a function that has no new version',
      { 'arn:publisher:8': () => seeOther('/prod/reporting/fields') },
    ],
    [
      'leads to an address without a report',
      { 'arn:publisher:8': () => seeOther('https://login.example/token') },
    ],
  ])('refuses a release that %s', async (_, answers) => {
    const { outcome, told } = await check(answers);
    expect(outcome).toEqual({ status: 'Failed' });
    expect(told).toEqual([[HOOK, 'Failed']]);
  });

  it('refuses versions of another release, whatever they answer', async () => {
    const { outcome, lines } = await check(delivering, HOOK, 'ba9876543210');
    expect(outcome).toEqual({ status: 'Failed' });
    expect(lines).toEqual([
      {
        isPulled: false,
        durationMs: expect.any(Number),
        error: new Error(
          'publisherperformance answers with ba9876543210; downloads answers with ba9876543210',
        ),
      },
    ]);
  });

  it('reports nothing to CodeDeploy if the operator runs it by hand', async () => {
    const { outcome, told } = await check(delivering, {});
    expect(outcome).toEqual({ status: 'Succeeded' });
    expect(told).toEqual([]);
  });
});

describe('a fetch from the versions of a release', () => {
  it.each([
    ['https://reports.example/prod', '/reporting/fields', 'version'],
    ['https://reports.example', '/reporting/fields', 'version'],
    ['https://reports.example/prod', '-results/report.csv', 'network'],
    ['https://reports.example', '.other.example/reporting/fields', 'network'],
  ])('of the service %s: a URL that goes on with %s is answered by the %s', async (serviceUrl, rest, by) => {
    const ask = fetchFromVersions({
      serviceUrl,
      versions: { fields: 'arn:fields:3' },
      invoke: async () => ({ statusCode: 200, body: 'version' }),
      fetch: async () => new Response('network'),
    });
    expect(await (await ask(serviceUrl + rest, {})).text()).toBe(by);
  });
});
