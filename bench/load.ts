import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openBaselineDuckDb } from './baseline-duckdb.ts';
import type { LoadFound, LoadPlan } from './load-clients.ts';
import { drawsOf } from './load-mix.ts';
import { openReportStack, sampleEvents } from './report-stack.ts';
import type { Section } from './section.ts';
import { figure, percentile } from './statistics.ts';

const RECORDS = 2_000_000;
const CLIENTS = [1, 8, 64];
const SECONDS = 15;
const QUERIES_ALONE = 200;
const WARM_UP = 20;

async function load(plan: LoadPlan): Promise<LoadFound> {
  const clients = join(import.meta.dirname, 'load-clients.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [clients, JSON.stringify(plan)], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(stdout) as LoadFound;
}

/** How many new reports DuckDB makes in a second, one after the other, if it has the machine to itself. */
async function enginesLimit(eventsDirectory: string): Promise<number> {
  await using baseline = await openBaselineDuckDb(eventsDirectory);
  const { question } = drawsOf(0);
  const all: number[] = [];
  for (let index = 0; index < WARM_UP + QUERIES_ALONE; index++)
    all.push((await baseline.copy(question())).ms);
  const ms = all.slice(WARM_UP);
  return (1_000 * ms.length) / ms.reduce((sum, one) => sum + one);
}

export async function measure(): Promise<Section> {
  const eventsDirectory = await sampleEvents(RECORDS, RECORDS);
  const limit = await enginesLimit(eventsDirectory);
  const found: (LoadFound & { readonly clients: number })[] = [];
  for (const clients of CLIENTS) {
    // Each run starts a new service, so that no report is cached from an earlier run.
    await using service = await openReportStack(eventsDirectory);
    await service.warmUp();
    const { stack, authorization } = service;
    found.push({
      clients,
      ...(await load({ apiUrl: stack.apiUrl, authorization, clients, seconds: SECONDS, seed: 1 })),
    });
  }
  const errors = found.reduce((sum, { failures }) => sum + failures.length, 0);
  return {
    title: 'Load',
    method:
      `Clients that pull one report after the other for ${SECONDS} s each, redirects followed, to the last byte: both ` +
      'reports, one to 32 days, some by hour, some filtered; two of three have been pulled before, one is new and needs ' +
      `a query. ${figure((2 * RECORDS) / 1e6)} million records. Clients and service share the cores; ` +
      `DuckDB with all of them and one query at a time makes ${figure(limit)} new ones a second.`,
    table: [
      [
        'clients',
        'reports/s',
        'of them new',
        'MB/s',
        'new: p50, ms',
        'p99, ms',
        'again: p50, ms',
        'p99, ms',
        'errors',
      ],
      ...found.map(({ clients, newMs, againMs, bytes, seconds, failures }) => [
        String(clients),
        figure((newMs.length + againMs.length) / seconds),
        figure(newMs.length / seconds),
        figure(bytes / 1e6 / seconds),
        figure(percentile(newMs, 50)),
        figure(percentile(newMs, 99)),
        figure(percentile(againMs, 50)),
        figure(percentile(againMs, 99)),
        String(failures.length),
      ]),
    ],
    goals: [{ goal: 'no errors', measured: String(errors), isMet: errors === 0 }],
    ...(errors > 0 && {
      reading: found
        .flatMap(({ failures }) => failures)
        .slice(0, 3)
        .join('\n\n'),
    }),
  };
}
