import { baselinePython, eachOf, type Made } from './baselines.ts';
import { distinct, pool, type Served, serveOurs, serveTheirs } from './crowd.ts';
import { startMeasured, type Used } from './measured-process.ts';
import { monthsBy, type Question } from './questions.ts';
import { sampleEvents } from './report-stack.ts';
import type { Section } from './section.ts';
import { figure, times } from './statistics.ts';

const RECORDS = [2_000_000, 1_100_000] as const;
const AT_ONCE = 4;
const CROWDS = [10, 50, 200];
/** Reports that a service has made before it is measured, so that compilers and caches are warm. */
const WARM_UP = 300;
const CALLERS_OF_ONE = 1_000;
const LARGE_BYTES = 1e9;
const FEW = 200;
const MANY = 2_000;
const MAX_GROWTH_MB = 50;
const MAX_CPU_RATIO = 2;
const MAX_TIME_RATIO = 3;

/** 24 reports of a month. Each is the same amount of work. */
const MONTHS = monthsBy('Day', 'PublisherCompanyId', 'DeviceOrProxy');
/** Eight more reports of the same size. */
const OTHER_MONTHS = MONTHS.slice(0, 8).map((question) => ({ ...question, firstDay: '2026-01-02' }));
const LARGE = { ...OTHER_MONTHS[0], firstDay: '2026-01-03' } as Question;

/** Runs DuckDB alone in a process of its own. It makes the reports one after the other. */
async function withDuckDb(
  eventsDirectory: string,
  questions: readonly Question[],
  rowsAgain = 1,
): Promise<Made & { readonly bytes: number }> {
  const asked = questions.map((question) => ({ ...question, report: { name: question.report.name } }));
  const args = [eventsDirectory, JSON.stringify(asked), String(rowsAgain)];
  await using duckDb = await startMeasured('measured-duckdb', args);
  return JSON.parse(duckDb.ready['made'] ?? '');
}

/** The mean cost of one report of a service, while at most `atOnce` callers pull at the same moment. */
async function withService(served: Served, questions: readonly Question[], atOnce: number) {
  await served.used();
  const began = performance.now();
  await pool(questions, atOnce, served.pull);
  const ms = (performance.now() - began) / questions.length;
  const { cpuMs, memoryMb } = await served.used();
  return { ms, cpuMs: cpuMs / questions.length, memoryMb };
}

