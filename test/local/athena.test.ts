import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Athena as Client,
  type QueryExecution,
  type StartQueryExecutionCommandInput,
} from '@aws-sdk/client-athena';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Athena, type AthenaOptions, startAthena } from '../../local/athena/athena.ts';
import { duckDbOn } from '../../local/athena/duckdb-engine.ts';
import { createExecutions } from '../../local/athena/executions.ts';
import { type Query, type QueryEngine, QueryScanLimitExceeded } from '../../local/athena/query-engine.ts';
import { startObjectStore } from '../../local/object-store/object-store.ts';
import { ownFolder } from '../own-folder.ts';
import { writeEvents } from '../write-events.ts';

const Bucket = 'results';
const database = 'reports';
const workgroup = 'reports-workgroup';
const resultsUri = `s3://${Bucket}/athena/`;

const TIMES = { SubmissionDateTime: expect.any(Date), CompletionDateTime: expect.any(Date) };
/** A query that takes minutes, so a test always finds it running. */
const LONG_QUERY = 'SELECT sum(a.range * b.range) AS s FROM range(4000000) AS a, range(4000000) AS b';

const home = await ownFolder();
const eventsDirectory = join(home, 'events');
for (const table of ['publisher_events', 'advertiser_events'])
  await writeEvents(eventsDirectory, table, [{ event_time: '2026-01-31T10:30:00.007Z' }]);
const store = await startObjectStore({ directory: join(home, 'storage'), buckets: [Bucket] });
afterAll(() => store.close());
const aws = { region: store.region, credentials: store.credentials, maxAttempts: 1 };
const engine = await duckDbOn(eventsDirectory)({ database, scratchDirectory: join(home, 'scratch') });
afterAll(() => engine.close());

const settings = { engine, results: store, resultsUri, database, workgroup };

/** Starts the stand-in of Athena, with these options, until the test ends; resolves to a client of it. */
const start = async (
  options: Partial<AthenaOptions>,
  atEnd: (close: () => Promise<void>) => void = onTestFinished,
) => {
  const athena: Athena = await startAthena({ ...settings, ...options });
  const client = new Client({ ...aws, endpoint: athena.url });
  atEnd(async () => {
    client.destroy();
    await athena.close();
  });
  return client;
};
const client = await start({}, afterAll);

type Start = Partial<StartQueryExecutionCommandInput>;

const startQuery = async (QueryString: string, more: Start = {}, at = client): Promise<string> => {
  const input = { QueryString, QueryExecutionContext: { Database: database }, WorkGroup: workgroup, ...more };
  return (await at.startQueryExecution(input)).QueryExecutionId as string;
};

const executionOf = async (QueryExecutionId: string, at = client): Promise<QueryExecution> =>
  (await at.getQueryExecution({ QueryExecutionId })).QueryExecution as QueryExecution;

const stopQuery = (QueryExecutionId: string, at = client) => at.stopQueryExecution({ QueryExecutionId });

const ended = async (id: string, at = client): Promise<QueryExecution> => {
  for (;;) {
    const execution = await executionOf(id, at);
    if (!['QUEUED', 'RUNNING'].includes(String(execution.Status?.State))) return execution;
    await delay(20);
  }
};

const run = async (sql: string, ...parameters: string[]): Promise<QueryExecution> =>
  ended(await startQuery(sql, parameters.length > 0 ? { ExecutionParameters: parameters } : {}));

/** An engine whose queries run until the test ends each of them. */
const engineByHand = () => {
  const queries: { query: Query; fail(error: Error): void }[] = [];
  const byHand: QueryEngine = {
    maxRunning: 2,
    run: (query) =>
      new Promise((_, reject) => {
        queries.push({ query, fail: reject });
        query.signal.addEventListener('abort', () => reject(query.signal.reason));
      }),
  };
  return { byHand, queries };
};

it('a query ends SUCCEEDED, and GetQueryExecution describes it as Athena does', async () => {
  const sql = 'SELECT count(*) AS n FROM publisher_events WHERE day = ?';
  const execution = await run(sql, "'2026-01-31'");

  expect(execution).toEqual({
    QueryExecutionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    Query: sql,
    ExecutionParameters: ["'2026-01-31'"],
    QueryExecutionContext: { Database: database },
    WorkGroup: workgroup,
    ResultConfiguration: { OutputLocation: `${resultsUri}${execution.QueryExecutionId}.csv` },
    Status: { State: 'SUCCEEDED', ...TIMES },
    Statistics: {
      DataScannedInBytes: expect.any(Number),
      EngineExecutionTimeInMillis: expect.any(Number),
      TotalExecutionTimeInMillis: expect.any(Number),
    },
  });
  const { SubmissionDateTime, CompletionDateTime } = execution.Status ?? {};
  expect(Math.abs(Date.now() - Number(SubmissionDateTime))).toBeLessThan(10_000);
  expect(Number(CompletionDateTime)).toBeGreaterThanOrEqual(Number(SubmissionDateTime));
  // A stop that comes too late changes nothing.
  await stopQuery(String(execution.QueryExecutionId));
  expect(await executionOf(String(execution.QueryExecutionId))).toEqual(execution);
});

