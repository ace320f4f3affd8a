import { strictEqual } from 'node:assert';
import { RESULTS_PREFIX } from '../lib/names.ts';
import type { Faults } from '../local/faults/faults.ts';
import { linesOf, openBaselineDuckDb } from './baseline-duckdb.ts';
import { figure, goal, median, medianRatio, roundsAtMost, type Section, times } from './measuring.ts';
import { monthsBy, type Question } from './questions.ts';
import { openReportStack, sampleEvents } from './report-stack.ts';

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
  const eventsDirectory = await sampleEvents(50_000_000);
  await using service = await openReportStack(eventsDirectory);
  await service.warmUp();
  await using baseline = await openBaselineDuckDb(eventsDirectory);

  const calls = watchCalls(service.stack.faults);
  const request = async (question: Question) => {
    calls.length = 0;
    const startedAt = Date.now();
    const { ms, url } = await service.ask(question);
    const polls = calls.filter(({ name }) => name === 'GetQueryExecution').length;
    // As soon as the service learns that the query has ended, it reads the result. So the first read shows this moment.
    const noticedAt =
      calls.find(({ name }) => name.startsWith(`GET ${RESULTS_PREFIX.athena}`))?.at ?? Number.NaN;
    const { submittedAt, completedAt, ...query } = await service.latestQuery();
    const beforeMs = submittedAt - startedAt;
    const noticingMs = noticedAt - completedAt;
    const lines = linesOf(await (await fetch(url)).text());
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

  const rounds: { ours: Awaited<ReturnType<typeof request>>; directMs: number }[] = [];
  for (const [round, question] of months.slice(0, ROUNDS + 1).entries()) {
    const directMs = await baseline.copy(question);
    const ours = await request(question);
    strictEqual(ours.lines, await baseline.linesOfCopy());
    if (round > 0) rounds.push({ ours, directMs });
  }
  const of = (value: (round: (typeof rounds)[number]) => number) => median(rounds.map(value));
  const total = medianRatio(
    rounds.map(({ ours }) => ours.ms),
    rounds.map(({ directMs }) => directMs),
  );
  const fixedMs = of(({ ours }) => ours.ms - ours.totalMs);
  return {
    title: 'Request overhead',
    table: [
      ['median of', 'ms'],
      ["DuckDB's `COPY … TO`", figure(of(({ directMs }) => directMs))],
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
    goals: [
      goal(
        "at most 1.1x DuckDB's own run",
        times(total),
        total <= 1.1,
        'cores of its own for the engine, or queries of seconds',
      ),
      goal(
        "at most 15 ms beside Athena's time, median",
        `${figure(fixedMs)} ms`,
        fixedMs <= 15,
        'an Athena that tells the end by itself, instead of being asked',
      ),
    ],
  };
}
