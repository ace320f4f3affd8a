import { strictEqual } from 'node:assert';
import { RESULTS_PREFIX } from '../lib/names.ts';
import type { Faults } from '../local/faults/faults.ts';
import { linesOf, openBaselineDuckDb } from './baseline-duckdb.ts';
import { openEngine } from './engine-file.ts';
import { daysOf, monthsBy, pathOf, type Question } from './questions.ts';
import { openReportStack, sampleEvents } from './report-stack.ts';
import type { Section } from './section.ts';
import { roundsAtMost } from './size.ts';
import { figure, median, medianRatio, times } from './statistics.ts';

const RECORDS = 50_000_000;
const ROUNDS = roundsAtMost(20);
const months = monthsBy('Day', 'DeviceOrProxy');

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
  await using engine = await openEngine(eventsDirectory);

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
  for (const [round, question] of months.slice(0, ROUNDS + 1).entries()) {
    const direct = await baseline.copy(question);
    const from = performance.now();
    await engine.run(question);
    const aloneMs = performance.now() - from;
    const ours = await request(question);
    strictEqual(ours.lines, direct.lines);
    if (round > 0) rounds.push({ ours, directMs: direct.ms, aloneMs });
  }
  const days = daysOf(months[0] as Question).map((day) => `'${day}'`);
  const recordsRead = await baseline.numberOf(
    `SELECT count(*)::double FROM publisher_events WHERE day IN (${days.join(', ')})`,
  );

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
      `2 dimensions, 4 metrics; ${rounds.length} pairs, a report that has not been ` +
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
      'for the listing, the record and the start; after it, to read its file and to write the report.',
    goals: [
      {
        goal: "at most 1.1x DuckDB's own run",
        measured: times(total),
        isMet: total <= 1.1,
        wouldTake: 'cores of its own for the engine, or queries of seconds',
      },
      {
        goal: "at most 15 ms beside Athena's time, median",
        measured: `${figure(fixedMs)} ms`,
        isMet: fixedMs <= 15,
        wouldTake: 'an Athena that tells the end by itself, instead of being asked',
      },
    ],
  };
}
