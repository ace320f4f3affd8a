import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshQuestions } from '../e2e/fresh-questions.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { queryOf, type Service, startService } from '../e2e/service.ts';
import { changeEnvironment } from './function-environment.ts';
import { killProcesses } from './function-processes.ts';
import { currentLane, type Lane } from './lane.ts';
import { operator } from './operator.ts';
import { permissionParts } from './proven-parts.ts';
import { statements } from './statements.ts';

const lane = currentLane() as Lane;
const { aws, outputs } = operator(lane);
const functionName = (name: string) => `performance-reports-${lane.stage}-${name}`;

let service: Service;
let results: string;
let directory: string;
const events = knownEvents(3, 200);
// The probe requests yesterday's report. If midnight passes during these tests, yesterday is the day of their start.
for (const time of [Date.now() - 86_400_000, Date.now()])
  events.publisher_events.push({ event_time: new Date(time).toISOString() });
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'permissions-'));
  service = await startService(events, { functionEnv: { QUERY_WAIT_MS: '400' } });
  results = (await outputs(lane.stage, 'data'))['ResultsBucket'] ?? '';
});
afterAll(async () => {
  await service.close();
  await rm(directory, { recursive: true });
});

const freshQuestion = freshQuestions();

/**
 * Whether a partner gets a report, and the last redirect to it names the data version. If its query is delayed, the
 * report comes through the waiting room.
 */
async function pull(report: string, delayMs = 0): Promise<boolean> {
  service.stack.faults.set(delayMs > 0 ? [{ on: 'query', delayMs }] : []);
  const metric = report === 'publisherperformance' ? 'Clicks' : 'Spend';
  const { status, hasVersion } = await untilNotBusy(async () => {
    const query = queryOf(freshQuestion()).replace('Clicks', metric);
    let response = await service.request(report, query);
    let version = response.headers.get('data-version');
    for (let url = `${service.stack.apiUrl}/`; response.status === 303; ) {
      url = new URL(response.headers.get('location') ?? '', url).href;
      response = await fetch(url, { redirect: 'manual' });
      version = response.status === 303 ? response.headers.get('data-version') : version;
    }
    return { status: response.status, hasVersion: version !== null };
  });
  return hasWorked(status) && hasVersion;
}

/**
 * An action that IAM denies leads to a 500. A partner whose record can't be read gets a 401, and a 404 at its waiting
 * URL. Any other failure proves nothing.
 */
function hasWorked(status: number): boolean {
  expect([200, 401, 404, 500]).toContain(status);
  return status === 200;
}

/** Whether the service lists days of a report. It reads them from the lake's listing. */
async function listsDays(report: string): Promise<boolean> {
  const { start, end } = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
  const query = new URLSearchParams({ startInclusive: start, endExclusive: end, 'api-version': '1.0' });
  const response = await service.request(`${report}/days`, String(query));
  return hasWorked(response.status) && ((await response.json()) as { days: unknown[] }).days.length > 0;
}

/** Invokes a function once with an event. Resolves to whether it succeeded. */
async function invoke(name: string, event: object): Promise<boolean> {
  const payload = join(directory, 'event.json');
  await writeFile(payload, JSON.stringify(event));
  const output = join(directory, 'answer.json');
  const target = ['--function-name', functionName(name), '--payload', `fileb://${payload}`, output];
  return !(await aws('lambda', 'invoke', ...target)).includes('FunctionError');
}

/** Whether the release gate lets the published versions of the functions pass, which need not be live. */
async function passesGate(): Promise<boolean> {
  const answers: string[] = [];
  const cloudFormation = createServer(async (request, response) => {
    answers.push(JSON.parse(await text(request)).Status);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(cloudFormation, 'listening');
  const first = (name: string) => `arn:aws:lambda:us-east-1:000000000000:function:${functionName(name)}:1`;
  const { headers } = await service.request('publisherperformance', '');
  await invoke('release-check', {
    RequestType: 'Update',
    ResponseURL: `http://127.0.0.1:${(cloudFormation.address() as AddressInfo).port}`,
    ResourceProperties: {
      Release: headers.get('service-version'),
      Versions: Object.fromEntries(['publisherperformance', 'downloads'].map((name) => [name, first(name)])),
    },
  });
  cloudFormation.close();
  expect(answers).toEqual([expect.stringMatching(/^(SUCCESS|FAILED)$/)]);
  return answers[0] === 'SUCCESS';
}

/** Pulls a report that is too large for its request to publish; resolves to the event that starts its publication. */
async function publishable(): Promise<object> {
  service.stack.faults.set([{ on: 'query', resultBytes: 40_000_000 }]);
  const published = await untilNotBusy(async () => {
    const response = await service.request('publisherperformance', queryOf(freshQuestion()), {
      redirect: 'follow',
    });
    return { status: response.status, isLarge: (await response.text()).length > 20_000_000 };
  });
  expect(published).toEqual({ status: 200, isLarge: true });
  service.stack.faults.set([]);
  const listed = await aws('s3', 'ls', '--recursive', `s3://${results}/publications/`);
  const key = listed.trim().split('\n').at(-1)?.split(' ').at(-1) ?? '';
  return { detail: { object: { key } } };
}

/** Asks again after a 503, which a busy machine answers. An action that IAM denies leads to a 500. */
async function untilNotBusy<T extends { readonly status: number }>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    const answer = await ask();
    if (answer.status !== 503) return answer;
    if (tries === 5) throw new Error('The service is too busy to tell what is denied.');
  }
}

