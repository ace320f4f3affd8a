import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { PARTITION_COLUMN, tables } from '../../lib/report/tables.ts';
import { type Query, QueryScanLimitExceeded } from '../../local/athena/query-engine.ts';
import { serve } from '../../local/serve.ts';
import { clusterOf, type TrinoCluster, trinoOn } from '../../local/trino/trino-engine.ts';
import { ownFolder } from '../own-folder.ts';

const home = await ownFolder();

/**
 * Starts a coordinator that gives these answers in order. An answer is a page as JSON, or a status. In a page, @ is the
 * coordinator's address.
 */
async function coordinator(...answers: (string | number)[]) {
  const calls: IncomingMessage[] = [];
  const { url, close } = await serve(async (request, response) => {
    calls.push(request);
    await text(request);
    const answer = request.method === 'DELETE' ? 204 : (answers.shift() ?? 500);
    const [, status, location] = /^(\d{3}) (.*)/.exec(String(answer)) ?? [];
    if (location) response.writeHead(Number(status), { location }).end();
    else if (typeof answer === 'number') response.writeHead(answer).end('no more');
    else response.end(answer.replaceAll('@', url));
  });
  onTestFinished(close);
  return { calls, url };
}

/** The coordinator's answers to the check of the tables, which the engine makes at its start. */
const checked = (changed: Record<string, string> = {}): string[] =>
  tables.map((table) => {
    const columns = [...table.columns, { name: PARTITION_COLUMN, type: 'varchar' }].map(({ name, type }) => ({
      name,
      type: changed[name] ?? type.replace(',', ', '),
    }));
    return JSON.stringify({ columns, stats: {} });
  });

async function open(url: string, env: Record<string, string> = {}, more: Partial<TrinoCluster> = {}) {
  const scratchDirectory = await mkdtemp(join(home, 'scratch-'));
  const cluster = clusterOf({ TRINO_URL: url, ...env });
  if (!cluster) throw new Error('no cluster');
  const database = 'performance_reports';
  const engine = await trinoOn({ ...cluster, ...more })({ database, scratchDirectory });
  const run = (sql: string, more: Partial<Query> = {}) =>
    engine.run({ id: 'one', sql, parameters: [], signal: new AbortController().signal, ...more });
  return { run, scratchDirectory };
}

it('the Trino engine writes pages as Athena’s CSV while they arrive, and keeps all digits of numbers', async () => {
  const columns = '"columns":[{"name":"Text","type":"varchar"},{"name":"n","type":"bigint"}]';
  const { url, calls } = await coordinator(
    ...checked(),
    '{"nextUri":"@/next/1","stats":{"state":"QUEUED"}}',
    `{"nextUri":"@/next/2",${columns},"stats":{}}`,
    503,
    `{"nextUri":"@/next/3",${columns},"data":[["say \\"hi\\"\\n",9007199254740993],["",null]],"stats":{}}`,
    `{${columns},"data":[[null,-1]],"stats":{"physicalInputBytes":4711}}`,
  );
  const env = { TRINO_USER: 'me', TRINO_CATALOG: 'lake', TRINO_SCHEMA: 'ads' };
  const { run } = await open(url, env, { password: 'secret' });
  const { csvPath, ...figures } = await run('SELECT 1');
  expect(figures).toEqual({ bytesScanned: 4711 });
  expect(await readFile(csvPath, 'utf8')).toBe('"Text","n"\n"say ""hi""\n","9007199254740993"\n"",\n,"-1"\n');
  const pages = ['/next/1', '/next/2', '/next/2', '/next/3'].map((path) => `GET ${path}`);
  const asked = calls.slice(tables.length).map(({ method, url }) => `${method} ${url}`);
  expect(asked).toEqual(['POST /v1/statement', ...pages]);
  expect(calls[0]?.headers).toMatchObject({
    'x-trino-user': 'me',
    'x-trino-catalog': 'lake',
    'x-trino-schema': 'ads',
    'x-trino-time-zone': 'UTC',
    authorization: `Basic ${Buffer.from('me:secret').toString('base64')}`,
  });
});

