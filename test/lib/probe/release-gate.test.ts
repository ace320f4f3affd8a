import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import type { StackAnswer } from '../../../lib/aws/release-calls.ts';
import * as gates from '../../../lib/probe/release-gate.ts';
import { NoRecords, problemResponse } from '../../../lib/problems/problem.ts';

const { fetchFromVersions, releaseChecker, releaseGate } = gates;
type GateEvent = gates.GateEvent;
const RELEASE = '0123456789ab-c0ffee';
const FILE = 'https://results.s3.example/reports/1/report.csv?X-Amz-Signature=1';

/** The gate's properties, with these versions. */
const properties = (versions: Record<string, number>, IsOpen = 'false') => {
  const Versions = Object.fromEntries(
    Object.entries(versions).map(([name, at]) => [name, `arn:${name}:${at}`]),
  );
  return { Release: RELEASE, Versions, IsOpen };
};
const before = properties({ publisherperformance: 7, downloads: 4 });
const after = properties({ publisherperformance: 8, downloads: 5 });
const REPORT = 'arn:publisherperformance:8';
const WAITING_ROOM = 'arn:downloads:5';

const update: GateEvent = {
  RequestType: 'Update',
  ResponseURL: 'https://answers.example/?X-Amz-Signature=s3cret',
  ...{ StackId: 'stack', RequestId: 'request', LogicalResourceId: 'Gate' },
  ResourceProperties: after,
  OldResourceProperties: before,
};

/** The answer of each version to a request with a token or to a ticket, by the version's ARN. */
type Answers = Readonly<Record<string, APIGatewayProxyResult | undefined>>;
const answering = (statusCode: number, body = '{}') => ({ statusCode, body });
const seeOther = (Location: string) => ({ statusCode: 303, headers: { Location }, body: '' });
const delivering = { [REPORT]: seeOther('/prod/reporting/downloads/t/1'), [WAITING_ROOM]: seeOther(FILE) };

const SERVICE_URL = 'https://reports.example/prod';
const TOKEN_URL = 'https://login.example/token';
const PROBE = { API_SCOPE: 's', SERVICE_URL, TOKEN_URL, CLIENT_SECRET_ID: 'x' };

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
      const { authorization } = event.multiValueHeaders;
      const { headers, ...rest }: APIGatewayProxyResult =
        authorization || version === WAITING_ROOM ? answer : answering(401);
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
  const answer = async (_: unknown, given: StackAnswer) => {
    await new Promise(setImmediate);
    put.push(given);
  };
  const write = (_: string, facts: object) => void lines.push(facts);
  await releaseGate({ check, answer, log: { info: write, error: write } })(event);
  expect(put).toHaveLength(1);
  expect(JSON.stringify({ lines, put })).not.toContain('s3cret');
  return { answer: put[0], asked, fetched, lines };
}

const refused = (fault: RegExp) => {
  const reason = RegExp(`^${RELEASE} is refused, and no alias has moved: ${fault.source}`);
  return { Status: 'FAILED', Reason: expect.stringMatching(reason), Data: {} };
};
const passed = (Outcome: string) => ({ Status: 'SUCCESS', Reason: Outcome, Data: { Outcome } });

