import {
  AthenaServiceException,
  InvalidRequestException,
  TooManyRequestsException,
} from '@aws-sdk/client-athena';
import { S3ServiceException } from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AwsCallFailed } from '../../../lib/aws/answers.ts';
import { call } from '../../../lib/aws/call.ts';
import { Overloaded, Unavailable } from '../../../lib/problems/problem.ts';

vi.mock('node:timers/promises', () => import('../../fake-timers-promises.ts'));

const START = 1_700_000_000_000;
let dice = 1;
beforeEach(() => {
  vi.useFakeTimers({ now: START });
  dice = 1;
  vi.spyOn(Math, 'random').mockImplementation(() => dice);
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    expect(ms).toBeGreaterThan(0);
    const ending = new AbortController();
    setTimeout(() => ending.abort(new DOMException('over', 'TimeoutError')), ms);
    return ending.signal;
  });
  return () => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  };
});

const answered = (httpStatusCode: number) => ({ $metadata: { httpStatusCode, requestId: 'r1' } });
const ofS3 = (httpStatusCode: number, name = 'Unknown') =>
  new S3ServiceException({ name, $fault: 'server', message: 'x', ...answered(httpStatusCode) });
const ofAthena = (name: string) =>
  new AthenaServiceException({ name, $fault: 'client', message: 'x', ...answered(400) });
const ofSocket = (code: string) => Object.assign(new Error('socket'), { code });
const named = (name: string) => Object.assign(new Error('x'), { name });

/** Makes a call whose tries end with these outcomes, in order; the last one repeats. */
function making(
  outcomes: readonly unknown[],
  callerWaitMs: number,
  limits?: { readonly longestTryMs?: number; readonly tries?: number },
) {
  const at: number[] = [];
  const send = vi.fn(async (signal: AbortSignal) => {
    const outcome = outcomes[Math.min(at.length, outcomes.length - 1)];
    at.push(Date.now() - START);
    if (outcome === 'no answer')
      return new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(named('AbortError')));
      });
    if (outcome instanceof Error) throw outcome;
    return outcome;
  });
  const result = call('S3 HeadObject', { until: START + callerWaitMs, ...limits }, send).then(
    (value) => ({ value, ms: Date.now() - START }),
    (error: unknown) => ({ error, ms: Date.now() - START }),
  );
  return { at, result };
}
async function made(...given: Parameters<typeof making>) {
  const { at, result } = making(...given);
  await vi.advanceTimersByTimeAsync(120_000);
  return { at, ...((await result) as { value?: unknown; error?: unknown; ms: number }) };
}

