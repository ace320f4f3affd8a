import { strictEqual } from 'node:assert';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { publisherReport } from '../lib/report/catalogue.ts';
import { ordersOf, pathOf, type Question, sqlOf } from './questions.ts';
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

const linesOf = (text: string): number => text.split('\n').length;

/** DuckDB as somebody would use it who has the files and no service. */
async function openDuckDb(eventsDirectory: string) {
  const scratch = await mkdtemp(join(tmpdir(), 'bench-'));
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  await connection.run(
    `CREATE VIEW publisher_events AS
     SELECT * FROM read_parquet('${eventsDirectory}/publisher_events/*/*.parquet',
                                hive_partitioning = true, hive_types = {day: VARCHAR})`,
  );
  const file = join(scratch, 'report.csv');
  return {
    async copy(question: Question) {
      const sql = sqlOf(question);
      const from = performance.now();
      await connection.run(`COPY (${sql}) TO '${file}' (FORMAT csv, HEADER)`);
      const ms = performance.now() - from;
      return { ms, lines: linesOf(await readFile(file, 'utf8')) };
    },
    async close() {
      connection.closeSync();
      instance.closeSync();
      await rm(scratch, { recursive: true });
    },
  };
}

export async function measure(): Promise<Section> {
  const eventsDirectory = await sampleEvents(RECORDS);
  await using service = await openReportStack(eventsDirectory);
  await service.warmUp();
  const duckDb = await openDuckDb(eventsDirectory);

  const request = async (question: Question) => {
    const from = performance.now();
    const response = await service.get(pathOf(question));
    await response.arrayBuffer();
    const ms = performance.now() - from;
    strictEqual(response.status, 303);
    const { engineMs, totalMs } = await service.latestQuery();
    const download = await fetch(response.headers.get('location') ?? '');
    return { ms, engineMs, athenaMs: totalMs, lines: linesOf(await download.text()) };
  };

  const rounds: { ours: Awaited<ReturnType<typeof request>>; directMs: number }[] = [];
  for (const [round, metrics] of ordersOf(METRICS)
    .slice(0, ROUNDS + 1)
    .entries()) {
    const question = questionWith(metrics);
    const direct = await duckDb.copy(question);
    const ours = await request(question);
    strictEqual(ours.lines, direct.lines);
    if (round > 0) rounds.push({ ours, directMs: direct.ms });
  }
  await duckDb.close();

  const of = (value: (round: (typeof rounds)[number]) => number) => median(rounds.map(value));
  const total = medianRatio(
    rounds.map(({ ours }) => ours.ms),
    rounds.map(({ directMs }) => directMs),
  );
  const fixedMs = of(({ ours }) => ours.ms - ours.athenaMs);
  return {
    title: 'Request overhead',
    method:
      `GET to 303 on the one-machine stack, beside the same SQL by DuckDB's own \`COPY … TO\` on the same Parquet: ` +
      `${figure(RECORDS / 1e6)} million records over two months, a month, ${DIMENSIONS.length} dimensions, ` +
      `${METRICS.length} metrics; ${rounds.length} pairs, a report that has not been asked for before each time. ` +
      'Athena is DuckDB behind its protocol here; what it tells of a query is its time.',
    table: [
      ['median of', 'ms'],
      ["DuckDB's `COPY … TO`", figure(of(({ directMs }) => directMs))],
      ['GET to 303', figure(of(({ ours }) => ours.ms))],
      ['of it Athena: the engine', figure(of(({ ours }) => ours.engineMs))],
      ['of it Athena: the result file', figure(of(({ ours }) => ours.athenaMs - ours.engineMs))],
      ['of it the service', figure(fixedMs)],
    ],
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
