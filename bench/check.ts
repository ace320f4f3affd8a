import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCheckLakes } from './check-lakes.ts';
import { startMeasured } from './measured-process.ts';
import type { Section } from './section.ts';
import { roundsAtMost } from './size.ts';
import { figure, median, medianRatio, times } from './statistics.ts';

const ROUNDS = roundsAtMost(5);
const MOST = 2;

interface Took {
  readonly ms: number;
  readonly cpuMs: number;
}

/** The time and the CPU that a process used. */
interface Run {
  readonly whole: Took;
  /** Without the start of the process, which loads its modules. */
  readonly work: Took;
}

async function run(subject: string, directory: string): Promise<Run> {
  await using measured = await startMeasured('measured-check', [subject, directory]);
  const start = JSON.parse(measured.ready['start'] ?? '') as Took;
  const whole = JSON.parse(measured.ready['end'] ?? '') as Took;
  return { whole, work: { ms: whole.ms - start.ms, cpuMs: whole.cpuMs - start.cpuMs } };
}

const secondsOf = (runs: readonly Run[], part: keyof Run): string =>
  `${figure(median(runs.map((one) => one[part].ms)) / 1000)} s, ${figure(median(runs.map((one) => one[part].cpuMs)) / 1000)} s`;

export async function measure(): Promise<Section> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  const table: string[][] = [];
  const ratios: { readonly title: string; readonly ratio: number }[] = [];
  for (const lake of await makeCheckLakes(directory)) {
    const [reads, checks]: [Run[], Run[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      reads.push(await run('read', lake.directory));
      checks.push(await run('check', lake.directory));
    }
    const ratio = (part: keyof Run, unit: keyof Took) =>
      medianRatio(
        checks.map((one) => one[part][unit]),
        reads.map((one) => one[part][unit]),
      );
    ratios.push({ title: lake.title, ratio: ratio('work', 'cpuMs') });
    table.push([
      lake.title,
      ...[secondsOf(reads, 'work'), secondsOf(checks, 'work')],
      ...[times(ratio('work', 'ms')), times(ratio('work', 'cpuMs'))],
      ...[secondsOf(checks, 'whole'), times(ratio('whole', 'cpuMs'))],
    ]);
  }
  await rm(directory, { recursive: true, force: true });
  return {
    title: 'Checking a lake',
    method:
      '`npm run lake -- check` beside DuckDB that reads the columns of the contract once, sums them, and does nothing else: ' +
      `medians of ${ROUNDS} pairs, each run in a process of its own, seconds on the clock and of CPU. All files are in the page cache.`,
    table: [
      [
        ...['lake', 'DuckDB reads once', 'check', 'beside it', 'beside it, CPU'],
        ...['check with the start of its process', 'both with it, CPU'],
      ],
      ...table,
    ],
    goals: ratios.map(({ title, ratio }) => ({
      goal: `${title}: at most twice the CPU of reading the columns once, without the start of a process`,
      measured: times(ratio),
      isMet: ratio <= MOST,
      wouldTake: 'a larger lake: the fixed costs of a check are as much as the reading of a small one',
    })),
    reading:
      'Beside the reading, a check lists the files, reads all footers and the headers of all pages, and finds the bounds of each row group. Its fixed costs are as much as the reading of a small lake.',
  };
}
