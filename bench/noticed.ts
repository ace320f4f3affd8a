import type { AthenaClient, GetQueryExecutionCommandOutput } from '@aws-sdk/client-athena';
import { athenaQueries } from '../lib/aws/athena-queries.ts';
import { deliverReport } from '../lib/delivery/deliver-report.ts';
import type { DeliveryTerms, Wanted } from '../lib/delivery/delivery.ts';
import { FIRST_WAIT_MS, QUERY_WAIT_MS } from '../lib/function-settings.ts';
import { readDataState } from '../lib/lake/data-version.ts';
import { publisherReport } from '../lib/report/catalogue.ts';
import { parseRequest } from '../lib/report/parse-request.ts';
import type { Progress } from '../lib/results/ticket.ts';
import { takeOverTime, type VirtualTime } from '../test/worlds/virtual-time.ts';
import { figure, goal, median, percentile, roundsAtMost, type Section } from './measuring.ts';
import { modelledAthena } from './rush/modelled-athena.ts';
import { modelledS3 } from './rush/modelled-s3.ts';
import { SMALL_RESULT_BYTES } from './rush/workload.ts';

/** How long each call to S3 takes. */
const S3_MS = 25;
/** How long each call to Athena takes. */
const ATHENA_MS = 80;

/** The most calls to Athena for one query. They must be few, because all queries of an account share one quota. */
const MAX_CALLS = 12;

const SECONDS = [0.5, 1, 2, 5, 7, 10, 20, 30, 60];
const SAMPLES = roundsAtMost(200);
const CROWD = 1_000;
const START = Date.UTC(2026, 1, 2, 6);
const LONGEST_QUERY_MS = 600_000;

/** A rate that no call reaches, so that the quotas of an account do not slow the service down. */
const PLENTY = { perSecond: 1e9, burst: 1e9 };
const QUOTAS = {
  s3: { reads: PLENTY, writes: PLENTY },
  athena: { start: PLENTY, get: PLENTY, activeQueries: 1e9, slots: 1e9 },
};

const wantedOf = (placement: number, client: string): Wanted => ({
  request: parseRequest(publisherReport, {
    accept: undefined,
    parameters: {
      requestedFields: ['Day,Clicks'],
      startInclusive: ['2026-01-01T00:00:00Z'],
      endExclusive: ['2026-01-02T00:00:00Z'],
      'filter[PlacementId]': [String(placement)],
      'api-version': ['1.0'],
    },
  }),
  entitlement: 'every-company',
  client,
});

/** What a client loses at the median that asks Athena every second, as PyAthena does: half a round, and the call. */
const EVERY_SECOND_MS = (1_000 + ATHENA_MS) / 2 + ATHENA_MS;

/** A modelled Athena on which every query takes `queryMs`, a modelled S3, and a caller that follows redirects. */
function model(time: VirtualTime, queryMs: number) {
  const s3 = modelledS3(time, QUOTAS, { latency: { readMs: [S3_MS, S3_MS], writeMs: [S3_MS, S3_MS] } });
  const seenFrom: number[] = [];
  const putResult: typeof s3.putResult = (key, bytes) => {
    seenFrom.push(time.now());
    s3.putResult(key, bytes);
  };
  const latency = { callMs: [ATHENA_MS, ATHENA_MS], shownAfterMs: 0 } as const;
  const athena = modelledAthena(
    time,
    QUOTAS,
    { putResult },
    () => ({ queryMs, resultBytes: SMALL_RESULT_BYTES }),
    latency,
  );

  let noticedAt = Number.NaN;
  const client = {
    async send(command: never) {
      const answer = (await athena.client.send(command)) as Partial<GetQueryExecutionCommandOutput>;
      const isOver = answer.QueryExecution?.Status?.State === 'SUCCEEDED';
      if (isOver && Number.isNaN(noticedAt)) noticedAt = time.now();
      return answer;
    },
  } as unknown as AthenaClient;

  /** Resolves to the time at which the caller has its link. */
  const pull = async (wanted: Wanted): Promise<number> => {
    const askedAt = time.now();
    let left: Progress | undefined;
    for (let hop = 0; ; hop++) {
      const began = time.now();
      const waitUntil = began + (hop === 0 ? FIRST_WAIT_MS : QUERY_WAIT_MS);
      const terms: DeliveryTerms = {
        askedAt,
        waitUntil,
        giveUpAt: askedAt + 2 * LONGEST_QUERY_MS,
        publishUntil: askedAt + 3 * LONGEST_QUERY_MS,
        longestQueryMs: LONGEST_QUERY_MS,
        longestQueueMs: LONGEST_QUERY_MS,
        listingMs: 0,
        acceptsGzip: true,
        scanLimit: undefined,
        queriesPerPartner: undefined,
      };
      const until = waitUntil + 2_500;
      const backends = {
        queries: athenaQueries(client, { database: 'reports', workgroup: 'reports' }, until),
        results: s3.results(until),
        lake: s3.lake(until),
      };
      const data =
        left?.waitsFor === 'attempt' ? left.data : await readDataState(backends.lake, wanted.request, 0);
      const delivery = await deliverReport({ backends, wanted, terms, note: () => {} }, data, left);
      if (delivery.state === 'ready') return time.now();
      left = delivery.progress;
    }
  };
  return { s3, athena, pull, seenAt: () => seenFrom[0] as number, noticedAt: () => noticedAt };
}

