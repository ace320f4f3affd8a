import { inspect } from 'node:util';
import { type AthenaClient, InvalidRequestException, type QueryExecution } from '@aws-sdk/client-athena';
import { describe, expect, it } from 'vitest';
import { athenaQueries, executionOf } from '../../../lib/aws/athena-queries.ts';

const TOKEN = 't'.repeat(64);
const $metadata = { httpStatusCode: 400 };
const refused = new InvalidRequestException({ message: 'x', $metadata });
const forbidden = Object.assign(new Error('x'), { $metadata: { httpStatusCode: 403 } });

interface Planned {
  readonly command: string;
  readonly answer: object | Error;
}

/** Queries to an Athena that expects these commands, in this order, and no others. */
function athenaOf(...planned: Planned[]) {
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
  const names = { database: 'reports', workgroup: 'service' };
  return { queries: athenaQueries(athena, names, Date.now() + 10_000), inputs, planned };
}

/** Athena's refusal of a request as invalid. */
const invalid = (message: string, AthenaErrorCode?: string) =>
  new InvalidRequestException({ message, AthenaErrorCode, $metadata: refused.$metadata });

describe('start', () => {
  const command = 'StartQueryExecution';
  const query = { sql: 'SELECT 1', parameters: [] };

  it('throws Athena’s refusal, but leaves out the query’s values that the refusal quotes', async () => {
    const { queries } = athenaOf({ command, answer: invalid("Value 'secret' is not understood") });
    const refusal = await queries.start({ sql: 'SELECT ?', parameters: ["'secret'"] }, TOKEN).catch(inspect);
    expect(refusal).toContain('Athena StartQueryExecution: InvalidRequestException, status 400');
    expect(refusal).toContain('Value … is not understood');
    expect(refusal).not.toContain('secret');
  });

  // Athena refuses an empty list of parameters.
  it.each([
    [{ sql: 'SELECT ?', parameters: ["'a'", '1'] }, { ExecutionParameters: ["'a'", '1'] }],
    [query, {}],
  ])('starts a query in the database and the workgroup, under its token: %j', async (query, parameters) => {
    const { queries, inputs } = athenaOf({ command, answer: { QueryExecutionId: 'q1' } });
    expect(await queries.start(query, TOKEN)).toBe('q1');
    const started = { QueryString: query.sql, ClientRequestToken: TOKEN, ...parameters };
    const place = { QueryExecutionContext: { Database: 'reports' }, WorkGroup: 'service' };
    expect(inputs).toEqual([{ ...started, ...place }]);
  });

  it('resolves to undefined if Athena has seen the token with another query', async () => {
    const answer = invalid('Idempotent parameters do not match', 'IDEMPOTENT_PARAMETER_MISMATCH');
    const { queries } = athenaOf({ command, answer });
    expect(await queries.start(query, TOKEN)).toBeUndefined();
  });

  it('throws if Athena names no execution', async () => {
    const { queries } = athenaOf({ command, answer: {} });
    await expect(queries.start(query, TOKEN)).rejects.toThrow('Athena started a query without an id');
  });
});

it.each<[command: string, Error, failure: string]>([
  ['StartQueryExecution', refused, 'InvalidRequestException, status 400'],
  ['StartQueryExecution', forbidden, 'Error, status 403'],
  ['GetQueryExecution', invalid('x', 'INVALID_INPUT'), 'InvalidRequestException, status 400'],
  ['GetQueryExecution', forbidden, 'Error, status 403'],
  ['StopQueryExecution', forbidden, 'Error, status 403'],
])('%s throws any other failure, naming the call and the error: %s', async (command, answer, failure) => {
  const { start, get, stop } = athenaOf({ command, answer }).queries;
  const calls = [() => start({ sql: 'SELECT 1', parameters: [] }, TOKEN), () => get('q1'), () => stop('q1')];
  const call = calls[['Start', 'Get', 'Stop'].findIndex((name) => command.startsWith(name))];
  await expect(call?.()).rejects.toThrow(`Athena ${command}: ${failure}`);
});

