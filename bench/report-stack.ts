import { strictEqual } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AthenaClient, GetQueryExecutionCommand, ListQueryExecutionsCommand } from '@aws-sdk/client-athena';
import { advertiserReport, publisherReport } from '../lib/report/catalogue.ts';
import { utcDay } from '../lib/report/utc-time.ts';
import { accessToken } from '../local/access-token.ts';
import { duckDbOn } from '../local/athena/duckdb-engine.ts';
import { makeSampleEvents } from '../local/events/sample-events.ts';
import { type Stack, startStack } from '../local/stack.ts';
import { recordsAtMost } from './measuring.ts';
import { pathOf, type Question } from './questions.ts';

/** What Athena reports about a query. */
export interface QueryFigures {
  /** In milliseconds since 1970. */
  readonly submittedAt: number;
  readonly completedAt: number;
  readonly bytesScanned: number;
  readonly engineMs: number;
  /** The time of the query, with its time in the queue and the writing of its result. */
  readonly totalMs: number;
}

/** The one-machine stack, and a client with a good token. */
export interface ReportStack extends AsyncDisposable {
  readonly stack: Stack;
  /** The client's `Authorization` header. */
  readonly authorization: string;
  /** Requests a report until the 303, and follows no redirect. On a busy machine, `url` is of the waiting room. */
  ask(question: Question): Promise<{ readonly ms: number; readonly url: URL }>;
  /** Sends new and repeated requests until compilers and caches are warm. */
  warmUp(): Promise<void>;
  latestQuery(): Promise<QueryFigures>;
}

/** The sample events of January and February 2026. They are kept, because making 50 million takes half a minute. */
export const sampleEvents = (publisherRecords: number, advertiserRecords = 1_000): Promise<string> =>
  makeSampleEvents({
    directory: join(import.meta.dirname, '..', '.local', 'events'),
    recordsOf: {
      [publisherReport.table]: recordsAtMost(publisherRecords),
      [advertiserReport.table]: recordsAtMost(advertiserRecords),
    },
    // The awkward texts need quotes, which cost a CSV writer more time.
    hasAwkwardTexts: true,
  });

const WARM_UP_REQUESTS = 50;

export async function openReportStack(eventsDirectory: string): Promise<ReportStack> {
  const home = await mkdtemp(join(tmpdir(), 'bench-'));
  const stack = await startStack({
    openEngine: duckDbOn(eventsDirectory),
    eventsDirectory,
    directory: join(home, 'run'),
    port: 0,
    // Athena's quotas are off, so that they do not slow the service down.
    athenaQuotas: false,
    functionEnv: { POWERTOOLS_LOG_LEVEL: 'SILENT' },
  });
  const authorization = `Bearer ${await accessToken(stack)}`;
  const headers = { Authorization: authorization, Accept: 'text/csv' };
  const ask = async (question: Question) => {
    const from = performance.now();
    const response = await fetch(`${stack.apiUrl}${pathOf(question)}`, { redirect: 'manual', headers });
    await response.arrayBuffer();
    const ms = performance.now() - from;
    strictEqual(response.status, 303);
    return { ms, url: new URL(String(response.headers.get('location')), stack.apiUrl) };
  };
  const athena = new AthenaClient({
    endpoint: stack.athenaUrl,
    region: 'us-east-1',
    credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
  });
  return {
    stack,
    authorization,
    ask,
    async warmUp() {
      for (let index = 0; index < WARM_UP_REQUESTS; index++) {
        const firstDay = utcDay(Date.UTC(2026, 0, 1 + index));
        for (const _time of ['first', 'again'])
          await ask({ report: publisherReport, fields: ['Clicks'], firstDay, days: 1 });
      }
    },
    async latestQuery() {
      const { QueryExecutionIds: [id] = [] } = await athena.send(new ListQueryExecutionsCommand({}));
      const { QueryExecution } = await athena.send(new GetQueryExecutionCommand({ QueryExecutionId: id }));
      const { DataScannedInBytes, EngineExecutionTimeInMillis, TotalExecutionTimeInMillis } =
        QueryExecution?.Statistics ?? {};
      return {
        submittedAt: QueryExecution?.Status?.SubmissionDateTime?.getTime() ?? Number.NaN,
        completedAt: QueryExecution?.Status?.CompletionDateTime?.getTime() ?? Number.NaN,
        bytesScanned: DataScannedInBytes ?? Number.NaN,
        engineMs: EngineExecutionTimeInMillis ?? Number.NaN,
        totalMs: TotalExecutionTimeInMillis ?? Number.NaN,
      };
    },
    async [Symbol.asyncDispose]() {
      await stack.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}
