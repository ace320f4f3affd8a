import { randomUUID } from 'node:crypto';
import {
  AthenaClient,
  GetQueryExecutionCommand,
  StartQueryExecutionCommand,
  StopQueryExecutionCommand,
} from '@aws-sdk/client-athena';
import { expect, it, onTestFinished } from 'vitest';
import { type AthenaOptions, startAthena } from '../../local/athena/athena.ts';

const aws = { region: 'us-east-1', credentials: { accessKeyId: 'x', secretAccessKey: 'x' }, maxAttempts: 1 };

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
    results: { putFile: () => {} },
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
