import { inspect } from 'node:util';
import {
  type AthenaClient,
  InternalServerException,
  InvalidRequestException,
  type QueryExecution,
} from '@aws-sdk/client-athena';
import { describe, expect, it } from 'vitest';
import { athenaQueries, executionOf } from '../../../lib/aws/athena-queries.ts';

const TOKEN = 't'.repeat(64);
const refused = new InvalidRequestException({ message: 'x', $metadata: { httpStatusCode: 400 } });
const fault = new InternalServerException({ message: 'x', $metadata: { httpStatusCode: 500 } });
const forbidden = Object.assign(new Error('x'), { $metadata: { httpStatusCode: 403 } });

interface Planned {
  readonly command: string;
  readonly answer: object | Error;
}

/** Queries to an Athena that expects these commands, in this order, and no others. */
const athenaOf = (...planned: Planned[]) => athenaFor(10_000, planned);

/** Queries to an Athena that expects these commands; the calls must end within `callerWaitMs`. */
function athenaFor(callerWaitMs: number, planned: Planned[]) {
  const inputs: object[] = [];
  const athena = {
    send: async (
      command: { input: object; constructor: { name: string } },
      { abortSignal }: { abortSignal: AbortSignal },
    ) => {
      const next = planned.shift();
      if (command.constructor.name !== `${next?.command}Command`) throw new Error('unplanned command');
      expect(abortSignal).toBeInstanceOf(AbortSignal);
      inputs.push(command.input);
      if (next?.answer instanceof Error) throw next.answer;
      return next?.answer;
    },
  } as unknown as AthenaClient;
  const until = Date.now() + callerWaitMs;
  const names = { database: 'reports', workgroup: 'service' };
  const queries = athenaQueries(athena, names, until);
  return { queries, inputs, planned };
}

describe('start', () => {
  it('throws Athena’s refusal, but leaves out the query’s values that the refusal quotes', async () => {
    const answer = new InvalidRequestException({
      message: "Value 'secret' is not understood",
      $metadata: { httpStatusCode: 400 },
    });
    const { queries } = athenaOf({ command: 'StartQueryExecution', answer });
    const refusal = await queries.start({ sql: 'SELECT ?', parameters: ["'secret'"] }, TOKEN).catch(inspect);
    expect(refusal).toContain('Athena StartQueryExecution: InvalidRequestException, status 400');
    expect(refusal).toContain('Value … is not understood');
    expect(refusal).not.toContain('secret');
  });

  it('starts the query in the database and the workgroup, under its token', async () => {
    const { queries, inputs } = athenaOf({
      command: 'StartQueryExecution',
      answer: { QueryExecutionId: 'q1' },
    });
    expect(await queries.start({ sql: 'SELECT ?', parameters: ["'a'", '1'] }, TOKEN)).toBe('q1');
    expect(inputs).toEqual([
      {
        QueryString: 'SELECT ?',
        QueryExecutionContext: { Database: 'reports' },
        WorkGroup: 'service',
        ClientRequestToken: TOKEN,
        ExecutionParameters: ["'a'", '1'],
      },
    ]);
  });

  it('sends no list of parameters if it would be empty, since Athena refuses an empty list', async () => {
    const { queries, inputs } = athenaOf({
      command: 'StartQueryExecution',
      answer: { QueryExecutionId: 'q1' },
    });
    await queries.start({ sql: 'SELECT 1', parameters: [] }, TOKEN);
    expect(inputs[0]).not.toHaveProperty('ExecutionParameters');
  });

  it('throws if Athena names no execution, or refuses the start', async () => {
    const { queries } = athenaOf(
      { command: 'StartQueryExecution', answer: {} },
      { command: 'StartQueryExecution', answer: refused },
    );
    const start = () => queries.start({ sql: 'SELECT 1', parameters: [] }, TOKEN);
    await expect(start()).rejects.toThrow('Athena started a query without an id');
    await expect(start()).rejects.toThrow('Athena StartQueryExecution: InvalidRequestException, status 400');
  });

  it('resolves to undefined if Athena has seen the token with another query', async () => {
    const answer = new InvalidRequestException({
      message: 'Idempotent parameters do not match',
      AthenaErrorCode: 'IDEMPOTENT_PARAMETER_MISMATCH',
      $metadata: { httpStatusCode: 400 },
    });
    const { queries } = athenaOf({ command: 'StartQueryExecution', answer });
    expect(await queries.start({ sql: 'SELECT 1', parameters: [] }, TOKEN)).toBeUndefined();
  });

  it('throws any other failure, naming the call and the error', async () => {
    const { queries } = athenaOf({ command: 'StartQueryExecution', answer: forbidden });
    await expect(queries.start({ sql: 'SELECT 1', parameters: [] }, TOKEN)).rejects.toThrow(
      'Athena StartQueryExecution: Error, status 403',
    );
  });

  it('tries again after a server error of Athena', async () => {
    const { queries, planned } = athenaOf(
      { command: 'StartQueryExecution', answer: fault },
      { command: 'StartQueryExecution', answer: { QueryExecutionId: 'q1' } },
    );
    expect(await queries.start({ sql: 'SELECT 1', parameters: [] }, TOKEN)).toBe('q1');
    expect(planned).toEqual([]);
  });
});

