import { setTimeout as delay } from 'node:timers/promises';
import { publisherReport } from '../lib/report/catalogue.ts';
import { drawsOf } from './load-mix.ts';
import { startMeasured } from './measured-process.ts';
import { ordersOf, pathOf, type Question } from './questions.ts';
import { sampleEvents } from './report-stack.ts';
import type { Section } from './section.ts';
import { figure, percentile, times } from './statistics.ts';

const RECORDS = [2_000_000, 1_100_000] as const;
const AT_ONCE = 4;
const CROWDS = [10, 50, 200];
const CALLERS_OF_ONE = 1_000;
const FEW = 200;
const MANY = 2_000;
const MAX_GROWTH_MB = 50;
const MAX_CPU_RATIO = 2;
const MAX_TIME_RATIO = 3;

/** 24 reports of a month, as much work each. */
const MONTHS: readonly Question[] = ordersOf(['ServedAds', 'Opens', 'Clicks', 'Revenue']).map((metrics) => ({
  report: publisherReport,
  fields: ['Day', 'PublisherCompanyId', 'DeviceOrProxy', ...metrics],
  firstDay: '2026-01-01',
  days: 31,
}));

/** So many different reports of all kinds. */
function distinct(count: number, seed: number): Question[] {
  const { question } = drawsOf(seed);
  const byPath = new Map<string, Question>();
  for (let drawn = 0; byPath.size < count && drawn < 100 * count; drawn++) {
    const next = question();
    byPath.set(pathOf(next), next);
  }
  return [...byPath.values()];
}