/** For each function, something that it can do only with all statements of its policy. */
const works: Readonly<Record<string, () => Promise<boolean>>> = {
  publisherperformance: () => pull('publisherperformance'),
  advertiserperformance: () => pull('advertiserperformance'),
  downloads: () => pull('publisherperformance', 800),
  'publisherperformance-days': () => listsDays('publisherperformance'),
  'advertiserperformance-days': () => listsDays('advertiserperformance'),
  publish: async () => {
    await aws('s3', 'rm', '--recursive', '--quiet', `s3://${results}/reports/`);
    return invoke('publish', publication);
  },
  abandon: async () => {
    const requestContext = { condition: 'RetriesExhausted' };
    return invoke('abandon', { requestContext, requestPayload: publication });
  },
  probe,
  'release-check': passesGate,
};

let publication: object = {};

/** Whether the probe gets the report at the suites' URL, as the metric in its log says. */
async function probe(): Promise<boolean> {
  const target = ['--function-name', functionName('probe'), '--log-type', 'Tail', '--query', 'LogResult'];
  const tail = await aws('lambda', 'invoke', ...target, '--output', 'text', join(directory, 'answer.json'));
  return Buffer.from(tail.trim(), 'base64').toString().includes('"isPulled":true,"rows":1');
}

/** Takes a statement out of a deployed role's policy. Resolves to a function that puts it back. */
async function without(name: string, sid: string): Promise<() => Promise<void>> {
  const json = ['--output', 'json'];
  const { Configuration } = JSON.parse(
    await aws('lambda', 'get-function', '--function-name', functionName(name), ...json),
  );
  const role = ['--role-name', Configuration.Role.split('/').at(-1)];
  const policy = [...role, '--policy-name', 'permissions'];
  const { PolicyDocument: whole } = JSON.parse(await aws('iam', 'get-role-policy', ...policy, ...json));
  const Statement = whole.Statement.filter(({ Sid }: { Sid: string }) => Sid !== sid);
  expect(Statement).toHaveLength(whole.Statement.length - 1);
  const put = async (document: object) => {
    await aws('iam', 'put-role-policy', ...policy, '--policy-document', JSON.stringify(document));
    // A function remembers the register for a minute and the probe's token for an hour, so its processes are ended.
    if (['ReadPartners', 'ReadProbeClient'].includes(sid)) await killProcesses(functionName(name));
  };
  await put({ ...whole, Statement });
  return () => put(whole);
}

const proven = statements
  .filter(({ proof }) => proof === 'here')
  .flatMap(({ sid, functions }) => functions.map((name) => [name, sid] as const))
  // permission-parts.test.ts takes single actions and folders out of these statements.
  .filter(
    ([name, sid]) => !permissionParts.some((part) => part.sid === sid && part.functions.includes(name)),
  );

describe('a deployed function', () => {
  beforeAll(async () => {
    publication = await publishable();
    await changeEnvironment(lane, ['probe'], { SERVICE_URL: service.gatewayUrl });
  });

  it.each(Object.keys(works))('%s works with its whole policy', async (name) => {
    expect(await works[name]?.()).toBe(true);
  });

  it.each(proven)('%s does not work without %s', async (name, sid) => {
    const restore = await without(name, sid);
    try {
      expect(await works[name]?.()).toBe(false);
    } finally {
      await restore();
    }
    expect(await works[name]?.()).toBe(true);
  });
});

describe('a report’s file', () => {
  it('can’t be replaced, not even with a policy that allows s3:* on everything', async () => {
    const user = ['--user-name', 'careless'];
    const everything = { Effect: 'Allow', Action: 's3:*', Resource: '*' };
    await aws('iam', 'create-user', ...user);
    const policy = JSON.stringify({ Version: '2012-10-17', Statement: [everything] });
    await aws('iam', 'put-user-policy', ...user, '--policy-name', 'all', '--policy-document', policy);
    const { AccessKey } = JSON.parse(await aws('iam', 'create-access-key', ...user, '--output', 'json'));
    const careless = operator(lane, undefined, {
      accessKeyId: AccessKey.AccessKeyId,
      secretAccessKey: AccessKey.SecretAccessKey,
    });
    const body = join(directory, 'body');
    await writeFile(body, 'x');
    const put = (key: string, ...condition: string[]) =>
      careless
        .aws('s3api', 'put-object', '--bucket', results, '--key', key, '--body', body, ...condition)
        .then(
          () => 'written',
          (error: Error) => /AccessDenied|PreconditionFailed/.exec(error.message)?.[0],
        );
    expect([
      await put('reports/x/x.csv'),
      await put('reports/x/x.csv', '--if-none-match', '*'),
      await put('reports/x/x.csv', '--if-none-match', '*'),
      await put('jobs/x.json'),
    ]).toEqual(['AccessDenied', 'written', 'PreconditionFailed', 'written']);
  });
});