describe('get', () => {
  it('asks Athena about the execution', async () => {
    const QueryExecution = { Status: { State: 'RUNNING', SubmissionDateTime: new Date(5) } };
    const answer = { QueryExecution, $metadata: { date: 9 } };
    const { queries, inputs } = athenaOf({ command: 'GetQueryExecution', answer });
    expect(await queries.get('q1')).toEqual({
      state: 'under-way',
      id: 'q1',
      submittedAt: 5,
      observedAt: 9,
      isQueued: false,
      bytesScanned: 0,
    });
    expect(inputs).toEqual([{ QueryExecutionId: 'q1' }]);
  });

  it('answers “forgotten” if Athena’s answer has no execution', async () => {
    const { queries } = athenaOf({ command: 'GetQueryExecution', answer: { $metadata: {} } });
    expect(await queries.get('q1')).toEqual({ state: 'forgotten', id: 'q1' });
  });

  it('answers “forgotten” if Athena does not know the execution', async () => {
    const answer = new InvalidRequestException({
      message: 'QueryExecution q1 was not found',
      AthenaErrorCode: 'QUERY_EXECUTION_NOT_FOUND',
      $metadata: { httpStatusCode: 400 },
    });
    const { queries } = athenaOf({ command: 'GetQueryExecution', answer });
    expect(await queries.get('q1')).toEqual({ state: 'forgotten', id: 'q1' });
  });

  it.each([undefined, 'INVALID_INPUT'])(
    'throws if Athena refuses the request as invalid for another reason (%s)',
    async (AthenaErrorCode) => {
      const answer = new InvalidRequestException({
        message: 'x',
        AthenaErrorCode,
        $metadata: refused.$metadata,
      });
      const { queries } = athenaOf({ command: 'GetQueryExecution', answer });
      await expect(queries.get('q1')).rejects.toThrow(
        'Athena GetQueryExecution: InvalidRequestException, status 400',
      );
    },
  );

  it('throws any other failure', async () => {
    const { queries } = athenaOf({ command: 'GetQueryExecution', answer: forbidden });
    await expect(queries.get('q1')).rejects.toThrow('Athena GetQueryExecution: Error, status 403');
  });
});

describe('stop', () => {
  it('stops the execution', async () => {
    const { queries, inputs } = athenaOf({ command: 'StopQueryExecution', answer: {} });
    await queries.stop('q1');
    expect(inputs).toEqual([{ QueryExecutionId: 'q1' }]);
  });

  it('ignores Athena’s refusal to stop an execution that has ended or that Athena has forgotten', async () => {
    const { queries, planned } = athenaOf({ command: 'StopQueryExecution', answer: refused });
    await queries.stop('q1');
    expect(planned).toEqual([]);
  });

  it('throws any other failure', async () => {
    const { queries } = athenaOf({ command: 'StopQueryExecution', answer: forbidden });
    await expect(queries.stop('q1')).rejects.toThrow('Athena StopQueryExecution: Error, status 403');
  });
});

