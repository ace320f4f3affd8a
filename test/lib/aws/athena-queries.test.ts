import {
  type AthenaClient,
  InternalServerException,
  InvalidRequestException,
  type QueryExecution,
} from '@aws-sdk/client-athena';
import { describe, expect, it } from 'vitest';
import { Overloaded } from '../../../lib/answers/problem.ts';
import { athenaQueries, executionOf } from '../../../lib/aws/athena-queries.ts';

const TOKEN = 't'.repeat(64);
const refused = new InvalidRequestException({ message: 'x', $metadata: { httpStatusCode: 400 } });
const fault = new InternalServerException({ message: 'x', $metadata: { httpStatusCode: 500 } });
const forbidden = Object.assign(new Error('x'), { $metadata: { httpStatusCode: 403 } });

interface Planned {
  readonly command: string;
  readonly answer: object | Error;
}

/** An Athena that takes these commands, in their order, and no others. */
const athenaOf = (...planned: Planned[]) => athenaFor(10_000, planned);

/** Queries whose calls must end within so many milliseconds, and a stop within 10 seconds. */
function athenaFor(patienceMs: number, planned: Planned[]) {
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
  const until = Date.now() + patienceMs;
  const names = { database: 'reports', workgroup: 'service' };
  const queries = athenaQueries(athena, names, { until, stopUntil: Date.now() + 10_000 });
  return { queries, inputs, planned };
}

describe('start', () => {
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

  it('sends no empty list of parameters, which Athena refuses', async () => {
    const { queries, inputs } = athenaOf({
      command: 'StartQueryExecution',
      answer: { QueryExecutionId: 'q1' },
    });
    await queries.start({ sql: 'SELECT 1', parameters: [] }, TOKEN);
    expect(inputs[0]).not.toHaveProperty('ExecutionParameters');
  });

  it('throws where Athena names no execution, or refuses the start', async () => {
    const { queries } = athenaOf(
      { command: 'StartQueryExecution', answer: {} },
      { command: 'StartQueryExecution', answer: refused },
    );
    const start = () => queries.start({ sql: 'SELECT 1', parameters: [] }, TOKEN);
    await expect(start()).rejects.toThrow('Athena started a query without an id');
    await expect(start()).rejects.toThrow('Athena StartQueryExecution: InvalidRequestException, status 400');
  });

  it('is tried again while Athena is at fault', async () => {
    const { queries, planned } = athenaOf(
      { command: 'StartQueryExecution', answer: fault },
      { command: 'StartQueryExecution', answer: { QueryExecutionId: 'q1' } },
    );
    expect(await queries.start({ sql: 'SELECT 1', parameters: [] }, TOKEN)).toBe('q1');
    expect(planned).toEqual([]);
  });
});

