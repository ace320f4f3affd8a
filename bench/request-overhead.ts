import { strictEqual } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RESULTS_PREFIX } from '../lib/names.ts';
import { publisherReport } from '../lib/report/catalogue.ts';
import { openDuckDb } from '../local/athena/duckdb-engine.ts';
import type { Faults } from '../local/faults/faults.ts';
import { linesOf, openBaselineDuckDb } from './baseline-duckdb.ts';
import { daysOf, ordersOf, pathOf, type Question, sqlOf } from './questions.ts';
import { openReportStack, sampleEvents } from './report-stack.ts';
import type { Section } from './section.ts';
import { figure, median, medianRatio, times } from './statistics.ts';

const RECORDS = 50_000_000;
const ROUNDS = 20;
const DIMENSIONS = ['Day', 'DeviceOrProxy'];
const METRICS = ['ServedAds', 'Opens', 'Clicks', 'Revenue'];

const questionWith = (metrics: readonly string[]): Question => ({
  report: publisherReport,
  fields: [...DIMENSIONS, ...metrics],
  firstDay: '2026-01-01',
  days: 31,
});

/** The stack's engine without the service. `ms` resolves to the time of a query that nobody polls. */
async function openEngine(eventsDirectory: string) {
  const scratchDirectory = await mkdtemp(join(tmpdir(), 'bench-'));
  const engine = await openDuckDb({ eventsDirectory, database: 'events', scratchDirectory });
  return {
    async ms(question: Question) {
      const from = performance.now();
      await engine.run({
        id: 'report',
        sql: sqlOf(question),
        parameters: [],
        signal: new AbortController().signal,
      });
      return performance.now() - from;
    },
    async close() {
      engine.close();
      await rm(scratchDirectory, { recursive: true });
    },
  };
}

interface Call {
  readonly name: string;
  /** In milliseconds since 1970. */
  readonly at: number;
}

/** Notes every call to S3 and Athena from now on. */
function watchCalls(faults: Faults): Call[] {
  const calls: Call[] = [];
  const strike = faults.strike;
  faults.strike = (on, name, signal) => {
    calls.push({ name, at: Date.now() });
    return strike(on, name, signal);
  };
  return calls;
}

export async function measure(): Promise<Section> {
  const eventsDirectory = await sampleEvents(RECORDS);
  await using service = await openReportStack(eventsDirectory);
  await service.warmUp();
  await using baseline = await openBaselineDuckDb(eventsDirectory);
  const engine = await openEngine(eventsDirectory);

  const calls = watchCalls(service.stack.faults);
  const request = async (question: Question) => {
    calls.length = 0;
    const startedAt = Date.now();
    const from = performance.now();
    const response = await service.get(pathOf(question));
    await response.arrayBuffer();
    const ms = performance.now() - from;
    strictEqual(response.status, 303);
    const polls = calls.filter(({ name }) => name === 'GetQueryExecution').length;
    // As soon as the service learns that the query has ended, it reads the result. So the first read shows this moment.
    const noticedAt =
      calls.find(({ name }) => name.startsWith(`GET ${RESULTS_PREFIX.athena}`))?.at ?? Number.NaN;
    const { submittedAt, completedAt, ...query } = await service.latestQuery();
    const beforeMs = submittedAt - startedAt;
    const noticingMs = noticedAt - completedAt;
    const download = await fetch(response.headers.get('location') ?? '');
    const lines = linesOf(await download.text());
    return {
      ...query,
      ms,
      polls,
      beforeMs,
      noticingMs,
      publishingMs: ms - beforeMs - query.totalMs - noticingMs,
      lines,
    };
  };

  const rounds: { ours: Awaited<ReturnType<typeof request>>; directMs: number; aloneMs: number }[] = [];
  for (const [round, metrics] of ordersOf(METRICS)
    .slice(0, ROUNDS + 1)
    .entries()) {
    const question = questionWith(metrics);
    const direct = await baseline.copy(question);
    const aloneMs = await engine.ms(question);
    const ours = await request(question);
    strictEqual(ours.lines, direct.lines);
    if (round > 0) rounds.push({ ours, directMs: direct.ms, aloneMs });
  }
  const days = daysOf(questionWith([])).map((day) => `'${day}'`);
  const recordsRead = await baseline.numberOf(
    `SELECT count(*)::double FROM publisher_events WHERE day IN (${days.join(', ')})`,
  );
  await engine.close();

  const of = (value: (round: (typeof rounds)[number]) => number) => median(rounds.map(value));
  const total = medianRatio(
    rounds.map(({ ours }) => ours.ms),
    rounds.map(({ directMs }) => directMs),
  );
  const fixedMs = of(({ ours }) => ours.ms - ours.totalMs);
  return {
    title: 'Request overhead',
    method:
      `GET to 303 on the one-machine stack, beside the same SQL by DuckDB's own \`COPY … TO\` on the same Parquet: ` +
      `${figure(recordsRead / 1e6)} million records in a month (of ${figure(RECORDS / 1e6)} million), ` +
      `${DIMENSIONS.length} dimensions, ${METRICS.length} metrics; ${rounds.length} pairs, a report that has not been ` +
      'asked for before each time. Athena is DuckDB behind its protocol here; what it tells of a query is its time.',
    table: [
      ['median of', 'ms'],
      ["DuckDB's `COPY … TO`", figure(of(({ directMs }) => directMs))],
      ["the stack's engine, while nobody asks", figure(of(({ aloneMs }) => aloneMs))],
      ['GET to 303', figure(of(({ ours }) => ours.ms))],
      [
        `of it the engine, asked ${figure(of(({ ours }) => ours.polls))} times whether it is done`,
        figure(of(({ ours }) => ours.engineMs)),
      ],
      ["of it Athena's result file", figure(of(({ ours }) => ours.totalMs - ours.engineMs))],
      ['of it the service, before the query', figure(of(({ ours }) => ours.beforeMs))],
      [
        'of it the service, until it has noticed that the query is done',
        figure(of(({ ours }) => ours.noticingMs)),
      ],
      ['of it the service, re-typing, publishing, presigning', figure(of(({ ours }) => ours.publishingMs))],
    ],
    reading:
      'Athena can only be asked whether a query is done. On one machine each such question takes time from the engine, ' +
      'which computes on the same cores (on AWS it does not), and the end is noticed half an interval late on average: ' +
      'asking more often makes the one larger, less often the other. The rest are calls on loopback: before the query, ' +
      'for the copy that is not there, for the latest query and to start this one; after it, to read its file and to ' +
      'write the report.',
    goals: [
      { goal: "at most 1.1x DuckDB's own run", measured: times(total), isMet: total <= 1.1 },
      {
        goal: "at most 15 ms beside Athena's time, median",
        measured: `${figure(fixedMs)} ms`,
        isMet: fixedMs <= 15,
      },
    ],
  };
}