describe('executionOf', () => {
  const OBSERVED_AT = 4_000;
  const Status = { SubmissionDateTime: new Date(1_000), CompletionDateTime: new Date(3_500) };
  const Statistics = { DataScannedInBytes: 42, EngineExecutionTimeInMillis: 2_000 };
  const submitted = { id: 'q1', submittedAt: 1_000, observedAt: OBSERVED_AT, bytesScanned: 42 };
  const ended = { ...submitted, completedAt: 3_500, engineMs: 2_000 };
  const underWay = { state: 'under-way', ...submitted, isQueued: false };
  const failed = { state: 'failed', ...ended, isRetryable: false };
  const scanLimit = 'Query exhausted: Bytes scanned limit was exceeded, 10 GB';

  it.each<[string, QueryExecution['Status'], object]>([
    ['QUEUED', { ...Status, State: 'QUEUED' }, { ...underWay, isQueued: true }],
    ['RUNNING', { ...Status, State: 'RUNNING' }, underWay],
    ['in no state', Status, underWay],
    ['in an unknown state', { ...Status, State: 'PAUSED' as never }, underWay],
    [
      'SUCCEEDED',
      { ...Status, State: 'SUCCEEDED' },
      { state: 'succeeded', ...ended, location: 's3://elsewhere/reused.csv' },
    ],
    [
      'FAILED',
      { ...Status, State: 'FAILED', StateChangeReason: 'boom' },
      { ...failed, reason: 'FAILED: boom' },
    ],
    [
      'FAILED with an error that Athena calls retryable',
      { ...Status, State: 'FAILED', StateChangeReason: 'boom', AthenaError: { Retryable: true } },
      { ...failed, reason: 'FAILED: boom', isRetryable: true },
    ],
    [
      'FAILED with an error that Athena calls not retryable',
      { ...Status, State: 'FAILED', StateChangeReason: 'boom', AthenaError: { Retryable: false } },
      { ...failed, reason: 'FAILED: boom' },
    ],
    [
      'FAILED because of a value, which the reason leaves out',
      { ...Status, State: 'FAILED', StateChangeReason: "INVALID_CAST_ARGUMENT: Cannot cast 'x' to bigint" },
      { ...failed, reason: 'FAILED: INVALID_CAST_ARGUMENT: Cannot cast … to bigint' },
    ],
    [
      'FAILED without a reason',
      { ...Status, State: 'FAILED' },
      { ...failed, reason: 'FAILED: no reason given' },
    ],
    [
      'CANCELLED',
      { ...Status, State: 'CANCELLED', StateChangeReason: 'by user' },
      { ...failed, reason: 'CANCELLED: by user', isCancelled: true },
    ],
    [
      'CANCELLED at the scan limit',
      { ...Status, State: 'CANCELLED', StateChangeReason: scanLimit },
      { state: 'scan-limit-exceeded', ...ended },
    ],
    [
      'FAILED at the scan limit',
      { ...Status, State: 'FAILED', StateChangeReason: scanLimit },
      { state: 'scan-limit-exceeded', ...ended },
    ],
    ['without a time of submission', { State: 'RUNNING' }, { state: 'forgotten', id: 'q1' }],
  ])('reads an execution: %s', (_, status, expected) => {
    const location = { ResultConfiguration: { OutputLocation: 's3://elsewhere/reused.csv' } };
    const given = { ...(status && { Status: status }), Statistics, ...location };
    expect(executionOf('q1', given, OBSERVED_AT)).toEqual(expected);
  });

  it.each([{}, { ResultConfiguration: {} }, { ResultConfiguration: { OutputLocation: '' } }])(
    'reads a success that names no place for its result as a failure (%j)',
    (location) => {
      const given = { Status: { ...Status, State: 'SUCCEEDED' as const }, Statistics, ...location };
      expect(executionOf('q1', given, OBSERVED_AT)).toEqual({
        ...failed,
        reason: 'SUCCEEDED without a result',
      });
    },
  );

  it('takes the time of Athena’s answer as the end of an execution without completion time and statistics', () => {
    const cancelled = { State: 'CANCELLED', SubmissionDateTime: new Date(7) } as const;
    expect(executionOf('q1', { Status: cancelled }, OBSERVED_AT)).toEqual({
      state: 'failed',
      id: 'q1',
      submittedAt: 7,
      completedAt: OBSERVED_AT,
      observedAt: OBSERVED_AT,
      bytesScanned: 0,
      engineMs: 0,
      reason: 'CANCELLED: no reason given',
      isCancelled: true,
      isRetryable: false,
    });
  });

  it.each([undefined, {}])('reads an answer without facts (%j) as “forgotten”', (execution) => {
    expect(executionOf('q1', execution, OBSERVED_AT)).toEqual({ state: 'forgotten', id: 'q1' });
  });
});