export async function measure(): Promise<Section> {
  const eventsDirectory = await sampleEvents(...RECORDS);
  const python = await baselinePython();
  const services: Record<string, () => Promise<Served>> = {
    'this service': () => serveOurs(eventsDirectory),
    ...(python && { 'FastAPI and DuckDB': () => serveTheirs(python, eventsDirectory) }),
  };
  const rows: string[][] = [];
  const statuses = new Map<string, number>();
  const tell = (reports: string, by: string, { ms, cpuMs, memoryMb }: Partial<Used> & { ms: number }) =>
    rows.push([reports, by, figure(ms), figure(cpuMs ?? Number.NaN), memoryMb ? figure(memoryMb) : '']);
  const countStatuses = (served: Served) => {
    for (const [status, count] of served.statuses) statuses.set(status, (statuses.get(status) ?? 0) + count);
  };

  // First, the engine is measured alone.
  const alone = eachOf(await withDuckDb(eventsDirectory, MONTHS));
  const oneByOne = `${MONTHS.length} of a month, one after the other`;
  tell(oneByOne, 'DuckDB alone', alone);

  const ours = { oneAtATimeMs: Number.NaN, cpuRatio: Number.NaN, crowdRatio: Number.NaN };
  const crowds = CROWDS.map((crowd, index) => distinct(crowd, 11 + index));
  const crowdsAlone: number[] = [];
  for (const questions of crowds) {
    const took = eachOf(await withDuckDb(eventsDirectory, questions));
    tell(`${questions.length} different ones, one after the other`, 'DuckDB alone', took);
    crowdsAlone.push(took.ms);
  }
  for (const [name, start] of Object.entries(services)) {
    await using served = await start();
    await pool(distinct(WARM_UP, 3), AT_ONCE, served.pull);
    const single = await withService(served, OTHER_MONTHS, 1);
    tell(`${OTHER_MONTHS.length} of a month, one at a time`, name, single);
    const several = await withService(served, MONTHS, AT_ONCE);
    tell(`${MONTHS.length} of a month, ${AT_ONCE} at a time`, name, several);
    for (const [index, questions] of crowds.entries()) {
      const took = await withService(served, questions, questions.length);
      tell(`${questions.length} different ones at once`, name, took);
      if (name === 'this service') ours.crowdRatio = took.ms / (crowdsAlone[index] ?? Number.NaN);
    }
    countStatuses(served);
    if (name !== 'this service') continue;
    ours.oneAtATimeMs = single.ms;
    ours.cpuRatio = several.cpuMs / alone.cpuMs;
  }
  for (const [name, start] of Object.entries(services)) {
    await using served = await start();
    const [questions = []] = crowds.slice(-1);
    const took = await withService(served, questions, questions.length);
    tell(`${questions.length} different ones at once, just started`, name, took);
    countStatuses(served);
  }
  const grown: number[] = [];
  for (const [name, start] of Object.entries(services)) {
    await using served = await start();
    const [shared, ...questions] = distinct(MANY + 1, 5) as [Question, ...Question[]];
    const callers = Array.from({ length: CALLERS_OF_ONE }, () => shared);
    const took = await withService(served, callers, CALLERS_OF_ONE);
    tell(`${CALLERS_OF_ONE} callers of one at once`, name, took);
    countStatuses(served);
    if (name !== 'this service') continue;
    for (const some of [questions.slice(0, FEW), questions.slice(FEW)])
      grown.push((await withService(served, some, AT_ONCE)).memoryMb);
  }
  let bytes = 0;
  const aGigabyte = 'a gigabyte, by the gigabyte';
  for (const [name, start] of Object.entries(services)) {
    await using served = await start();
    bytes = await served.pull(LARGE);
    await served.used();
    const began = performance.now();
    const share =
      (await served.pullLarge({ ...LARGE, fields: LARGE.fields.slice(0, -1) }, LARGE_BYTES)) / LARGE_BYTES;
    const ms = (performance.now() - began) / share;
    const used = await served.used();
    tell(aGigabyte, name, { ...used, ms, cpuMs: used.cpuMs / share });
    countStatuses(served);
  }
  const large = await withDuckDb(eventsDirectory, [LARGE], LARGE_BYTES / bytes);
  const share = large.bytes / LARGE_BYTES;
  tell(aGigabyte, 'DuckDB alone', { ms: (large.ms[0] ?? Number.NaN) / share, cpuMs: large.cpuMs / share });

  const [few = Number.NaN, many = Number.NaN] = grown;
  const strange = [...statuses].filter(([status]) => !['200', '429', '503'].includes(status));
  return {
    title: 'One machine under load',
    method:
      `The one-machine service and its baselines, each in a process of its own on two cores and ${figure(sum(RECORDS) / 1e6)} million ` +
      'records, beside their callers, who take no gzip and repeat a request after its `Retry-After`: milliseconds and CPU a report, ' +
      'and the memory that is held afterwards. Services have made ' +
      `${WARM_UP} other reports before, where nothing else is said. ` +
      'DuckDB alone writes a file of CSV. FastAPI runs the SQL that its caller sends and ' +
      'streams the rows (`bench/baselines/service.py`): it checks no rights, keeps nothing, gzips nothing, and runs the whole query for each caller.',
    table: [['reports', 'by', 'ms', 'CPU-ms', 'MB held'], ...rows],
    goals: [
      {
        goal: `at most ${MAX_CPU_RATIO} times DuckDB’s CPU a report, four at a time`,
        measured: times(ours.cpuRatio),
        isMet: ours.cpuRatio <= MAX_CPU_RATIO,
        wouldTake: 'a service that stores nothing and makes no gzipped file',
      },
      {
        goal: 'one report alone: DuckDB’s time and 150 ms',
        measured: `${figure(ours.oneAtATimeMs)} ms beside ${figure(alone.ms)}`,
        isMet: ours.oneAtATimeMs <= alone.ms + 150,
      },
      {
        goal: `200 different ones at once within ${MAX_TIME_RATIO} times what DuckDB needs`,
        measured: times(ours.crowdRatio),
        isMet: ours.crowdRatio <= MAX_TIME_RATIO,
        wouldTake: 'the same',
      },
      {
        goal: 'no answer but 200, 303, and 429 or 503 with `Retry-After`',
        measured:
          strange.length === 0 ? 'none' : strange.map(([status, count]) => `${count} × ${status}`).join(', '),
        isMet: strange.length === 0,
      },
      {
        goal: `${MANY} reports leave at most ${MAX_GROWTH_MB} MB more than ${FEW} do`,
        measured: `${figure(few)} and ${figure(many)} MB`,
        isMet: many - few <= MAX_GROWTH_MB,
      },
    ],
    reading:
      `Answers were ${[...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')}. What is ours of a month’s report: some ` +
      'twenty calls of S3 with both their ends, re-typing, garbage collection, and a gzipped file, which is kept beside the plain ' +
      'one whether it is asked for or not: of a large report it takes as long as all else. What that buys is in no row: a report ' +
      'that has been made is led to for two calls of S3, whatever its size.',
  };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
