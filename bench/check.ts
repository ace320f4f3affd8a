import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publisherReport } from '../lib/report/catalogue.ts';
import { type Alone, alone } from './alone.ts';
import { convertedLake, DENSE, makeLakeOfManyFiles, makeRawLake } from './lakes.ts';
import {
  figure,
  goal,
  median,
  medianRatio,
  recordsAtMost,
  roundsAtMost,
  type Section,
  times,
} from './measuring.ts';

const ROUNDS = roundsAtMost(5);
const RECORDS = recordsAtMost(20_000_000);
const MOST = 2;

const secondsOf = (runs: readonly Alone[], part: 'whole' | 'work'): string =>
  `${figure(median(runs.map((one) => one[part].ms)) / 1000)} s, ${figure(median(runs.map((one) => one[part].cpuMs)) / 1000)} s`;

export async function measure(): Promise<Section> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  const raw = await makeRawLake(directory, RECORDS, DENSE);
  const hours = await convertedLake([join(raw, publisherReport.table)], join(directory, 'hours'), true);
  const lakes = {
    '59 days of two tables, 8 files each': await makeLakeOfManyFiles(directory),
    [`32 days of ${RECORDS / 1e6} million raw events`]: raw,
    'their hours': hours,
  };
  const table: string[][] = [];
  const ratios: { readonly title: string; readonly ratio: number }[] = [];
  for (const [title, lake] of Object.entries(lakes)) {
    const [reads, checks]: [Alone[], Alone[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      reads.push(await alone('readOnce', lake));
      checks.push(await alone('lake', 'check', lake));
    }
    const ratio = (part: 'whole' | 'work', unit: 'ms' | 'cpuMs') =>
      medianRatio(
        checks.map((one) => one[part][unit]),
        reads.map((one) => one[part][unit]),
      );
    ratios.push({ title, ratio: ratio('work', 'cpuMs') });
    table.push([
      ...[title, secondsOf(reads, 'work'), secondsOf(checks, 'work')],
      ...[times(ratio('work', 'ms')), times(ratio('work', 'cpuMs'))],
      ...[secondsOf(checks, 'whole'), times(ratio('whole', 'cpuMs'))],
    ]);
  }
  await rm(directory, { recursive: true, force: true });
  return {
    title: 'Checking a lake',
    table: [
      [
        ...['lake', 'DuckDB reads once', 'check', 'beside it', 'beside it, CPU'],
        ...['check with the start of its process', 'both with it, CPU'],
      ],
      ...table,
    ],
    goals: ratios.map(({ title, ratio }) =>
      goal(
        `${title}: at most twice the CPU of reading the columns once, without the start of a process`,
        times(ratio),
        ratio <= MOST,
        'a larger lake: the fixed costs of a check are as much as the reading of a small one',
      ),
    ),
  };
}