describe('call', () => {
  it("gives the call's answer, even if that is undefined", async () => {
    expect(await made(['yes'], 1_000)).toEqual({ at: [0], value: 'yes', ms: 0 });
    expect(await made([undefined], 1_000)).toEqual({ at: [120_000], value: undefined, ms: 120_000 });
  });

  it.each<[string, unknown]>([
    ['TooManyRequestsException of Athena', new TooManyRequestsException({ message: 'x', ...answered(400) })],
    ['ThrottlingException of Athena', ofAthena('ThrottlingException')],
    ['S3’s time-out while it waits for the rest of a request', ofS3(400, 'RequestTimeout')],
    ['a throttled HEAD, which has no body and so no error name', ofS3(503)],
    ['too many requests', ofS3(429)],
    ['a server error of AWS', ofS3(500, 'InternalError')],
    ['a conflict with a write at the same instant', ofS3(409, 'ConditionalRequestConflict')],
    ['a connection that broke', ofSocket('ECONNRESET')],
    ['a host name that can not be looked up now', ofSocket('EAI_AGAIN')],
    ['a body that broke off', ofSocket('ERR_STREAM_PREMATURE_CLOSE')],
    ["the SDK's time-out", named('TimeoutError')],
  ])('tries again after %s', async (_, error) => {
    expect(await made([error, 'yes'], 10_000)).toEqual({ at: [0, 100], value: 'yes', ms: 100 });
  });

  it.each<[string, unknown]>([
    ['a refusal whose name begins like the name of a time-out', ofS3(403, 'RequestTimeTooSkewed')],
    ['a status just under 500', ofS3(499)],
    ['a refusal of Athena', new InvalidRequestException({ message: 'x', ...answered(400) })],
    ['an error with a throttling’s name', Object.assign(named('ThrottlingException'), answered(400))],
    ['a refusal that has a socket code too', Object.assign(ofSocket('ECONNRESET'), answered(400))],
    ['an error in our code', new TypeError('x')],
    ['an error of ours whose error code is in lower case', ofSocket('lower')],
    ['an invalid argument of ours', ofSocket('ERR_INVALID_ARG_TYPE')],
    ['an error code that begins like the code of a broken body', ofSocket('ERR_STREAM_PREMATURE_CLOSED')],
    ['an error code that begins like the code of a socket', ofSocket('ECONNRESET-7')],
    ['credentials that are missing', named('CredentialsProviderError')],
  ])('does not try again after %s', async (_, error) => {
    const { at, error: thrown, ms } = await made([error], 10_000);
    expect({ at, ms }).toEqual({ at: [0], ms: 0 });
    expect(thrown).toBeInstanceOf(AwsCallFailed);
    expect(thrown).toMatchObject({ operation: 'S3 HeadObject' });
  });

  it.each<[string, Error]>([
    ['that has failed', new AwsCallFailed('S3 GetObject', ofS3(403, 'AccessDenied'))],
    ['that has failed with a socket code', new AwsCallFailed('S3 GetObject', ofSocket('ECONNRESET'))],
    ['that has ended at its own deadline', new Overloaded('Later.', 7)],
  ])('throws the error of an inner call %s, unchanged and at once', async (_, error) => {
    const { at, error: thrown, ms } = await made([error, 'yes'], 10_000);
    expect({ at, ms }).toEqual({ at: [0], ms: 0 });
    expect(thrown).toBe(error);
  });

  it('doubles its pauses up to 5 s, and waits at random between half and all of each', async () => {
    const pausesOf = (at: number[]) => at.slice(1).map((time, index) => time - (at[index] ?? 0));
    const { at } = await made([ofS3(503)], 60_000);
    const pauses = pausesOf(at);
    expect(pauses.slice(0, 5)).toEqual([100, 200, 400, 800, 1_600]);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(5_000);
    expect(Math.max(...pauses)).toBeGreaterThanOrEqual(2_000);
    vi.setSystemTime(START);
    dice = 0;
    expect(pausesOf((await made([ofS3(503)], 60_000)).at).slice(0, 5)).toEqual([50, 100, 200, 400, 800]);
  });

  it('throws Overloaded if no try succeeds in time, with the last failure as cause', async () => {
    const { error, ms, at } = await made([ofS3(503, 'SlowDown')], 1_000);
    expect(at).toEqual([0, 100, 300, 700]);
    expect(ms).toBe(700);
    expect(error).toBeInstanceOf(Overloaded);
    expect(error).toBeInstanceOf(Unavailable);
    const message = 'The service has more to do than it can. Request the report again later.';
    const cause = { message: 'S3 HeadObject: SlowDown, status 503, request r1', httpStatus: 503 };
    expect(error).toMatchObject({ status: 503, message, headers: { 'Retry-After': '30' }, cause });
  });

  const slow = 'no answer';
  it.each<
    [string, unknown[], number, { longestTryMs?: number; tries?: number }, number[], string | undefined]
  >([
    ['begins no try after the time is up', [ofS3(503)], 100, {}, [0], undefined],
    ['tries again while there is time', [ofS3(503)], 101, {}, [0, 100], undefined],
    ['makes one try even if the time is up already', ['yes'], -5_000, {}, [0], 'yes'],
    ['makes only one try if the time is up already', [ofS3(503)], -5_000, {}, [0], undefined],
    ['ends a try that has no answer after 4 s', [slow, 'yes'], 10_000, {}, [0, 4_100], 'yes'],
    ['lets a try last `longestTryMs`', [slow, 'yes'], 60_000, { longestTryMs: 9_000 }, [0, 9_100], 'yes'],
    ['makes no more than one of `tries`', [ofS3(503), 'yes'], 60_000, { tries: 1 }, [0], undefined],
    ['makes no more than two', [slow, ofS3(500), 'yes'], 60_000, { tries: 2 }, [0, 4_100], undefined],
    ['makes as many tries as `tries` allows', [ofS3(500), 'yes'], 60_000, { tries: 2 }, [0, 100], 'yes'],
  ])('%s', async (_, outcomes, callerWaitMs, limits, at, value) => {
    const expected = value === undefined ? { error: expect.any(Overloaded) } : { value };
    expect(await made(outcomes, callerWaitMs, limits)).toMatchObject({ at, ...expected });
  });

  it('ends in time if AWS never answers, however long a try may last', async () => {
    const { error, ms } = await made([slow], 10_000);
    const cause = { message: 'S3 HeadObject: AbortError, status none, request none' };
    expect(error).toMatchObject({ constructor: Overloaded, cause });
    expect(ms).toSatisfy((ms: number) => ms > 8_000 && ms <= 10_000);
    vi.setSystemTime(START);
    const endless = await made([slow], 30_000, { longestTryMs: Number.POSITIVE_INFINITY });
    expect(endless).toMatchObject({ error: expect.any(Overloaded), ms: 30_000 });
  });

  it('keeps the last answer of AWS as the cause if the last try got none', async () => {
    const told = async (...outcomes: unknown[]) =>
      ((await made(outcomes, 9_000)).error as Overloaded).cause as AwsCallFailed;
    expect((await told(ofS3(500), ofS3(503, 'SlowDown'), 'no answer')).message).toBe(
      'S3 HeadObject: SlowDown, status 503, request r1',
    );
    vi.setSystemTime(START);
    expect((await told(ofSocket('ECONNRESET'), 'no answer')).message).toContain('Error, status none');
    vi.setSystemTime(START);
    expect((await told('no answer', 'no answer', ofS3(503, 'SlowDown'))).httpStatus).toBe(503);
  });
});
