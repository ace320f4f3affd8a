/**
 * Time lost between a query's end and the moment it is noticed: ours beside the fixed second of common Athena
 * clients, for the same executions of the one-machine Athena, in one run.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AthenaClient } from '@aws-sdk/client-athena';
import { type Execution, type QueryService, queryService } from '../lib/delivery/query-execution.ts';
import { waitForQuery } from '../lib/delivery/wait-for-query.ts';
import { duckDbOn } from '../local/athena/duckdb-engine.ts';
import { writeEvents } from '../local/events/write-events.ts';
import { startStack } from '../local/stack.ts';
import { percentile } from './percentile.ts';

const SECONDS = [0.5, 2, 8, 20, 30];
const SAMPLES = 60;
/** Queries end at any moment between two polls. */
const SPREAD = 0.2;

async function everySecond(queries: QueryService, execution: Execution): Promise<Execution> {
  let latest = execution;
  while (latest.state === 'under-way') {
    await delay(1_000);
    latest = (await queries.get(latest.id)) ?? latest;
  }
  return latest;
}

const home = await mkdtemp(join(tmpdir(), 'waiting-'));
const eventsDirectory = join(home, 'events');
for (const table of ['publisher_events', 'advertiser_events'])
  await writeEvents(eventsDirectory, table, [{ event_time: '2026-01-01T00:00:00.000Z' }]);
const stack = await startStack({
  openEngine: duckDbOn(eventsDirectory),
  directory: join(home, 'run'),
  port: 0,
});
const athena = new AthenaClient({
  endpoint: stack.athenaUrl,
  region: 'us-east-1',
  credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
});
const queries = queryService(athena, { database: 'performance_reports', workgroup: 'performance-reports' });

process.stdout.write(
  '| query, s | lost, ms: median | p95 | of the query, p95 | calls | every second: lost, median | p95 | ours / theirs |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n',
);
for (const seconds of SECONDS) {
  const samples = Array.from({ length: SAMPLES }, (_, index) => ({
    marker: `sample ${seconds} ${index}.`,
    ms: Math.round(seconds * 1_000 * (1 - SPREAD / 2 + (SPREAD * index) / SAMPLES)),
  }));
  stack.faults.set([
    ...samples.map(({ marker, ms }) => ({ on: 'query' as const, match: marker, queuedMs: ms })),
    { on: 'athena', match: 'GetQueryExecution' },
  ]);
  const lost = await Promise.all(
    samples.map(async ({ marker, ms }, index) => {
      // Not all at once: a loaded machine would be measured instead.
      await delay(index * 20);
      const id = await queries.start(
        { sql: `SELECT '${marker}'`, parameters: [] },
        marker.padEnd(40, 'x') + process.pid,
      );
      const execution = await queries.get(id);
      if (!execution) throw new Error('the query is gone');
      let calls = 0;
      const counting: QueryService = {
        ...queries,
        get: (asked) => {
          calls += 1;
          return queries.get(asked);
        },
      };
      const watch = async (wait: Promise<Execution>) => {
        const { completedAt } = await wait;
        return Date.now() - completedAt;
      };
      const [ours, theirs] = await Promise.all([
        watch(waitForQuery(counting, execution, Number.POSITIVE_INFINITY)),
        watch(everySecond(queries, execution)),
      ]);
      return { ours, theirs, share: ours / ms, calls };
    }),
  );
  const of = (name: 'ours' | 'theirs' | 'share' | 'calls', p: number) =>
    percentile(
      lost.map((entry) => entry[name]),
      p,
    );
  process.stdout.write(
    `| ${seconds} | ${of('ours', 50)} | ${of('ours', 95)} | ${(of('share', 95) * 100).toFixed(1)} % | ${of('calls', 50)} | ${of('theirs', 50)} | ${of('theirs', 95)} | ${(of('ours', 50) / of('theirs', 50)).toFixed(2)}x |\n`,
  );
}
await stack.close();
await rm(home, { recursive: true, force: true });