describe('get', () => {
  const command = 'GetQueryExecution';
  const underWay = { state: 'under-way', submittedAt: 5, observedAt: 9, isQueued: false, bytesScanned: 0 };
  const QueryExecution = { Status: { State: 'RUNNING', SubmissionDateTime: new Date(5) } };

  it.each<[string, object | Error, object]>([
    ['with what it says', { QueryExecution, $metadata: { date: 9 } }, underWay],
    ['“forgotten” if it has no execution', { $metadata: {} }, { state: 'forgotten' }],
    ['“forgotten” if it knows none', invalid('x', 'QUERY_EXECUTION_NOT_FOUND'), { state: 'forgotten' }],
  ])('asks Athena about the execution, and answers %s', async (_, answer, expected) => {
    const { queries, inputs } = athenaOf({ command, answer });
    expect(await queries.get('q1')).toEqual({ id: 'q1', ...expected });
    expect(inputs).toEqual([{ QueryExecutionId: 'q1' }]);
  });
});

describe('stop', () => {
  // Athena refuses to stop an execution that has ended or that it has forgotten.
  it.each([{}, refused])('stops the execution, whether it still runs or not (%s)', async (answer) => {
    const { queries, inputs, planned } = athenaOf({ command: 'StopQueryExecution', answer });
    await queries.stop('q1');
    expect([inputs, planned]).toEqual([[{ QueryExecutionId: 'q1' }], []]);
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

  const boom = { State: 'FAILED', StateChangeReason: 'boom' } as const;
  const boomed = { ...failed, reason: 'FAILED: boom' };
  const cast = "INVALID_CAST_ARGUMENT: Cannot cast 'x' to bigint";
  const uncast = { ...failed, reason: `FAILED: ${cast.replace("'x'", '…')}` };
  const cancelled = { ...failed, reason: 'CANCELLED: by user', isCancelled: true };
  const succeeded = { state: 'succeeded', ...ended, location: 's3://elsewhere/reused.csv' };
  const tooMuch = { state: 'scan-limit-exceeded', ...ended };

  it.each<[string, QueryExecution['Status'], object]>([
    ['queued', { State: 'QUEUED' }, { ...underWay, isQueued: true }],
    ['running', { State: 'RUNNING' }, underWay],
    ['without a state', {}, underWay],
    ['in a state that is not known', { State: 'PAUSED' as never }, underWay],
    ['succeeded', { State: 'SUCCEEDED' }, succeeded],
    ['failed', boom, boomed],
    ['failed, retryable', { ...boom, AthenaError: { Retryable: true } }, { ...boomed, isRetryable: true }],
    ['failed, not retryable', { ...boom, AthenaError: { Retryable: false } }, boomed],
    ['failed, for a reason that quotes a value', { ...boom, StateChangeReason: cast }, uncast],
    ['failed without a reason', { State: 'FAILED' }, { ...failed, reason: 'FAILED: no reason given' }],
    ['cancelled', { State: 'CANCELLED', StateChangeReason: 'by user' }, cancelled],
    ['cancelled at the scan limit', { State: 'CANCELLED', StateChangeReason: scanLimit }, tooMuch],
    ['failed at the scan limit', { State: 'FAILED', StateChangeReason: scanLimit }, tooMuch],
    ['without a time', { State: 'RUNNING', SubmissionDateTime: undefined }, { state: 'forgotten', id: 'q1' }],
  ])('reads an execution: %s', (_, status, expected) => {
    const location = { ResultConfiguration: { OutputLocation: 's3://elsewhere/reused.csv' } };
    const given = { Status: { ...Status, ...status }, Statistics, ...location };
    expect(executionOf('q1', given as QueryExecution, OBSERVED_AT)).toEqual(expected);
  });

  it.each([{}, { ResultConfiguration: {} }, { ResultConfiguration: { OutputLocation: '' } }])(
    'reads a success that names no place for its result as a failure (%j)',
    (location) => {
      const given = { Status: { ...Status, State: 'SUCCEEDED' as const }, Statistics, ...location };
      const reason = 'SUCCEEDED without a result';
      expect(executionOf('q1', given, OBSERVED_AT)).toEqual({ ...failed, reason });
    },
  );

  it('takes the time of Athena’s answer as the end of an execution without completion time and statistics', () => {
    const Status = { State: 'CANCELLED', SubmissionDateTime: new Date(7) } as const;
    const times = { submittedAt: 7, completedAt: OBSERVED_AT, bytesScanned: 0, engineMs: 0 };
    const reason = 'CANCELLED: no reason given';
    expect(executionOf('q1', { Status }, OBSERVED_AT)).toEqual({ ...cancelled, ...times, reason });
  });

  it.each([undefined, {}])('reads an answer without facts (%j) as “forgotten”', (execution) => {
    expect(executionOf('q1', execution, OBSERVED_AT)).toEqual({ state: 'forgotten', id: 'q1' });
  });
});