/** Does something with each of the items, so many at a time. */
async function pool<T>(
  items: Iterable<T>,
  atOnce: number,
  act: (item: T) => Promise<unknown>,
): Promise<void> {
  const remaining = items[Symbol.iterator]();
  const work = async () => {
    for (let { done, value } = remaining.next(); !done; { done, value } = remaining.next()) await act(value);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

interface Clients {
  pull(question: Question): Promise<void>;
  /** How often each status was answered; of 5xx and 429 without `Retry-After`: `<status> without`. */
  readonly statuses: Map<string, number>;
}

/** Callers who follow redirects and come again when they are told to. */
function clientsOf({ apiUrl = '', authorization = '' }: Readonly<Record<string, string>>): Clients {
  const statuses = new Map<string, number>();
  const count = (status: string) => statuses.set(status, (statuses.get(status) ?? 0) + 1);
  const headers = { authorization, accept: 'text/csv', 'accept-encoding': 'identity' };
  return {
    statuses,
    async pull(question) {
      for (;;) {
        const response = await fetch(apiUrl + pathOf(question), { headers });
        await response.arrayBuffer();
        const retryAfter = response.headers.get('retry-after');
        count(response.ok || retryAfter ? `${response.status}` : `${response.status} without`);
        if (response.ok) return;
        await delay(1_000 * Number(retryAfter ?? 5));
      }
    },
  };
}

/** Milliseconds and CPU of DuckDB alone, for reports one after the other. */
async function alone(eventsDirectory: string, questions: readonly Question[]) {
  const asked = questions.map((question) => ({ ...question, report: { name: question.report.name } }));
  await using duckDb = await startMeasured('measured-duckdb', [eventsDirectory, JSON.stringify(asked)]);
  return { ms: JSON.parse(duckDb.ready['ms'] ?? '[]') as number[], cpuMs: Number(duckDb.ready['cpuMs']) };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

export async function measure(): Promise<Section> {
  const eventsDirectory = await sampleEvents(...RECORDS);
  const rows: string[][] = [];
  const refused = new Map<string, number>();
  const noteStatuses = ({ statuses }: Clients) => {
    for (const [status, times] of statuses) refused.set(status, (refused.get(status) ?? 0) + times);
  };

  const monthsAlone = await alone(eventsDirectory, MONTHS);
  const monthsMs = sum(monthsAlone.ms) / MONTHS.length;
  const cpuAlone = monthsAlone.cpuMs / MONTHS.length;
  const months = { cpuMs: Number.NaN, ms: Number.NaN, aloneMs: Number.NaN };
  {
    await using service = await startMeasured('measured-service', [eventsDirectory]);
    const clients = clientsOf(service.ready);
    await pool(distinct(100, 3), AT_ONCE, clients.pull);
    const taken: number[] = [];
    for (const question of MONTHS.slice(0, 8)) {
      const began = performance.now();
      await clients.pull({ ...question, days: 30 });
      taken.push(performance.now() - began);
    }
    months.aloneMs = percentile(taken, 50);
    await service.used();
    const began = performance.now();
    await pool(MONTHS, AT_ONCE, clients.pull);
    months.ms = (performance.now() - began) / MONTHS.length;
    months.cpuMs = (await service.used()).cpuMs / MONTHS.length;
    noteStatuses(clients);
  }
  rows.push([
    `${MONTHS.length} of a month, four at a time`,
    figure(monthsMs),
    figure(months.ms),
    figure(cpuAlone),
    figure(months.cpuMs),
    '',
  ]);

  let crowdRatio = Number.NaN;
  for (const crowd of CROWDS) {
    const questions = distinct(crowd, 11);
    const { ms, cpuMs } = await alone(eventsDirectory, questions);
    await using service = await startMeasured('measured-service', [eventsDirectory]);
    const clients = clientsOf(service.ready);
    await service.used();
    const began = performance.now();
    await pool(questions, crowd, clients.pull);
    const tookMs = performance.now() - began;
    const used = await service.used();
    crowdRatio = tookMs / sum(ms);
    noteStatuses(clients);
    rows.push([
      `${crowd} different ones at once, of a service just started`,
      figure(sum(ms) / crowd),
      figure(tookMs / crowd),
      figure(cpuMs / crowd),
      figure(used.cpuMs / crowd),
      `${clients.statuses.get('503') ?? 0}`,
    ]);
  }
  const memory: number[] = [];
  {
    await using service = await startMeasured('measured-service', [eventsDirectory]);
    const clients = clientsOf(service.ready);
    const [shared, ...questions] = distinct(MANY + 1, 5) as [Question, ...Question[]];
    const began = performance.now();
    await pool(
      Array.from({ length: CALLERS_OF_ONE }, () => shared),
      CALLERS_OF_ONE,
      clients.pull,
    );
    const tookMs = performance.now() - began;
    const { cpuMs } = await service.used();
    rows.push([
      `${CALLERS_OF_ONE} callers of one at once`,
      '',
      figure(tookMs / CALLERS_OF_ONE),
      '',
      figure(cpuMs / CALLERS_OF_ONE),
      `${clients.statuses.get('503') ?? 0}`,
    ]);
    await pool(questions.slice(0, FEW), AT_ONCE, clients.pull);
    memory.push((await service.used()).memoryMb);
    await pool(questions.slice(FEW), AT_ONCE, clients.pull);
    memory.push((await service.used()).memoryMb);
    noteStatuses(clients);
  }
  const [few = Number.NaN, many = Number.NaN] = memory;
  const cpuRatio = months.cpuMs / cpuAlone;
  const strange = [...refused].filter(([status]) => !['200', '429', '503'].includes(status));
  return {
    title: 'One machine under load',
    method:
      `The one-machine service in a process of its own beside DuckDB with two threads and nothing else, on ${figure(sum(RECORDS) / 1e6)} ` +
      'million records: milliseconds and CPU a report. DuckDB makes them one after the other. Callers take no gzip, and ' +
      'come again when they are told to.',
    table: [
      ['reports', 'DuckDB, ms', 'service, ms', 'DuckDB, CPU-ms', 'service, CPU-ms', 'answers 503'],
      ...rows,
    ],
    goals: [
      {
        goal: `at most ${MAX_CPU_RATIO} times DuckDB’s CPU a report, four at a time`,
        measured: times(cpuRatio),
        isMet: cpuRatio <= MAX_CPU_RATIO,
      },
      {
        goal: 'one report alone: DuckDB’s time and 150 ms',
        measured: `${figure(months.aloneMs)} ms beside ${figure(monthsMs)}`,
        isMet: months.aloneMs <= monthsMs + 150,
      },
      {
        goal: `200 different ones at once within ${MAX_TIME_RATIO} times what DuckDB needs`,
        measured: times(crowdRatio),
        isMet: crowdRatio <= MAX_TIME_RATIO,
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
      'Of the service’s own CPU about two fifths are the function’s calls of S3 (some twenty a report, one and a half ' +
      'milliseconds each in the SDK), a third the local storage and gateway, and the rest gzip and garbage collection.',
  };
}
