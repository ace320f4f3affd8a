/**
 * Runs many worlds, or prints the history of one.
 *
 *     node test/worlds/run.ts --worlds 1000 --from 1 --workers 2
 *     node test/worlds/run.ts --worlds 100000 --keep
 *     node test/worlds/run.ts --seed 17 --without 'actor c1;throttled c0.0/3 S3 GetObject'
 */
import { randomInt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { codeOfReleaseBefore } from '../releases/release-before.ts';
import type { Shrunk } from './shrink.ts';
import { EXPECTED, WORLDS_THAT_SHOW_ALL } from './tally.ts';
import type { Batch } from './worker.ts';
import { startWorkers } from './workers.ts';
import type { Violation } from './world.ts';

const { values } = parseArgs({
  options: {
    worlds: { type: 'string', default: '1000' },
    /** The first seed. By default it is drawn at random, and printed. */
    from: { type: 'string', default: String(randomInt(2 ** 31)) },
    /** Whether the seeds of failing worlds are added to `failed-seeds.json`, so that `npm test` runs them from then on. */
    keep: { type: 'boolean', default: false },
    workers: { type: 'string', default: '2' },
    seed: { type: 'string' },
    /** The parts to leave out of the world of `--seed`, separated by semicolons. */
    without: { type: 'string', default: '' },
    /** The folder that contains the service's `lib/`. */
    root: { type: 'string', default: process.cwd() },
    /** Whether all machines run the code of `--root`, and no machine runs the release before. */
    alone: { type: 'boolean', default: false },
    /** How many kinds of failures to shrink and print. */
    shrink: { type: 'string', default: '3' },
    /**
     * How many failing worlds of each kind to shrink. If it is more than one, only the parts that each world needs and
     * the last line of its history are printed.
     */
    each: { type: 'string', default: '1' },
  },
});

const BATCH = 100;
const FAILED_SEEDS = join(import.meta.dirname, 'failed-seeds.json');
using before = values.alone ? undefined : codeOfReleaseBefore('worlds with machines of the release before');
const roots = { current: values.root, before: before?.folder };
const print = (line: string) => void process.stdout.write(`${line}\n`);
const whole = (text: string, name: string): number => {
  if (!/^\d+$/.test(text)) throw new Error(`--${name} is no whole number: ${text}`);
  return Number(text);
};

async function tellOne(seed: number): Promise<void> {
  const workers = await startWorkers(1, roots);
  const without = values.without === '' ? [] : values.without.split(';');
  const told = await workers.run<{ history: string[]; violations: Violation[] }>({ seed, without });
  for (const line of told.history) print(line);
  print(`${told.violations.length} violations`);
  process.exitCode = told.violations.length > 0 ? 1 : 0;
  await workers.end();
}

async function runMany(): Promise<void> {
  const from = whole(values.from, 'from');
  const worlds = whole(values.worlds, 'worlds');
  const workers = await startWorkers(whole(values.workers, 'workers'), roots);
  const began = process.hrtime.bigint();
  const starts = Array.from({ length: Math.ceil(worlds / BATCH) }, (_, index) => index * BATCH);
  const batches = await Promise.all(
    starts.map((start) =>
      workers.run<Batch>({ from: from + start, worlds: Math.min(BATCH, worlds - start) }),
    ),
  );
  const tookMs = Number(process.hrtime.bigint() - began) / 1e6;
  process.stderr.write(
    `${(tookMs / 1_000).toFixed(1)} s, ${(tookMs / worlds).toFixed(2)} ms a world, the first with seed ${from}\n`,
  );

  const counts = new Map<string, number>();
  for (const batch of batches)
    for (const [what, times] of batch.counts) counts.set(what, (counts.get(what) ?? 0) + times);
  for (const what of [...counts.keys()].sort()) print(`${String(counts.get(what)).padStart(9)}  ${what}`);

  const seeds = new Map<string, number[]>();
  for (const { failures } of batches)
    for (const { seed, kinds } of failures)
      for (const kind of kinds) seeds.set(kind, [...(seeds.get(kind) ?? []), seed]);
  print('');
  for (const [kind, failed] of seeds)
    print(`FAILS  ${kind}: ${failed.length} worlds, the first with seeds ${failed.slice(0, 5).join(', ')}`);

  const expected = before ? [...EXPECTED, 'machine of the release before'] : EXPECTED;
  const missing = worlds >= WORLDS_THAT_SHOW_ALL ? expected.filter((what) => !counts.has(what)) : [];
  for (const what of missing) print(`NEVER  ${what}`);

  const told = [...seeds]
    .filter(([kind]) => !kind.startsWith('the harness'))
    .slice(0, whole(values.shrink, 'shrink'));
  const each = whole(values.each, 'each');
  const small = await Promise.all(
    told.flatMap(([kind, failed]) =>
      failed.slice(0, each).map((seed) => workers.run<Shrunk>({ seed, kind })),
    ),
  );
  for (const failure of small) tellSmall(failure, each === 1);
  if (values.keep && seeds.size > 0) keep([...new Set([...seeds.values()].flat())]);
  if (seeds.size === 0) print(`${worlds} worlds from seed ${from}: every rule held`);
  process.exitCode = seeds.size > 0 || missing.length > 0 ? 1 : 0;
  await workers.end();
}

function keep(failed: readonly number[]): void {
  const known: number[] = JSON.parse(readFileSync(FAILED_SEEDS, 'utf8'));
  const all = [...new Set([...known, ...failed])].sort((one, other) => one - other);
  writeFileSync(FAILED_SEEDS, `${JSON.stringify(all, undefined, 2)}\n`);
  print(`The failed seeds stand in ${FAILED_SEEDS} now.`);
}

function tellSmall({ seed, kind, without, needs, history }: Shrunk, isWhole: boolean): void {
  print(`\n${kind}: world ${seed} in short. It needs:`);
  for (const need of needs) print(`  ${need}`);
  for (const line of isWhole ? history : history.slice(-1)) print(line);
  print(`again: node test/worlds/run.ts --seed ${seed} --without '${without.join(';')}'`);
}

await (values.seed === undefined ? runMany() : tellOne(whole(values.seed, 'seed')));