describe('the gate of a release', () => {
  it('asks each new version, and pulls yesterday’s report through them, from the waiting room to the file', async () => {
    const { answer, asked, fetched, lines } = await pass(update, delivering);
    const outcome = `checked: 2 functions answer with ${RELEASE}; a report was pulled, with rows: 1`;
    expect(answer).toEqual(passed(outcome));
    expect(lines).toEqual([{ requestType: 'Update', outcome, durationMs: expect.any(Number) }]);
    expect(asked.map(({ version }) => version)).toEqual([REPORT, WAITING_ROOM, REPORT, WAITING_ROOM]);
    const path = '/prod/reporting/publisherperformance';
    const startInclusive = [expect.stringMatching(/^2026-02-28T0[01]:\d\d:\d\dZ$/)];
    const report = { requestedFields: ['Day,ServedAds'], endExclusive: ['2026-03-01T00:00:00Z'] };
    const parameters = { ...report, startInclusive, 'api-version': ['1.0'] };
    const headers = { authorization: ['Bearer secret-token'], accept: ['text/csv'] };
    const sent = { multiValueHeaders: headers, multiValueQueryStringParameters: parameters };
    const requestContext = { path, domainName: 'reports.example' };
    expect(asked[2]?.event).toMatchObject({ path, ...sent, requestContext });
    expect(asked[3]?.event.pathParameters).toEqual({ ticket: 't', hop: '1' });
    // Only the service gets the token.
    expect(fetched.at(-1)).toEqual({ url: FILE, headers: undefined });
  });

  it('pulls a report that no other release has pulled', async () => {
    const startOf = async (publisherperformance: number) => {
      const ResourceProperties = properties({ publisherperformance, downloads: 5 });
      const answers = { ...delivering, 'arn:publisherperformance:9': seeOther(FILE) };
      const { asked } = await pass({ ...update, ResourceProperties }, answers);
      return asked[2]?.event.multiValueQueryStringParameters?.['startInclusive'];
    };
    expect(await startOf(8)).not.toEqual(await startOf(9));
  });

  const empty = { [REPORT]: problemResponse(new NoRecords('x'), 'id') };
  it.each<[string, Answers, object]>([
    ['the lake has no events yet', empty, PROBE],
    ['the stage has no probe', {}, { SERVICE_URL }],
  ])('only asks the versions if %s', async (why, answers, env) => {
    const { answer } = await pass(update, { ...delivering, ...answers }, { env });
    const reason = `checked: 2 functions answer with ${RELEASE}; no report was pulled, because ${why}`;
    expect(answer).toEqual(passed(reason));
  });

  it.each<[string, Answers, RegExp]>([
    ['answers 500', { [REPORT]: answering(500) }, /The report's request ends with 500/],
    ['answers another 404', { [REPORT]: answering(404, '{"type":"x:not-found"}') }, /The report's .* 404/],
    ['can’t start', { [REPORT]: undefined }, /arn:publisherperformance:8 fails/],
    ['leads nowhere', { [REPORT]: seeOther('/prod/reporting/fields') }, /There is no version of public/],
    ['leads to no report', { [REPORT]: seeOther(TOKEN_URL) }, /The answer is not the report/],
  ])('refuses a release that %s', async (_, answers, fault) => {
    expect((await pass(update, { ...delivering, ...answers })).answer).toEqual(refused(fault));
  });

  it('refuses versions of another release, whatever they answer', async () => {
    const { answer } = await pass(update, delivering, { release: 'ba9876543210-c0ffee' });
    expect(answer).toEqual(refused(/publisherperformance answers with ba9876543210-c0ffee/));
  });

  it('answers even if the check can’t start, because a setting or a property is missing', async () => {
    for (const env of [{}, { TOKEN_URL, SERVICE_URL }])
      expect((await pass(update, delivering, { env })).answer).toEqual(refused(/./));
    const unnamed = { ...update, ResourceProperties: { ...after, Release: '' } };
    expect((await pass(unnamed, delivering)).answer?.Status).toBe('FAILED');
  });

  it('answers if the check does not end', async () => {
    const put: StackAnswer[] = [];
    const answer = async (_: unknown, given: StackAnswer) => void put.push(given);
    const log = { info: () => {}, error: () => {} };
    await releaseGate({ check: () => new Promise(() => {}), answer, log, longestCheckMs: 1 })(update);
    expect(put).toEqual([refused(/The check has not ended in time/)]);
  });

  const to = (publisherperformance: number, downloads: number, more = {}, isOpen = 'false') => ({
    ResourceProperties: properties({ publisherperformance, downloads, ...more }, isOpen),
  });
  it.each<[string, Partial<GateEvent>, RegExp]>([
    ['its creation', { RequestType: 'Create' }, /this deployment made the gate, and may have no partner yet/],
    ['its deletion', { RequestType: 'Delete' }, /the gate is removed/],
    ['CloudFormation’s way back', to(6, 3), /CloudFormation goes back to 0123/],
    ['a way back of one function', to(7, 3), /CloudFormation goes back/],
    ['a way back to a removed function', to(7, 3, { fields: 2 }), /CloudFormation goes back/],
    ['a way back to an open gate', to(6, 3, {}, 'true'), /CloudFormation goes back/],
    ['an open gate', to(8, 5, {}, 'true'), /it was deployed with -c gate=open/],
    ['a deployment without new versions', to(7, 4), /there is no new version/],
  ])('lets %s pass unchecked, even if nothing works, and says so', async (_, event, reason) => {
    const { answer, asked, fetched } = await pass({ ...update, ...event }, {}, { env: {} });
    expect(answer).toEqual(passed(expect.stringMatching(RegExp(`^not checked: ${reason.source}`))));
    expect([asked, fetched]).toEqual([[], []]);
  });

  it('checks a release with a new function', async () => {
    const event = { ...update, ...to(7, 4, { fields: 1 }) };
    expect((await pass(event, {})).answer?.Status).toBe('FAILED');
  });
});

describe('a fetch from the versions of a release', () => {
  it.each([
    ['https://reports.example/prod', '/reporting/fields', 'version'],
    ['https://reports.example', '/reporting/fields', 'version'],
    ['https://reports.example/prod', '-results/report.csv', 'network'],
    ['https://reports.example', '.other.example/reporting/fields', 'network'],
  ])('of the service %s: a URL that goes on with %s is answered by the %s', async (serviceUrl, rest, by) => {
    const [network, answer] = [new Response('network'), { statusCode: 200, body: 'version' }];
    const versions = { serviceUrl, versions: { public: 'arn:public:3' }, invoke: async () => answer };
    const ask = fetchFromVersions({ ...versions, fetch: async () => network });
    expect(await (await ask(serviceUrl + rest, {})).text()).toBe(by);
  });
});
