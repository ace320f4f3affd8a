import { describe, expect, it, vi } from 'vitest';
import { AwsCallFailed } from '../../../lib/aws/answers.ts';
import { problemChain } from '../../../lib/http/problem-chain.ts';
import type { LoggedContext } from '../../../lib/http/request-log.ts';
import * as problems from '../../../lib/problems/problem.ts';
import { COMMON_HEADERS } from '../../../lib/response-headers.ts';
import { START } from '../delivery/setting.ts';
import { useFakeTime } from '../delivery/settled.ts';
import { functionSetting, invoke, request, requestEvent, SECRET } from './setting.ts';

const { InvalidRequest, NoSuchDownload, ReportTooLarge, Unauthenticated, Unavailable } = problems;

useFakeTime();

const event = requestEvent({ path: '/reporting/any', parameters: { 'filter[DeviceOrProxy]': [SECRET] } });
/** Calls a route that runs `act` 7 ms after the request came. */
async function answering(act: (context: LoggedContext) => object) {
  const made = functionSetting();
  const handler = problemChain(made.dependencies).handler(async (_, context) => {
    vi.setSystemTime(START + 7);
    return act(context) as never;
  });
  return { ...made, answer: await invoke(handler, event) };
}
const throwing = (error: unknown, facts: object = {}) =>
  answering((context) => {
    Object.assign(context.facts, facts);
    throw error;
  });

describe('problemChain, around every route', () => {
  it('writes one log line with the route’s facts, and returns the answer', async () => {
    const { lines, answer } = await answering(({ facts, began }) => {
      expect(began).toBe(START);
      facts.report = 'publisherperformance';
      return { statusCode: 303, headers: { Location: SECRET }, body: '' };
    });
    const headers = { Location: SECRET, 'Service-Version': 'unknown', ...COMMON_HEADERS };
    expect(answer).toEqual({ statusCode: 303, headers, body: '' });
    const facts = { requestId: 'request-1', status: 303, durationMs: 7, report: 'publisherperformance' };
    expect(lines).toEqual([{ level: 'info', message: 'request', facts }]);
  });

  it('writes nothing about one caller into another’s line', async () => {
    const made = functionSetting();
    const bothCame = Promise.withResolvers<void>();
    let came = 0;
    const handler = problemChain(made.dependencies).handler(async ({ path }, { facts }: LoggedContext) => {
      if (path === '/first') facts.client = 'first-client';
      if (++came === 2) bothCame.resolve();
      await bothCame.promise;
      return { statusCode: 200, body: '' };
    });
    await Promise.all(['/first', '/second'].map((path) => request(handler, { path })));
    expect(made.lines.map(({ facts }) => facts['client'])).toEqual(['first-client', undefined]);
  });

  it.each<[number, string, Error]>([
    [400, 'invalid-request', new InvalidRequest([{ parameter: 'x', detail: SECRET }])],
    [400, 'report-too-large', new ReportTooLarge()],
    [401, 'unauthenticated', new Unauthenticated('The token is no good.')],
    [404, 'no-such-download', new NoSuchDownload()],
    [503, 'unavailable', new Unavailable('Later.', 30)],
  ])('answers %d, and logs the problem as info: %s', async (status, slug, error) => {
    const { lines, answer } = await throwing(error, { queryExecutionId: 'q1' });
    expect(answer.statusCode).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({ status, instance: 'urn:uuid:request-1' });
    const facts = { requestId: 'request-1', status, durationMs: 7, queryExecutionId: 'q1', problem: slug };
    expect(lines).toEqual([{ level: 'info', message: 'request', facts }]);
  });

  it('logs which call to AWS caused a 503, and counts the 503', async () => {
    const cause = new AwsCallFailed('S3 HeadObject', new Error('x'));
    const { lines, answer, metrics } = await throwing(new Unavailable('Later.', 30, { cause }));
    expect(answer.headers).toMatchObject({ 'Retry-After': '30' });
    const words = 'S3 HeadObject: Error, status none, request none';
    expect(lines[0]?.facts).toMatchObject({ problem: 'unavailable', cause: words });
    expect(metrics).toEqual({ Unavailable: 1 });
  });

  it('answers 500 without details after any other error, and logs the error', async () => {
    const error = new AwsCallFailed('S3 HeadObject', new Error(SECRET));
    const { lines, answer } = await throwing(error, { report: 'publisherperformance' });
    expect(answer.statusCode).toBe(500);
    expect(answer.body).not.toContain('S3');
    const outcome = { requestId: 'request-1', status: 500, durationMs: 7, error };
    const facts = { ...outcome, report: 'publisherperformance' };
    expect(lines).toEqual([{ level: 'error', message: 'request', facts }]);
  });
});