describe('a query that fails', () => {
  it.each([
    ['bad syntax', 'SELEC 1', 'SYNTAX_ERROR', 1006],
    ['two statements', 'SELECT 1; SELECT 2', 'INVALID_FUNCTION_ARGUMENT', 1106],
    ['a statement that writes', 'DROP VIEW publisher_events', 'SYNTAX_ERROR', 1006],
    ['a file outside the events', "SELECT * FROM read_text('/etc/hostname')", 'PERMISSION_DENIED', 1000],
    ['too few parameters', 'SELECT ? AS a, ? AS b', 'INVALID_PARAMETER_USAGE', 1100, '1'],
    ['a text parameter without quotes', 'SELECT ? AS a', 'SYNTAX_ERROR', 1006, 'desktop'],
    ['two expressions in one parameter', 'SELECT ? AS a', 'INVALID_PARAMETER_USAGE', 1100, '1), (2'],
  ])(
    'because of %s is FAILED with a user error, which is not retryable',
    async (_, sql, name, ErrorType, ...parameters) => {
      const { Status } = await run(sql, ...(parameters as string[]));
      const ErrorMessage = Status?.StateChangeReason;
      expect(Status).toEqual({
        State: 'FAILED',
        StateChangeReason: expect.stringMatching(`^${name}: .`),
        ...TIMES,
        AthenaError: { ErrorCategory: 2, ErrorType, Retryable: false, ErrorMessage },
      });
      expect(Status?.StateChangeReason).not.toContain('\n');
    },
  );

  it('because of a fault in the engine is FAILED with a system error', async () => {
    const { byHand, queries } = engineByHand();
    const other = await start({ engine: byHand });
    const id = await startQuery('SELECT 1', {}, other);
    queries[0]?.fail(new Error('the engine has burnt down'));
    expect((await ended(id, other)).Status).toMatchObject({
      State: 'FAILED',
      StateChangeReason: 'GENERIC_INTERNAL_ERROR: Error: the engine has burnt down',
      AthenaError: { ErrorCategory: 1, ErrorType: 200, Retryable: false },
    });
    // A view of the events throws this error for a file whose column has another type.
    const { Status } = await run("SELECT error('HIVE_BAD_DATA: Field')");
    expect(Status).toMatchObject({
      StateChangeReason: 'HIVE_BAD_DATA: Field',
      AthenaError: { ErrorCategory: 1 },
    });
  });
});

it('a query above the workgroup’s scan limit is CANCELLED, and its scanned bytes are reported', async () => {
  const run = () => Promise.reject(new QueryScanLimitExceeded(30_001));
  const other = await start({ engine: { maxRunning: 1, run } });
  const { Status, Statistics } = await ended(await startQuery('SELECT 1', {}, other), other);
  expect(Status).toMatchObject({ State: 'CANCELLED', StateChangeReason: 'Bytes scanned limit was exceeded' });
  expect(Statistics?.DataScannedInBytes).toBe(30_001);
});

describe('ClientRequestToken', () => {
  it.each([
    ['SUCCEEDED', 'SELECT 1 AS a'],
    ['FAILED', 'SELECT nope'],
  ])('that comes again gives the same execution, even one that is %s', async (state, sql) => {
    const ClientRequestToken = randomUUID();
    const first = await startQuery(sql, { ClientRequestToken });
    expect((await ended(first)).Status?.State).toBe(state);
    expect(await startQuery(sql, { ClientRequestToken })).toBe(first);
  });

  it('that comes again with another query or other parameters is refused', async () => {
    const ClientRequestToken = randomUUID();
    await startQuery('SELECT 1', { ClientRequestToken });
    const others: Record<string, Start> = { 'SELECT 2': {}, 'SELECT 1': { ExecutionParameters: ['1'] } };
    for (const [sql, more] of Object.entries(others))
      await expect(startQuery(sql, { ...more, ClientRequestToken })).rejects.toMatchObject({
        name: 'InvalidRequestException',
        message: 'Idempotent parameters do not match',
        AthenaErrorCode: 'IDEMPOTENT_PARAMETER_MISMATCH',
      });
  });
});

it('a call to read or stop an unknown execution is refused', async () => {
  for (const call of [executionOf, stopQuery])
    await expect(call('00000000-0000-0000-0000-000000000000')).rejects.toMatchObject({
      name: 'InvalidRequestException',
      message: 'QueryExecution 00000000-0000-0000-0000-000000000000 was not found',
      AthenaErrorCode: 'QUERY_EXECUTION_NOT_FOUND',
      $metadata: { httpStatusCode: 400 },
    });
});

it('StopQueryExecution cancels a running query, and the engine is free for the next query', async () => {
  const other = await start({ engine: { ...engine, maxRunning: 1 } });
  const long = await startQuery(LONG_QUERY, {}, other);
  const next = await startQuery('SELECT 1', {}, other);
  const isUnderWay = async () => (await readdir(join(home, 'scratch'))).includes(`${long}.csv`);
  await vi.waitUntil(isUnderWay, { interval: 5, timeout: 60_000 });
  expect((await executionOf(long, other)).Status?.State).toBe('RUNNING');
  await stopQuery(long, other);

  expect((await executionOf(long, other)).Status).toEqual({
    State: 'CANCELLED',
    StateChangeReason: 'Query cancelled by user',
    ...TIMES,
  });
  expect((await ended(next, other)).Status?.State).toBe('SUCCEEDED');
  expect(await readdir(join(home, 'scratch'))).toEqual([]);
});

