/**
 * Breaks the service's code in many ways, one at a time. Each fault must be found: by a world that fails because of it,
 * or, if no world can see it, by the test that owns it.
 *
 *     npm run worlds:mutants -- --within 10000 --only 'lib/results/slots.ts'
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { codeFolder } from '../code-folder.ts';
import { codeOfReleaseBefore } from '../releases/release-before.ts';
import type { Batch } from './worker.ts';
import { startWorkers, type Workers } from './workers.ts';

/** One fault in the code. */
export interface Mutant {
  readonly file: string;
  /** The text to replace; it occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** A name for the fault, and what goes wrong because of it. */
  readonly why: string;
  /** The test file that fails with the fault, if no world finds it. */
  readonly owner?: string;
}

const { values } = parseArgs({
  options: {
    /** The list of mutants. */
    list: { type: 'string', default: join(import.meta.dirname, 'mutants/mutants.json') },
    /** The most worlds that are run for each mutant: first alone, then with machines of the release before. */
    within: { type: 'string', default: '2000' },
    /** The first world's seed. */
    from: { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
    /** Only the mutants whose file or `why` contains this text are tried. */
    only: { type: 'string', default: '' },
  },
});

const BATCH = 50;
/** A batch takes a second. One that takes this long goes round in circles, which no world can break off. */
const LONGEST_BATCH_MS = 120_000;
const root = join(import.meta.dirname, '../..');
const print = (line: string) => void process.stdout.write(`${line}\n`);

/** A copy of all files that git tracks, in which the mutants are tried one after the other. */
using copy = codeFolder((folder) => {
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, maxBuffer: 2 ** 26 }).toString();
  for (const file of tracked
    .split('\0')
    .filter((name) => /^(lib|test|local|tools|infra|functions)\/|^[^/]+$/.test(name))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file));
  }
});

/** Calls `act` while the copy has the fault. */
async function withFault<T>({ file, find, replace }: Mutant, act: () => Promise<T>): Promise<T> {
  const path = join(copy.folder, file);
  const text = readFileSync(path, 'utf8');
  const parts = text.split(find);
  if (parts.length !== 2) throw new Error(`${file} holds ${parts.length - 1} times: ${find}`);
  writeFileSync(path, parts.join(replace));
  try {
    return await act();
  } finally {
    writeFileSync(path, text);
  }
}

/** The first world that breaks a rule with the fault and does not break this rule without the fault. */
async function firstFailing(mutant: Workers, original: Workers): Promise<string | undefined> {
  const first = Number(values.from);
  const count = Number(values.workers);
  for (let from = first; from < first + Number(values.within); from += BATCH * count) {
    const starts = Array.from({ length: count }, (_, index) => from + index * BATCH);
    const limit = Promise.withResolvers<undefined>();
    const timer = setTimeout(limit.resolve, LONGEST_BATCH_MS, undefined);
    const batches = await Promise.race([
      Promise.all(starts.map((start) => mutant.run<Batch>({ from: start, worlds: BATCH }))),
      limit.promise,
      // An error that nobody catches ends the thread, as it would end a function.
    ]).catch(() => undefined);
    clearTimeout(timer);
    if (!batches) return `seeds from ${from}: breaks off, or never ends`;
    for (const { seed, kinds } of batches.flatMap(({ failures }) => failures)) {
      const { failures } = await original.run<Batch>({ from: seed, worlds: 1 });
      const usual = failures[0]?.kinds ?? [];
      const kind = kinds.find((each) => !usual.includes(each));
      if (kind !== undefined) return `seed ${seed}: ${kind}`;
    }
  }
  return undefined;
}

/** How a mutant is found; undefined if it survives. */
async function foundBy(mutant: Mutant): Promise<string | undefined> {
  if (mutant.owner !== undefined) {
    const { status } = spawnSync('npx', ['vitest', 'run', '--project', 'unit', mutant.owner], {
      cwd: copy.folder,
    });
    return status === 1 ? mutant.owner : undefined;
  }
  for (const { before, original } of passes) {
    const workers = await startWorkers(Number(values.workers), { current: copy.folder, before });
    try {
      const finding = await firstFailing(workers, original);
      if (finding !== undefined) return before ? `${finding}, with machines of the release before` : finding;
    } finally {
      await workers.end();
    }
  }
  return undefined;
}

const all: readonly Mutant[] = JSON.parse(readFileSync(values.list, 'utf8'));
const chosen = all.filter(({ file, why }) => `${file} ${why}`.includes(values.only));
using releaseBefore = codeOfReleaseBefore('mutants with machines of the release before');
// First all machines run the same code: those of the release before hide many faults. But only they show some others.
const passes = await Promise.all(
  [undefined, ...(releaseBefore ? [releaseBefore.folder] : [])].map(async (before) => ({
    before,
    original: await startWorkers(1, { current: root, before }),
  })),
);
let survivors = 0;
for (const mutant of chosen) {
  const finding = await withFault(mutant, () => foundBy(mutant));
  if (finding === undefined) survivors += 1;
  print(
    `${finding ?? `SURVIVES ${mutant.owner ?? `${values.within} worlds`}`}  —  ${mutant.file}: ${mutant.why}`,
  );
}
for (const { original } of passes) await original.end();
print(`${chosen.length - survivors} of ${chosen.length} found`);
process.exitCode = survivors > 0 || chosen.length === 0 ? 1 : 0;
