import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import type { StackAnswer } from '../../../lib/aws/answer-stack.ts';
import { fetchFromVersions } from '../../../lib/probe/fetch-from-versions.ts';
import { type GateEvent, releaseChecker, releaseGate } from '../../../lib/probe/release-gate.ts';
import { NoRecords } from '../../../lib/problems/problem.ts';
import { problemResponse } from '../../../lib/problems/problem-response.ts';

const RELEASE = '0123456789ab-c0ffee';
const FILE = 'https://results.s3.example/reports/1/report.csv?X-Amz-Signature=1';
const seeOther = (Location: string): APIGatewayProxyResult => ({
  statusCode: 303,
  headers: { Location },
  body: '',
});

/** Properties of the gate with these versions of the functions, in the order of `NAMES`. */
const properties = (publisher: number, downloads: number, more = {}) => ({
  Release: RELEASE,
  Versions: { publisherperformance: `arn:publisher:${publisher}`, downloads: `arn:downloads:${downloads}` },
  IsOpen: 'false',
  ...more,
});

const update: GateEvent = {
  RequestType: 'Update',
  ResponseURL: 'https://answers.example/?X-Amz-Signature=s3cret',
  StackId: 'stack',
  RequestId: 'request',
  LogicalResourceId: 'Gate',
  ResourceProperties: properties(8, 5),
  OldResourceProperties: properties(7, 4),
};

/** The answer of each version to a request with a token, by the version's ARN. */
type Answers = Readonly<Record<string, (event: APIGatewayProxyEvent) => APIGatewayProxyResult>>;

const delivering: Answers = {
  'arn:publisher:8': () => seeOther('/prod/reporting/downloads/t/1'),
  'arn:downloads:5': () => seeOther(FILE),
};

const PROBE = {
  API_SCOPE: 's',
  SERVICE_URL: 'https://reports.example/prod',
  TOKEN_URL: 'https://login.example/token',
  CLIENT_SECRET_ID: 'x',
};

/** Runs the gate for an event, with versions that give these answers. Resolves to all that it did. */
async function pass(event: GateEvent, answers: Answers, { release = RELEASE, env = PROBE as object } = {}) {
  const asked: { version: string; event: APIGatewayProxyEvent }[] = [];
  const fetched: { url: string; headers: RequestInit['headers'] }[] = [];
  const lines: unknown[] = [];
  const put: StackAnswer[] = [];
  let running = 0;
  const check = releaseChecker({
    env: { ...env },
    invoke: async (version, event) => {
      asked.push({ version, event });
      // Two versions at a time could take the last executions of a small stage.
      expect(++running).toBe(1);
      await Promise.resolve();
      running -= 1;
      const answer = answers[version];
      if (!answer) throw new Error(`${version} fails`);
      const { headers, ...rest } =
        event.multiValueHeaders['authorization'] || version.startsWith('arn:downloads')
          ? answer(event)
          : { statusCode: 401, body: '', headers: {} };
      return { ...rest, headers: { ...headers, 'Service-Version': release } };
    },
    fetch: async (target, init) => {
      fetched.push({ url: String(target), headers: init?.headers });
      return String(target) === FILE
        ? new Response('"Day","ServedAds"\n"2026-02-28T00:00:00Z",7\n')
        : Response.json({ access_token: 'secret-token' });
    },
    readSecret: async () => '{"clientId":"probe","clientSecret":"s3cret"}',
    now: () => Date.parse('2026-03-01T12:00:00Z'),
  });
  const gate = releaseGate({
    check,
    answer: async (_, answer) => {
      await new Promise(setImmediate);
      put.push(answer);
    },
    log: { info: (_, facts) => lines.push(facts), error: (_, facts) => lines.push(facts) },
  });
  expect([await gate(event)]).toEqual(put);
  expect(JSON.stringify({ lines, put })).not.toContain('s3cret');
  return { answer: put[0], asked, fetched, lines };
}

const refused = (fault: RegExp) => ({
  Status: 'FAILED',
  Reason: expect.stringMatching(RegExp(`^${RELEASE} is refused, and no alias has moved: ${fault.source}`)),
  Data: {},
});
const passed = (Outcome: string) => ({ Status: 'SUCCESS', Reason: Outcome, Data: { Outcome } });

