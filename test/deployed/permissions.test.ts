import { json as jsonOf } from 'node:stream/consumers';
import { beforeAll, expect, it } from 'vitest';
import { resourceNames } from '../../infra/resource-names.ts';
import { serve } from '../../local/serve.ts';
import { freshQuestions } from '../e2e/fresh-questions.ts';
import { knownEvents } from '../e2e/known-events.ts';
import { ownService, queryOf } from '../e2e/service.ts';
import { deployedFunctions, responsesFrom } from './deployed-functions.ts';
import { changeEnvironment } from './function-environment.ts';
import { killProcesses } from './function-processes.ts';
import { currentLane, type Lane } from './lane.ts';
import { operator } from './operator.ts';
import { permissionParts } from './proven-parts.ts';
import { statements } from './statements.ts';

const lane = currentLane() as Lane;
const { text } = operator(lane);
const { functionName } = resourceNames(lane.stage);
const { invoke, regrant } = deployedFunctions(lane);
const events = knownEvents(3, 200);
// The probe requests yesterday's report. If midnight passes during these tests, yesterday is the day of their start.
for (const time of [Date.now() - 86_400_000, Date.now()])
  events.publisher_events.push({ event_time: new Date(time).toISOString() });
const service = await ownService(events, { functionEnv: { QUERY_WAIT_MS: '400' } });

const freshQuestion = freshQuestions();

/**
 * Whether a partner gets a report, and the last redirect to it names the data version. If its query is delayed, the
 * report comes through the waiting room.
 */
async function pull(report: string, delayMs = 0): Promise<boolean> {
  service.stack.faults.set(delayMs > 0 ? [{ on: 'query', delayMs }] : []);
  const metric = report === 'publisherperformance' ? 'Clicks' : 'Spend';
  const { status, hasVersion } = await untilNotBusy(async () => {
    const first = await service.request(report, queryOf(freshQuestion()).replace('Clicks', metric));
    let [status, version] = [first.status, first.headers.get('data-version')];
    for await (const { response } of responsesFrom(service, first)) {
      status = response.status;
      if (status === 303) version = response.headers.get('data-version');
    }
    return { status, hasVersion: version !== null };
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

/** Whether the release gate lets the published versions of the functions pass, which need not be live. */
async function passesGate(): Promise<boolean> {
  const answers: string[] = [];
  const cloudFormation = await serve(async (request, response) => {
    answers.push(((await jsonOf(request)) as { Status: string }).Status);
    response.end();
  });
  const first = (name: string) => `arn:aws:lambda:us-east-1:000000000000:function:${functionName(name)}:1`;
  const { headers } = await service.request('publisherperformance', '');
  await invoke('release-check', {
    RequestType: 'Update',
    ResponseURL: cloudFormation.url,
    ResourceProperties: {
      Release: headers.get('service-version'),
      Versions: Object.fromEntries(['publisherperformance', 'downloads'].map((name) => [name, first(name)])),
    },
  });
  await cloudFormation.close();
  expect(answers).toEqual([expect.stringMatching(/^(SUCCESS|FAILED)$/)]);
  return answers[0] === 'SUCCESS';
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
  probe,
  'release-check': passesGate,
};

/** Whether the probe gets the report at the suites' URL, as the metric in its log says. */
async function probe(): Promise<boolean> {
  const tail = ['--log-type', 'Tail', '--query', 'LogResult', '/dev/null'];
  const log = await text('lambda invoke --function-name', functionName('probe'), ...tail);
  return Buffer.from(log, 'base64').toString().includes('"isPulled":true,"rows":1');
}

/** Takes a statement out of a deployed role's policy. Resolves to a function that puts it back. */
async function without(name: string, sid: string): Promise<() => Promise<void>> {
  const restore = await regrant(name, (statement) => (statement['Sid'] === sid ? [] : statement));
  // A function remembers the register for a minute and the probe's token for an hour, so its processes are ended.
  const forget = async () => {
    if (['ReadPartners', 'ReadProbeClient'].includes(sid)) await killProcesses(functionName(name));
  };
  await forget();
  return () => restore().then(forget);
}

const proven = statements
  .filter(({ isProven }) => isProven)
  .flatMap(({ sid, functions }) => functions.map((name) => [name, sid] as const))
  // permission-parts.test.ts takes single actions and folders out of these statements.
  .filter(
    ([name, sid]) => !permissionParts.some((part) => part.sid === sid && part.functions.includes(name)),
  );

beforeAll(async () => {
  await changeEnvironment(lane, ['probe'], { SERVICE_URL: service.gatewayUrl });
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