it.each([
  ['HIVE_BAD_DATA', 'EXTERNAL', { category: 1, type: 200, retryable: false }],
  ['EXCEEDED_LOCAL_MEMORY_LIMIT', 'INSUFFICIENT_RESOURCES', { category: 1, type: 0, retryable: true }],
  ['NO_NODES_AVAILABLE', 'INTERNAL_ERROR', { category: 1, type: 200, retryable: true }],
])('the Trino engine reports %s as Athena reports such an error', async (errorName, errorType, failure) => {
  const error = { message: 'line 1:1: no\nmore', errorCode: 1, errorName, errorType };
  const { url } = await coordinator(...checked(), JSON.stringify({ stats: {}, error }));
  const { run, scratchDirectory } = await open(url);
  await expect(run('SELECT 1')).rejects.toMatchObject({ message: `${errorName}: line 1:1: no`, ...failure });
  expect(await readdir(scratchDirectory)).toEqual([]);
});

it('the Trino engine reports an exceeded scan limit as Athena does, with the scanned bytes', async () => {
  const error = { message: 'too much', errorName: 'EXCEEDED_SCAN_LIMIT', errorType: 'USER_ERROR' };
  const stats = { physicalInputBytes: 99 };
  const { url } = await coordinator(...checked(), JSON.stringify({ stats, error }));
  await expect((await open(url)).run('SELECT 1')).rejects.toEqual(new QueryScanLimitExceeded(99));
});

it('the Trino engine runs no statement that could change the cluster', async () => {
  const { url, calls } = await coordinator(...checked());
  const { run } = await open(url);
  for (const sql of ['DROP TABLE a', 'INSERT INTO a SELECT 1', 'CALL system.x()', '/**/ DROP TABLE a'])
    await expect(run(sql)).rejects.toMatchObject({ category: 2, type: 1006 });
  expect(calls).toHaveLength(tables.length);
});

it.each<[string, (string | number)[], string]>([
  [
    'holds money as another type',
    checked({ revenue: 'double' }),
    'publisher_events holds revenue as double; the data contract has decimal(18,6).',
  ],
  ['answers 401', [401], "can't be asked: Trino answers 401 no more"],
])('the Trino engine refuses, in one line, a cluster that %s', async (_, answers, message) => {
  const { url } = await coordinator(...answers);
  const fault = { name: 'OperatorFault', message: expect.stringContaining(message) };
  await expect(open(url)).rejects.toMatchObject(fault);
});

it('the Trino engine refuses a TRINO_URL that is no URL of HTTP, and a password without TLS', () => {
  for (const url of ['trino:8080', 'trino', 'ftp://trino'])
    expect(() => clusterOf({ TRINO_URL: url })).toThrow('is no address');
  expect(clusterOf({})).toBeUndefined();
  for (const url of ['http://trino:8080', 'HTTP://trino'])
    expect(() => clusterOf({ TRINO_URL: url, TRINO_PASSWORD: 'secret' })).toThrow('without TLS');
  const safe = clusterOf({ TRINO_URL: 'https://trino', TRINO_PASSWORD: 'secret' });
  expect(safe).toMatchObject({ password: 'secret' });
});

it('the Trino engine sends its password to no other address, also not by a redirect', async () => {
  const other = await coordinator('{"stats":{}}');
  const refusals = {
    [`{"nextUri":"${other.url}/next/1","stats":{}}`]: `leads to ${other.url}, which must not get the`,
    [`307 ${other.url}/v1/statement`]: 'Trino answers 307',
  };
  for (const [answer, refusal] of Object.entries(refusals)) {
    const { run } = await open((await coordinator(...checked(), answer)).url, {}, { password: 'secret' });
    await expect(run('SELECT 1')).rejects.toThrow(refusal);
  }
  expect(other.calls).toEqual([]);
});