describe('get', () => {
  it('asks about the execution', async () => {
    const QueryExecution = { Status: { State: 'RUNNING', SubmissionDateTime: new Date(5) } };
    const { queries, inputs } = athenaOf({ command: 'GetQueryExecution', answer: { QueryExecution } });
    expect(await queries.get('q1')).toEqual({ state: 'under-way', id: 'q1', submittedAt: 5 });
    expect(inputs).toEqual([{ QueryExecutionId: 'q1' }]);
  });

  it('counts an answer without an execution as a query under way', async () => {
    const { queries } = athenaOf({ command: 'GetQueryExecution', answer: {} });
    expect(await queries.get('q1')).toEqual({ state: 'under-way', id: 'q1', submittedAt: 0 });
  });

  it('answers “forgotten” for an execution that Athena no longer has', async () => {
    const { queries } = athenaOf({ command: 'GetQueryExecution', answer: refused });
    expect(await queries.get('q1')).toEqual({ state: 'forgotten', id: 'q1' });
  });

  it('throws what else goes wrong', async () => {
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

  it('does nothing for an execution that has ended or that Athena has forgotten', async () => {
    const { queries, planned } = athenaOf({ command: 'StopQueryExecution', answer: refused });
    await queries.stop('q1');
    expect(planned).toEqual([]);
  });

  it('throws what else goes wrong', async () => {
    const { queries } = athenaOf({ command: 'StopQueryExecution', answer: forbidden });
    await expect(queries.stop('q1')).rejects.toThrow('Athena StopQueryExecution: Error, status 403');
  });

  it('has more time than the other calls, so that a query is still stopped after the last call about it', async () => {
    const plan = (command: string) => [
      { command, answer: fault },
      { command, answer: {} },
    ];
    const { queries, planned } = athenaFor(0, plan('StopQueryExecution'));
    await queries.stop('q1');
    expect(planned).toEqual([]);
    await expect(athenaFor(0, plan('GetQueryExecution')).queries.get('q1')).rejects.toThrow(Overloaded);
    const start = () =>
      athenaFor(0, plan('StartQueryExecution')).queries.start({ sql: 'SELECT 1', parameters: [] }, TOKEN);
    await expect(start()).rejects.toThrow(Overloaded);
  });
});

describe('executionOf', () => {
  const Status = { SubmissionDateTime: new Date(1_000), CompletionDateTime: new Date(3_500) };
  const Statistics = { DataScannedInBytes: 42, EngineExecutionTimeInMillis: 2_000 };
  const figures = { id: 'q1', submittedAt: 1_000, completedAt: 3_500, bytesScanned: 42, engineMs: 2_000 };
  const failed = { state: 'failed', ...figures, isRetryable: false };
  const cutOff = 'Query exhausted: Bytes scanned limit was exceeded, 10 GB';

  it.each<[string, QueryExecution['Status'], object]>([
    ['QUEUED', { ...Status, State: 'QUEUED' }, { state: 'under-way', id: 'q1', submittedAt: 1_000 }],
    ['RUNNING', { ...Status, State: 'RUNNING' }, { state: 'under-way', id: 'q1', submittedAt: 1_000 }],
    ['in no state', Status, { state: 'under-way', id: 'q1', submittedAt: 1_000 }],
    [
      'in a state that nobody knew',
      { ...Status, State: 'PAUSED' as never },
      { state: 'under-way', id: 'q1', submittedAt: 1_000 },
    ],
    [
      'SUCCEEDED',
      { ...Status, State: 'SUCCEEDED' },
      { state: 'succeeded', ...figures, location: 's3://elsewhere/reused.csv' },
    ],
    [
      'FAILED',
      { ...Status, State: 'FAILED', StateChangeReason: 'boom' },
      { ...failed, reason: 'FAILED: boom' },
    ],
    [
      'FAILED in a way that may pass',
      { ...Status, State: 'FAILED', StateChangeReason: 'boom', AthenaError: { Retryable: true } },
      { ...failed, reason: 'FAILED: boom', isRetryable: true },
    ],
    [
      'FAILED for good',
      { ...Status, State: 'FAILED', StateChangeReason: 'boom', AthenaError: { Retryable: false } },
      { ...failed, reason: 'FAILED: boom' },
    ],
    [
      'FAILED without a word',
      { ...Status, State: 'FAILED' },
      { ...failed, reason: 'FAILED: no reason given' },
    ],
    [
      'CANCELLED',
      { ...Status, State: 'CANCELLED', StateChangeReason: 'by user' },
      { ...failed, reason: 'CANCELLED: by user' },
    ],
    [
      'CANCELLED at the limit of bytes',
      { ...Status, State: 'CANCELLED', StateChangeReason: cutOff },
      { state: 'cut-off', ...figures },
    ],
    [
      'FAILED at the limit of bytes',
      { ...Status, State: 'FAILED', StateChangeReason: cutOff },
      { state: 'cut-off', ...figures },
    ],
  ])('reads one that is %s', (_, status, expected) => {
    const location = { ResultConfiguration: { OutputLocation: 's3://elsewhere/reused.csv' } };
    const given = { ...(status && { Status: status }), Statistics, ...location };
    expect(executionOf('q1', given)).toEqual(expected);
  });

  it('reads an execution without statistics', () => {
    const none = { id: 'q1', submittedAt: 0, completedAt: 0, bytesScanned: 0, engineMs: 0 };
    expect(executionOf('q1', { Status: { State: 'SUCCEEDED' } })).toEqual({
      state: 'succeeded',
      ...none,
      location: '',
    });
    const Submitted = { State: 'CANCELLED', SubmissionDateTime: new Date(7) } as const;
    expect(executionOf('q1', { Status: Submitted })).toMatchObject({ submittedAt: 7, completedAt: 7 });
    expect(executionOf('q1', {})).toEqual({ state: 'under-way', id: 'q1', submittedAt: 0 });
  });
});
