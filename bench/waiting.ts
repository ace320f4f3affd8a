import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AthenaClient } from '@aws-sdk/client-athena';
import { type Execution, type QueryService, queryService } from '../lib/aws/query-execution.ts';
import { waitForQuery } from '../lib/delivery/wait-for-query.ts';
import { duckDbOn } from '../local/athena/duckdb-engine.ts';
import { startStack } from '../local/stack.ts';
import { sampleEvents } from './report-stack.ts';
import type { Section } from './section.ts';
import { figure, median, percentile, times } from './statistics.ts';

const SECONDS = [0.5, 2, 8, 30];
const SAMPLES = 60;
/** Queries end at any moment between two polls. */
const SPREAD = 0.2;
/** Not all start at once: a loaded machine would be measured instead. */
const STAGGER_MS = 60;

/** As PyAthena asks unless told otherwise. */
async function everySecond(queries: QueryService, execution: Execution): Promise<Execution> {
  let latest = execution;
  while (latest.state === 'under-way') {
    await delay(1_000);
    latest = (await queries.get(latest.id)) ?? latest;
  }
  return latest;
}

interface Sample {
  readonly oursMs: number;
  readonly theirsMs: number;
  /** Of the query's own time, what ours loses. */
  readonly share: number;
  readonly calls: number;
}

/** Two waits for one execution, each timed from the query's end to the moment it is noticed. */
async function waitTwice(queries: QueryService, marker: string, queryMs: number): Promise<Sample> {
  const id = await queries.start(
    { sql: `SELECT '${marker}'`, parameters: [] },
    `${marker.padEnd(40, 'x')}${process.pid}`,
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
  const lost = async (wait: Promise<Execution>) => {
    const { completedAt } = await wait;
    return Date.now() - completedAt;
  };
  const [oursMs, theirsMs] = await Promise.all([
    lost(waitForQuery(counting, execution, Number.POSITIVE_INFINITY)),
    lost(everySecond(queries, execution)),
  ]);
  return { oursMs, theirsMs, share: oursMs / queryMs, calls };
}

export async function measure(): Promise<Section> {
  const home = await mkdtemp(join(tmpdir(), 'bench-'));
  const stack = await startStack({
    openEngine: duckDbOn(await sampleEvents(1_000_000)),
    directory: join(home, 'run'),
    port: 0,
    // What is measured is the service, not the account.
    athenaQuotas: false,
  });
  const athena = new AthenaClient({
    endpoint: stack.athenaUrl,
    region: 'us-east-1',
    credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
  });
  const queries = queryService(athena, { database: 'performance_reports', workgroup: 'performance-reports' });

  const rows: string[][] = [];
  const ratios: number[] = [];
  for (const seconds of SECONDS) {
    const planned = Array.from({ length: SAMPLES }, (_, index) => ({
      marker: `sample ${seconds} ${index}.`,
      ms: Math.round(seconds * 1_000 * (1 - SPREAD / 2 + (SPREAD * index) / SAMPLES)),
    }));
    stack.faults.set(planned.map(({ marker, ms }) => ({ on: 'query', match: marker, queuedMs: ms })));
    const samples = await Promise.all(
      planned.map(async ({ marker, ms }, index) => {
        await delay(index * STAGGER_MS);
        return waitTwice(queries, marker, ms);
      }),
    );
    const ours = samples.map(({ oursMs }) => oursMs);
    const theirs = samples.map(({ theirsMs }) => theirsMs);
    const ratio = median(ours) / median(theirs);
    ratios.push(ratio);
    rows.push([
      `${seconds} s`,
      figure(median(ours)),
      figure(percentile(ours, 95)),
      `${figure(
        100 *
          percentile(
            samples.map(({ share }) => share),
            95,
          ),
      )} %`,
      String(median(samples.map(({ calls }) => calls))),
      figure(median(theirs)),
      figure(percentile(theirs, 95)),
      times(ratio),
    ]);
  }
  await stack.close();
  await rm(home, { recursive: true, force: true });

  const worst = Math.max(...ratios);
  return {
    title: 'Waiting',
    method:
      'From the end of a query to the moment that it is noticed, beside a client that asks every second, for the same ' +
      `queries: ${SAMPLES} of each length, which varies by a tenth either way.`,
    table: [
      [
        'query',
        'lost, ms',
        'p95',
        'of the query, p95',
        'calls',
        'every second: lost, ms',
        'p95',
        'ours / theirs',
      ],
      ...rows,
    ],
    goals: [
      { goal: 'at most a third of what a fixed second loses', measured: times(worst), isMet: worst <= 1 / 3 },
    ],
  };
}
