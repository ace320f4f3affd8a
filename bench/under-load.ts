import { openBaselineDuckDb } from './baseline-duckdb.ts';
import { cpuMs, figure, goal, recordsAtMost, type Section, times } from './measuring.ts';
import { distinct, monthsBy, type Question } from './questions.ts';
import { sampleEvents } from './report-stack.ts';
import { type Served, serve } from './served.ts';

const RECORDS = [2_000_000, 1_100_000] as const;
const AT_ONCE = 4;
const CROWD = 200;
/** Reports that a service has made before it is measured, so that compilers and caches are warm. */
const WARM_UP = recordsAtMost(300);
const FEW = recordsAtMost(200);
const MANY = recordsAtMost(2_000);

/** 24 reports of a month. Each is the same amount of work. */
const MONTHS = monthsBy('Day', 'PublisherCompanyId', 'DeviceOrProxy');
/** Eight more reports of the same size. */
const OTHER_MONTHS = MONTHS.slice(0, 8).map((question) => ({ ...question, firstDay: '2026-01-02' }));

/** The mean cost of one report. */
interface Cost {
  readonly ms: number;
  readonly cpuMs: number;
}

/** DuckDB alone makes the reports one after the other. */
async function byDuckDb(eventsDirectory: string, questions: readonly Question[]): Promise<Cost> {
  await using duckDb = await openBaselineDuckDb(eventsDirectory);
  for (const question of questions.slice(0, 5)) await duckDb.copy(question);
  const before = cpuMs();
  let ms = 0;
  for (const question of questions) ms += await duckDb.copy(question);
  return { ms: ms / questions.length, cpuMs: (cpuMs() - before) / questions.length };
}

/** The service makes the reports while at most `atOnce` callers pull at the same moment. */
async function byService(served: Served, questions: readonly Question[], atOnce: number) {
  await served.used();
  const began = performance.now();
  const remaining = questions.values();
  const caller = async () => {
    for (const question of remaining) await served.pull(question);
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
  const ms = (performance.now() - began) / questions.length;
  const used = await served.used();
  return { ms, cpuMs: used.cpuMs / questions.length, memoryMb: used.memoryMb };
}

export async function measure(): Promise<Section> {
  const eventsDirectory = await sampleEvents(...RECORDS);
  const rows: string[][] = [];
  const tell = (reports: string, by: string, cost: Cost & { readonly memoryMb?: number }) =>
    rows.push([reports, by, figure(cost.ms), figure(cost.cpuMs), cost.memoryMb ? figure(cost.memoryMb) : '']);

  // First, the engine is measured alone.
  const alone = await byDuckDb(eventsDirectory, MONTHS);
  tell(`${MONTHS.length} of a month, one after the other`, 'DuckDB alone', alone);
  const many = distinct(CROWD, 13);
  const crowdAlone = await byDuckDb(eventsDirectory, many);
  tell(`${CROWD} different ones, one after the other`, 'DuckDB alone', crowdAlone);

  await using served = await serve(eventsDirectory);
  await byService(served, distinct(WARM_UP, 3), AT_ONCE);
  const single = await byService(served, OTHER_MONTHS, 1);
  tell(`${OTHER_MONTHS.length} of a month, one at a time`, 'this service', single);
  const several = await byService(served, MONTHS, AT_ONCE);
  tell(`${MONTHS.length} of a month, ${AT_ONCE} at a time`, 'this service', several);
  const crowd = await byService(served, many, CROWD);
  tell(`${CROWD} different ones at once`, 'this service', crowd);

  // How much memory the service holds after many reports is measured on one that has made no others.
  await using fresh = await serve(eventsDirectory);
  const questions = distinct(MANY, 5);
  const { memoryMb: afterFew } = await byService(fresh, questions.slice(0, FEW), AT_ONCE);
  const { memoryMb: afterMany } = await byService(fresh, questions.slice(FEW), AT_ONCE);

  const gigabytes: number[] = [];
  for (const encoding of ['identity', 'gzip'] as const) {
    await using large = await serve(eventsDirectory);
    const [question] = OTHER_MONTHS as [Question, ...Question[]];
    gigabytes.push(await large.gigabyteMs(question, encoding));
  }

  const cpuRatio = several.cpuMs / alone.cpuMs;
  const crowdRatio = crowd.ms / crowdAlone.ms;
  const strange = [...served.statuses, ...fresh.statuses].filter(
    ([status]) => !['200', '429', '503'].includes(status),
  );
  return {
    title: 'One machine under load',
    table: [['reports', 'by', 'ms', 'CPU-ms', 'MB held'], ...rows],
    goals: [
      goal(
        'at most 2 times DuckDB’s CPU a report, four at a time',
        times(cpuRatio),
        cpuRatio <= 2,
        'a service that stores nothing and makes no gzipped file',
      ),
      goal(
        'one report alone: DuckDB’s time and 100 ms',
        `${figure(single.ms)} ms beside ${figure(alone.ms)}`,
        single.ms <= alone.ms + 100,
        'fewer calls in a row over loopback, of which there are eight',
      ),
      goal(
        '200 different ones at once: no longer than DuckDB takes one after the other',
        times(crowdRatio),
        crowdRatio <= 1,
        'the same',
      ),
      goal(
        'no answer but 200, 303, and 429 or 503 with `Retry-After`',
        strange.length === 0 ? 'none' : strange.map(([status, count]) => `${count} × ${status}`).join(', '),
        strange.length === 0,
      ),
      goal(
        'a gigabyte for its first caller, plain or gzipped: at most 20 s',
        gigabytes.map((ms) => `${figure(ms / 1_000)} s`).join(', '),
        Math.max(...gigabytes) <= 20_000,
      ),
      goal(
        `${MANY} reports leave at most 50 MB more than ${FEW} do`,
        `${figure(afterFew)} and ${figure(afterMany)} MB`,
        afterMany - afterFew <= 50,
        'a comparison that begins later: compilers and caches fill up first',
      ),
    ],
  };
}
