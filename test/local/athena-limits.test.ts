import { randomUUID } from 'node:crypto';
import {
  AthenaClient,
  GetQueryExecutionCommand,
  StartQueryExecutionCommand,
  StopQueryExecutionCommand,
} from '@aws-sdk/client-athena';
import { expect, it, onTestFinished } from 'vitest';
import { type AthenaOptions, startAthena } from '../../local/athena/athena.ts';
import { createExecutions } from '../../local/athena/executions.ts';
import type { Query } from '../../local/athena/query-engine.ts';

const aws = { region: 'us-east-1', credentials: { accessKeyId: 'x', secretAccessKey: 'x' }, maxAttempts: 1 };

const results = { putFile: () => {} };

/** Starts the stand-in of Athena on an engine whose queries run until the test lets them fail. */
async function start(options: Partial<AthenaOptions> = {}) {
  const running: { finish: () => void }[] = [];
  let clock = 0;
  const athena = await startAthena({
    engine: {
      maxRunning: 2,
      run: (query) =>
        new Promise((_, reject) => {
          const finish = () => reject(new Error('finished'));
          running.push({ finish });
          query.signal.addEventListener('abort', finish);
        }),
    },
    results,
    resultsUri: 's3://results/',
    database: 'reports',
    workgroup: 'reports',
    now: () => clock,
    ...options,
  });
  const client = new AthenaClient({ ...aws, endpoint: athena.url });
  onTestFinished(async () => {
    await athena.close();
    client.destroy();
  });
  const startQuery = async (ClientRequestToken: string = randomUUID()) => {
    const context = { QueryExecutionContext: { Database: 'reports' }, WorkGroup: 'reports' };
    const command = new StartQueryExecutionCommand({
      QueryString: 'SELECT 1',
      ClientRequestToken,
      ...context,
    });
    return (await client.send(command)).QueryExecutionId as string;
  };
  const get = (QueryExecutionId: string) => client.send(new GetQueryExecutionCommand({ QueryExecutionId }));
  return { client, startQuery, get, running, pass: (ms: number) => (clock += ms) };
}

/** The number of admitted calls among `count` simultaneous calls. */
async function admitted(count: number, call: () => Promise<unknown>): Promise<number> {
  const outcomes = await Promise.allSettled(Array.from({ length: count }, call));
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason);
  for (const error of refused)
    expect(error).toMatchObject({ name: 'ThrottlingException', message: 'Rate exceeded' });
  return count - refused.length;
}

it('Athena limits each operation to its own rate, and admits a burst after a quiet time', async () => {
  const { startQuery, get, client, pass } = await start();
  const id = await startQuery();
  expect(await admitted(100, () => startQuery())).toBe(79);
  expect(await admitted(250, () => get(id))).toBe(200);
  const stop = () => client.send(new StopQueryExecutionCommand({ QueryExecutionId: id }));
  expect(await admitted(100, stop)).toBe(80);
  pass(500);
  expect(await admitted(20, () => startQuery())).toBe(10);
  expect(await admitted(70, () => get(id))).toBe(50);
  pass(3_600_000);
  expect(await admitted(250, () => get(id))).toBe(200);
});

it('Athena refuses further queries if running and queued queries reach the quota, until one has ended', async () => {
  const { startQuery, get, running } = await start({ quotas: { activeQueries: 3 } });
  const token = randomUUID();
  const first = await startQuery(token);
  await startQuery();
  await startQuery();
  await expect(startQuery()).rejects.toMatchObject({
    name: 'TooManyRequestsException',
    Reason: 'CONCURRENT_QUERY_LIMIT_EXCEEDED',
  });
  // A known token starts no new query, so Athena does not refuse the call.
  expect(await startQuery(token)).toBe(first);
  running[0]?.finish();
  await expect.poll(async () => (await get(first)).QueryExecution?.Status?.State).toBe('FAILED');
  await startQuery();
  await expect(startQuery()).rejects.toMatchObject({ name: 'TooManyRequestsException' });
});

it('the store of executions keeps the last thousand ended executions, and every running one', async () => {
  const slow = Promise.withResolvers<never>();
  const run = ({ sql }: Query) => (sql === 'slow' ? slow.promise : Promise.reject(new Error('over')));
  const executions = createExecutions(
    { engine: { maxRunning: 2, run }, database: 'reports', results, resultsUri: 's3://results/' },
    Number.POSITIVE_INFINITY,
    () => 0,
  );
  const start = (token: string, sql = 'ends') =>
    executions.start({ token, sql, parameters: [], database: 'reports', catalog: 'c', workgroup: 'w' });
  const isRemembered = (id: string) => executions.latest(2_000).some((each) => each.id === id);
  const running = start('running', 'slow');
  const ended = Array.from({ length: 1_002 }, (_, index) => start(`token-${index}`));
  await expect.poll(() => ended.at(-1)?.ended?.state).toBe('FAILED');

  expect(executions.find(running.id)).toBe(running);
  expect(() => executions.find(ended[0]?.id ?? '')).toThrow('was not found');
  expect(start('running', 'slow')).toBe(running);
  expect(ended.map(({ id }) => isRemembered(id))).toEqual(ended.map((_, index) => index >= 2));
  expect(start('token-0').id).not.toBe(ended[0]?.id);
  expect(executions.latest(2_000)).toHaveLength(1_002);

  // `running` was started first, and ends last.
  slow.reject(new Error('over'));
  await expect.poll(() => running.ended?.state).toBe('FAILED');
  expect(executions.find(running.id)).toBe(running);
});