/**
 * Runs callers in a world of their own. Resolves to the numbers of calls, and for each caller to the time from the
 * moment at which the result is in S3 to the moment at which the caller has its link.
 */
async function waits(seed: number, queryMs: number, joiners: number, joinWithinMs: number) {
  const time = takeOverTime(START, seed);
  const { s3, athena, pull, seenAt, noticedAt } = model(time, queryMs);
  const callers = Array.from({ length: 1 + joiners }, async (_, caller) => {
    if (caller > 0) await time.delay(500 + Math.random() * joinWithinMs);
    return pull(wantedOf(1, `client-${caller}`));
  });
  let isDone = false;
  const all = Promise.all(callers).then((doneAt) => {
    isDone = true;
    return doneAt.map((at) => at - seenAt());
  });
  await time.run(() => isDone);
  const [leadMs = 0, ...joinedMs] = await all;
  const calls = (name: string) => (s3.calls.get(name) ?? 0) + (athena.calls.get(name) ?? 0);
  const reads = calls('GetObject') + calls('HeadObject');
  return { leadMs, joinedMs, lostMs: noticedAt() - seenAt(), reads, asks: calls('GetQueryExecution') };
}

async function measureQuery(seconds: number) {
  const queryMs = 1_000 * seconds;
  const leads: number[] = [];
  const joined: number[] = [];
  const lost: number[] = [];
  let asks = 0;
  for (let sample = 0; sample < SAMPLES; sample++) {
    // The queries differ in length, so that they end at any moment between two polls.
    const lasts = queryMs * (0.95 + (0.1 * sample) / SAMPLES);
    const one = await waits(sample + 1, lasts, 1, Math.max(0, lasts - 600));
    leads.push(one.leadMs);
    joined.push(...one.joinedMs);
    lost.push(one.lostMs);
    asks = Math.max(asks, one.asks);
  }
  const crowd = await waits(SAMPLES + 1, queryMs, CROWD, 200);
  return {
    seconds,
    leadMs: percentile(leads, 95),
    joinedMs: percentile(joined, 95),
    asks,
    lostMs: median(lost),
    readsPerSecond: crowd.reads / (seconds + 1),
    leadGoalMs: Math.max(250, 0.05 * queryMs),
    joinedGoalMs: Math.max(400, 0.08 * queryMs),
  };
}

export async function measure(): Promise<Section> {
  const rows: Awaited<ReturnType<typeof measureQuery>>[] = [];
  for (const seconds of SECONDS) rows.push(await measureQuery(seconds));
  const goalAt = (
    what: string,
    words: string,
    isMissed: (row: (typeof rows)[number]) => boolean,
    take?: string,
  ) => {
    const found = rows.filter(isMissed).map(({ seconds }) => `${seconds} s`);
    const isMet = found.length === 0;
    return goal(what, isMet ? `${words}: all` : `missed at ${found.join(', ')}`, isMet, take);
  };
  return {
    title: 'How soon a report is noticed',
    table: [
      [
        ...['query, s', 'who asks, ms (goal)', 'who joined, ms (goal)', 'notices the end, ms'],
        ...['calls of `GetQueryExecution`', 'reads of S3 a second'],
      ],
      ...rows.map((row) => [
        figure(row.seconds),
        `${figure(row.leadMs)} (${figure(row.leadGoalMs)})`,
        `${figure(row.joinedMs)} (${figure(row.joinedGoalMs)})`,
        ...[figure(row.lostMs), figure(row.asks), figure(row.readsPerSecond)],
      ]),
    ],
    goals: [
      goalAt(
        'who asks has the report within 250 ms or 5 % of the query',
        'within',
        ({ leadMs, leadGoalMs }) => leadMs > leadGoalMs,
      ),
      goalAt(
        'who joined has it within 400 ms or 8 %',
        'within',
        ({ joinedMs, joinedGoalMs }) => joinedMs > joinedGoalMs,
        'reads of the record that stay as frequent however long a query has run',
      ),
      goalAt(
        'the end is noticed within a third of what asking every second loses',
        'within',
        ({ lostMs }) => lostMs > EVERY_SECOND_MS / 3,
        'looks at S3 that stay as frequent however long a query has run',
      ),
      goal(
        `at most ${MAX_CALLS} calls of Athena a query`,
        figure(Math.max(...rows.map(({ asks }) => asks))),
        rows.every(({ asks }) => asks <= MAX_CALLS),
      ),
      goalAt(
        `${figure(CROWD)} who joined make fewer than 2,000 reads of S3 a second`,
        'fewer',
        ({ readsPerSecond }) => readsPerSecond >= 2_000,
        'looks that grow rarer with the number of callers, which no caller knows',
      ),
    ],
  };
}