describe('the gate of a release', () => {
  it('asks each new version, and pulls yesterday’s report through them, from the waiting room to the file', async () => {
    const { answer, asked, fetched, lines } = await pass(update, delivering);
    const outcome = `checked: 2 functions answer with ${RELEASE}; a report was pulled, with rows: 1`;
    expect(answer).toEqual(passed(outcome));
    expect(lines).toEqual([{ requestType: 'Update', outcome, durationMs: expect.any(Number) }]);
    expect(asked.map(({ version }) => version)).toEqual([
      'arn:publisher:8',
      'arn:downloads:5',
      'arn:publisher:8',
      'arn:downloads:5',
    ]);
    expect(asked[2]?.event).toMatchObject({
      path: '/prod/reporting/publisherperformance',
      multiValueHeaders: { authorization: ['Bearer secret-token'], accept: ['text/csv'] },
      multiValueQueryStringParameters: {
        requestedFields: ['Day,ServedAds'],
        startInclusive: [expect.stringMatching(/^2026-02-28T0[01]:\d\d:\d\dZ$/)],
        endExclusive: ['2026-03-01T00:00:00Z'],
        'api-version': ['1.0'],
      },
      requestContext: { path: '/prod/reporting/publisherperformance', domainName: 'reports.example' },
    });
    expect(asked[3]?.event.pathParameters).toEqual({ ticket: 't', hop: '1' });
    // Only the service gets the token.
    expect(fetched.at(-1)).toEqual({ url: FILE, headers: undefined });
  });

  it('pulls a report that no other release has pulled', async () => {
    const starts = await Promise.all(
      [8, 9].map(async (version) => {
        const event = { ...update, ResourceProperties: properties(version, 5) };
        const { asked } = await pass(event, { ...delivering, 'arn:publisher:9': () => seeOther(FILE) });
        return asked[2]?.event.multiValueQueryStringParameters?.['startInclusive'];
      }),
    );
    expect(starts[0]).not.toEqual(starts[1]);
  });

  it('passes if the lake has no events yet, which the report’s 404 says', async () => {
    const missing = () => problemResponse(new NoRecords('Report'), 'request');
    const { answer } = await pass(update, { ...delivering, 'arn:publisher:8': missing });
    expect(answer?.Reason).toMatch(
      /^checked: 2 functions .*; no report was pulled, because the lake has no events yet$/,
    );
  });

  it('only asks the versions if the stage has no probe', async () => {
    const { answer, asked } = await pass(update, delivering, { env: { SERVICE_URL: PROBE.SERVICE_URL } });
    expect(answer?.Reason).toMatch(/^checked: 2 functions .*; no report was pulled, because .* no probe$/);
    expect(asked).toHaveLength(2);
  });

  it.each<[string, Answers, RegExp]>([
    [
      'answers 500',
      { 'arn:publisher:8': () => ({ statusCode: 500, body: '{}' }) },
      /The report's request ends with 500/,
    ],
    [
      'answers 404 for another reason',
      { 'arn:publisher:8': () => ({ statusCode: 404, body: '{"type":"x#not-found"}' }) },
      /The report's request ends with 404/,
    ],
    ['can’t start', { 'arn:publisher:8': undefined as never }, /arn:publisher:8 fails/],
    [
      'leads to a function that has no new version',
      { 'arn:publisher:8': () => seeOther('/prod/reporting/fields') },
      /There is no version of fields/,
    ],
    [
      'leads to an address without a report',
      { 'arn:publisher:8': () => seeOther('https://login.example/token') },
      /The answer is not the report/,
    ],
  ])('refuses a release that %s', async (_, answers, fault) => {
    expect((await pass(update, { ...delivering, ...answers })).answer).toEqual(refused(fault));
  });

  it('refuses versions of another release, whatever they answer', async () => {
    const { answer } = await pass(update, delivering, { release: 'ba9876543210-c0ffee' });
    expect(answer).toEqual(refused(/publisherperformance answers with ba9876543210-c0ffee/));
  });

  it('answers even if the check can’t start, because a setting or a property is missing', async () => {
    const { TOKEN_URL } = PROBE;
    for (const env of [{}, { TOKEN_URL, SERVICE_URL: PROBE.SERVICE_URL }])
      expect((await pass(update, delivering, { env })).answer).toEqual(refused(/./));
    const event = { ...update, ResourceProperties: { ...properties(8, 5), Release: '' } };
    expect((await pass(event, delivering)).answer?.Status).toBe('FAILED');
  });

  it('answers if the check does not end', async () => {
    const put: StackAnswer[] = [];
    const gate = releaseGate({
      check: () => new Promise(() => {}),
      answer: async (_, answer) => void put.push(answer),
      log: { info: () => {}, error: () => {} },
      longestCheckMs: 1,
    });
    await gate(update);
    expect(put).toEqual([refused(/The check has not ended in time/)]);
  });

  it.each<[string, Partial<GateEvent>, RegExp]>([
    ['its creation', { RequestType: 'Create' }, /this deployment made the gate, and may have no partner yet/],
    ['its deletion', { RequestType: 'Delete' }, /the gate is removed/],
    [
      'CloudFormation’s way back',
      { ResourceProperties: properties(6, 3) },
      /CloudFormation goes back to 0123/,
    ],
    [
      'a way back to fewer new functions',
      { ResourceProperties: properties(7, 3) },
      /CloudFormation goes back/,
    ],
    [
      'a way back to a function that the release has removed',
      {
        ResourceProperties: properties(9, 3, {
          Versions: { fields: 'arn:fields:2', downloads: 'arn:downloads:3' },
        }),
      },
      /CloudFormation goes back/,
    ],
    [
      'a way back to an open gate',
      { ResourceProperties: properties(6, 3, { IsOpen: 'true' }) },
      /CloudFormation goes back/,
    ],
    [
      'a deployment with an open gate',
      { ResourceProperties: properties(8, 5, { IsOpen: 'true' }) },
      /it was deployed with -c gate=open/,
    ],
    [
      'a deployment without new versions',
      { ResourceProperties: properties(7, 4) },
      /there is no new version/,
    ],
  ])('lets %s pass unchecked, even if nothing works, and says so', async (_, event, reason) => {
    const { answer, asked, fetched } = await pass({ ...update, ...event }, {}, { env: {} });
    expect(answer).toEqual(passed(expect.stringMatching(RegExp(`^not checked: ${reason.source}`))));
    expect([asked, fetched]).toEqual([[], []]);
  });

  it.each<[string, GateEvent['ResourceProperties']]>([
    [
      'a new function',
      properties(7, 4, { Versions: { ...properties(7, 4).Versions, fields: 'arn:fields:1' } }),
    ],
    ['a function whose name is new', properties(7, 4, { Versions: { other: 'arn:other:1' } })],
  ])('checks a release with %s', async (_, ResourceProperties) => {
    expect((await pass({ ...update, ResourceProperties }, {})).answer?.Status).toBe('FAILED');
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
