import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AthenaClient } from '@aws-sdk/client-athena';
import { S3Client } from '@aws-sdk/client-s3';
import { athenaQueries } from '../lib/aws/athena-queries.ts';
import { s3ResultsBucket } from '../lib/aws/results-bucket.ts';
import type { Execution, QueryService } from '../lib/delivery/execution.ts';
import { watchExecution } from '../lib/delivery/watch.ts';
import type { ResultsBucket } from '../lib/results/results-bucket.ts';
import { duckDbOn } from '../local/athena/duckdb-engine.ts';
import { startStack } from '../local/stack.ts';
import { sampleEvents } from './report-stack.ts';
import type { Section } from './section.ts';
import { figure, median, percentile, times } from './statistics.ts';

const SECONDS = [0.5, 2, 8, 30];
const SAMPLES = 60;
/** The times of the queries vary by this share, so that queries end at any moment between two polls. */
const SPREAD = 0.2;
/** Queries start one after another, this far apart. If all started at once, the machine's load would be measured. */
const STAGGER_MS = 60;
/** The most calls to Athena for one query. They must be few, because all queries of an account share one quota. */
const MAX_CALLS = 12;
const FOREVER = Number.POSITIVE_INFINITY;

/** Asks every second whether the query has ended, as PyAthena does by default. */
async function everySecond(queries: QueryService, id: string): Promise<Execution> {
  for (;;) {
    const execution = await queries.get(id);
    if (execution.state !== 'under-way') return execution;
    await delay(1_000);
  }
}

interface Sample {
  readonly oursMs: number;
  readonly theirsMs: number;
  /** The time from the query's end until our wait notices it, as a share of the query's own time. */
  readonly share: number;
  /** The number of calls to Athena in our wait. */
  readonly ourCalls: number;
  readonly theirCalls: number;
}

/** Waits twice for one execution. Each wait is timed from the query's end to the moment at which the end is noticed. */
async function waitTwice(
  { queries, results }: { readonly queries: QueryService; readonly results: ResultsBucket },
  marker: string,
  queryMs: number,
): Promise<Sample> {
  const id = await queries.start(
    { sql: `SELECT '${marker}'`, parameters: [] },
    `${marker.padEnd(40, 'x')}${process.pid}`,
  );
  if (id === undefined) throw new Error('the token belongs to another query');
  const timed = async (wait: (counting: QueryService) => Promise<Execution>) => {
    let calls = 0;
    const execution = await wait({
      ...queries,
      get: (asked) => {
        calls += 1;
        return queries.get(asked);
      },
    });
    if (!('completedAt' in execution)) throw new Error('the query has not ended');
    return { lostMs: Date.now() - execution.completedAt, calls };
  };
  const terms = { waitUntil: FOREVER, giveUpAt: FOREVER, longestQueryMs: FOREVER, longestQueueMs: FOREVER };
  const attempt = { form: 2, writer: '', attempt: '', attempts: 1, isRetry: false, fingerprint: '' } as const;
  const record = { state: 'under-way', ...attempt, executionId: id, elapsedMs: 0 } as const;
  const [ours, theirs] = await Promise.all([
    timed(async (counting) => {
      const { execution } = await watchExecution(
        { queries: counting, results },
        terms,
        record,
        false,
        () => true,
      );
      if (!execution) throw new Error('Athena has not answered');
      return execution;
    }),
    timed((counting) => everySecond(counting, id)),
  ]);
  return {
    oursMs: ours.lostMs,
    theirsMs: theirs.lostMs,
    share: ours.lostMs / queryMs,
    ourCalls: ours.calls,
    theirCalls: theirs.calls,
  };
}

export async function measure(): Promise<Section> {
  const home = await mkdtemp(join(tmpdir(), 'bench-'));
  const stack = await startStack({
    openEngine: duckDbOn(await sampleEvents(1_000_000)),
    directory: join(home, 'run'),
    port: 0,
    // Athena's quotas are off, so that they do not slow the waits down.
    athenaQuotas: false,
  });
  const athena = new AthenaClient({
    endpoint: stack.athenaUrl,
    region: 'us-east-1',
    credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
  });
  const s3 = new S3Client({
    endpoint: stack.storageUrl,
    region: 'us-east-1',
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
  });
  const names = { database: 'performance_reports', workgroup: 'performance-reports' };
  const backends = {
    queries: athenaQueries(athena, names, FOREVER),
    results: s3ResultsBucket(s3, 'performance-reports-results', FOREVER),
  };

  const rows: string[][] = [];
  const ratios: number[] = [];
  let mostCalls = 0;
  for (const seconds of SECONDS) {
    const planned = Array.from({ length: SAMPLES }, (_, index) => ({
      marker: `sample ${seconds} ${index}.`,
      ms: Math.round(seconds * 1_000 * (1 - SPREAD / 2 + (SPREAD * index) / SAMPLES)),
    }));
    stack.faults.set(planned.map(({ marker, ms }) => ({ on: 'query', match: marker, queuedMs: ms })));
    const samples = await Promise.all(
      planned.map(async ({ marker, ms }, index) => {
        await delay(index * STAGGER_MS);
        return waitTwice(backends, marker, ms);
      }),
    );
    const ours = samples.map(({ oursMs }) => oursMs);
    const theirs = samples.map(({ theirsMs }) => theirsMs);
    const ratio = median(ours) / median(theirs);
    ratios.push(ratio);
    const calls = samples.map(({ ourCalls }) => ourCalls);
    mostCalls = Math.max(mostCalls, ...calls);
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
      `${median(calls)} (${Math.max(...calls)})`,
      figure(median(theirs)),
      figure(percentile(theirs, 95)),
      String(median(samples.map(({ theirCalls }) => theirCalls))),
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
        'calls of Athena (most)',
        'every second: lost, ms',
        'p95',
        'calls of Athena',
        'ours / theirs',
      ],
      ...rows,
    ],
    goals: [
      { goal: 'at most a third of what a fixed second loses', measured: times(worst), isMet: worst <= 1 / 3 },
      {
        goal: `at most ${MAX_CALLS} calls of Athena a query`,
        measured: String(mostCalls),
        isMet: mostCalls <= MAX_CALLS,
      },
    ],
  };
}