it('as many queries run as the engine allows; the others are QUEUED: the oldest is next, a stopped one never runs', async () => {
  const { byHand, queries } = engineByHand();
  const other = await start({ engine: byHand });
  const ids: string[] = [];
  for (const sql of ['SELECT 1', 'SELECT 2', 'SELECT 3', 'SELECT 4'])
    ids.push(await startQuery(sql, {}, other));
  const states = async () => {
    const executions = await Promise.all(ids.map((id) => executionOf(id, other)));
    return executions.map(({ Status }) => Status?.State);
  };

  expect(await states()).toEqual(['RUNNING', 'RUNNING', 'QUEUED', 'QUEUED']);
  await stopQuery(String(ids[2]), other);
  queries[1]?.fail(new Error('over'));
  await ended(String(ids[1]), other);
  expect(await states()).toEqual(['RUNNING', 'FAILED', 'CANCELLED', 'RUNNING']);
  expect(queries.map(({ query }) => query.sql)).toEqual(['SELECT 1', 'SELECT 2', 'SELECT 4']);
});

async function admitted(count: number, call: () => Promise<unknown>): Promise<number> {
  const outcomes = await Promise.allSettled(Array.from({ length: count }, call));
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason);
  for (const error of refused)
    expect(error).toMatchObject({ name: 'ThrottlingException', message: 'Rate exceeded' });
  return count - refused.length;
}

it('Athena limits each operation to its own rate, and admits a burst after a quiet time', async () => {
  let clock = 0;
  const other = await start({ engine: engineByHand().byHand, now: () => clock });
  const id = await startQuery('SELECT 1', {}, other);
  const admits = async (starts: number, gets: number) => [
    await admitted(starts, () => startQuery('SELECT 1', {}, other)),
    await admitted(gets, () => executionOf(id, other)),
  ];
  expect(await admits(100, 250)).toEqual([79, 200]);
  expect(await admitted(100, () => stopQuery(id, other))).toBe(80);
  clock += 500;
  expect(await admits(20, 70)).toEqual([10, 50]);
  clock += 3_600_000;
  expect(await admits(0, 250)).toEqual([0, 200]);
});

it('Athena refuses further queries if running and queued queries reach the quota, until one has ended', async () => {
  const { byHand, queries } = engineByHand();
  const other = await start({ engine: byHand, quotas: { activeQueries: 3 } });
  const startAnother = (token: string = randomUUID()) =>
    startQuery('SELECT 1', { ClientRequestToken: token }, other);
  const token = randomUUID();
  const first = await startAnother(token);
  await startAnother();
  await startAnother();
  const refusal = { name: 'TooManyRequestsException', Reason: 'CONCURRENT_QUERY_LIMIT_EXCEEDED' };
  await expect(startAnother()).rejects.toMatchObject(refusal);
  // A known token starts no new query, so Athena does not refuse the call.
  expect(await startAnother(token)).toBe(first);
  queries[0]?.fail(new Error('over'));
  await ended(first, other);
  await startAnother();
  await expect(startAnother()).rejects.toMatchObject(refusal);
});

it('the store of executions keeps the last thousand ended executions, and every running one', async () => {
  const slow = Promise.withResolvers<never>();
  const run = ({ sql }: Query) => (sql === 'slow' ? slow.promise : Promise.reject(new Error('over')));
  const executions = createExecutions(
    { engine: { maxRunning: 2, run }, database, results: { putFile: () => {} }, resultsUri },
    Number.POSITIVE_INFINITY,
    () => 0,
  );
  const startIt = (token: string, sql = 'ends') =>
    executions.start({ token, sql, parameters: [], database, catalog: 'c', workgroup: 'w' });
  const isRemembered = (id: string) => executions.latest(2_000).some((each) => each.id === id);
  const running = startIt('running', 'slow');
  const ended = Array.from({ length: 1_002 }, (_, index) => startIt(`token-${index}`));
  await expect.poll(() => ended.at(-1)?.ended?.state).toBe('FAILED');

  expect(executions.find(running.id)).toBe(running);
  expect(() => executions.find(ended[0]?.id ?? '')).toThrow('was not found');
  expect(startIt('running', 'slow')).toBe(running);
  expect(ended.map(({ id }) => isRemembered(id))).toEqual(ended.map((_, index) => index >= 2));
  expect(startIt('token-0').id).not.toBe(ended[0]?.id);
  expect(executions.latest(2_000)).toHaveLength(1_002);

  // `running` was started first, and ends last.
  slow.reject(new Error('over'));
  await expect.poll(() => running.ended?.state).toBe('FAILED');
  expect(executions.find(running.id)).toBe(running);
});