const ORIGIN = 'https://dash.partner.example';

async function answerTo(
  origin: string | undefined,
  { origins = ORIGIN, httpMethod = 'GET', fails = false } = {},
) {
  const chain = problemChain(functionSetting({ CORS_ORIGINS: origins }).dependencies).handler(async () => {
    if (fails) throw new NoSuchDownload();
    return { statusCode: 303, headers: { Location: '/there', Vary: 'Accept-Encoding' }, body: '' };
  });
  const headers = origin === undefined ? {} : { Origin: [origin] };
  return invoke(chain, { ...requestEvent({ path: '/', headers }), httpMethod });
}

describe('pages of other origins', () => {
  it('may read an answer, also a problem, if the stage names their origin', async () => {
    expect((await answerTo(ORIGIN, { fails: true })).headers).toMatchObject({
      'Content-Type': 'application/problem+json',
      'Access-Control-Allow-Origin': ORIGIN,
    });
    const names =
      'Cache-Status, Data-Version, Deprecation, Link, Report-Empty, Retry-After, Service-Version, Sunset';
    expect((await answerTo(ORIGIN)).headers).toEqual({
      ...{ Location: '/there', 'Service-Version': expect.any(String), ...COMMON_HEADERS },
      ...{ 'Access-Control-Allow-Origin': ORIGIN, Vary: 'Accept-Encoding, Origin' },
      'Access-Control-Expose-Headers': `${names}, x-amzn-RequestId`,
    });
  });

  it('may send a token: the answer to their preflight allows it', async () => {
    const { statusCode, headers, body } = await answerTo(ORIGIN, { httpMethod: 'OPTIONS' });
    expect({ statusCode, body }).toEqual({ statusCode: 204, body: '' });
    expect(headers).toMatchObject({
      ...{ 'Access-Control-Allow-Origin': ORIGIN, 'Access-Control-Allow-Methods': 'GET, HEAD' },
      ...{ 'Access-Control-Allow-Headers': 'Authorization, Accept', 'Access-Control-Max-Age': '7200' },
      ...{ Vary: 'Origin', ...COMMON_HEADERS },
    });
  });

  it.each(['https://evil.example', `${ORIGIN}.evil.example`, 'null', undefined])(
    'get an answer, but may not send a token, if their origin is %s',
    async (origin) => {
      const common = { Location: '/there', 'Service-Version': expect.any(String), ...COMMON_HEADERS };
      expect((await answerTo(origin)).headers).toEqual({ ...common, Vary: 'Accept-Encoding, Origin' });
      const preflight = await answerTo(origin, { httpMethod: 'OPTIONS' });
      expect(preflight.headers).not.toHaveProperty('Access-Control-Allow-Origin');
    },
  );

  it('do not change an answer if the stage names no origin', async () => {
    const service = { 'Service-Version': expect.any(String), ...COMMON_HEADERS };
    const silent = { Location: '/there', ...service, Vary: 'Accept-Encoding' };
    expect((await answerTo(ORIGIN, { origins: '' })).headers).toEqual(silent);
    const preflight = await answerTo(ORIGIN, { origins: '', httpMethod: 'OPTIONS' });
    expect(preflight).toMatchObject({ statusCode: 303, headers: silent });
  });
});
