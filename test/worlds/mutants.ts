/**
 * Breaks the service's code in many ways, one at a time, and looks for a world that fails because of it.
 *
 *     npm run worlds:mutants -- --within 10000 --only 'lib/delivery/judge-slot.ts'
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type CodeFolder, codeFolder } from '../code-folder.ts';
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
}

const { values } = parseArgs({
  options: {
    within: { type: 'string', default: '10000' },
    workers: { type: 'string', default: '2' },
    /** Only the mutants whose file or `why` contains this text are tried. */
    only: { type: 'string', default: '' },
  },
});

const BATCH = 50;
const root = join(import.meta.dirname, '../..');
const print = (line: string) => void process.stdout.write(`${line}\n`);

/** A copy of the code with the fault in it. */
const broken = ({ file, find, replace }: Mutant): CodeFolder =>
  codeFolder((folder) => {
    cpSync(join(root, 'lib'), join(folder, 'lib'), { recursive: true });
    cpSync(join(root, 'package.json'), join(folder, 'package.json'));
    const path = join(folder, file);
    const parts = readFileSync(path, 'utf8').split(find);
    if (parts.length !== 2) throw new Error(`${file} holds ${parts.length - 1} times: ${find}`);
    writeFileSync(path, parts.join(replace));
  });

/** The first world that breaks a rule with the fault and does not break this rule without the fault. */
async function firstFailing(mutant: Workers, original: Workers, within: number) {
  for (let from = 1; from <= within; from += BATCH * Number(values.workers)) {
    const starts = Array.from({ length: Number(values.workers) }, (_, index) => from + index * BATCH);
    const batches = await Promise.all(
      starts.map((start) => mutant.run<Batch>({ from: start, worlds: BATCH })),
    );
    for (const { seed, kinds } of batches.flatMap(({ failures }) => failures)) {
      const { failures } = await original.run<Batch>({ from: seed, worlds: 1 });
      const usual = failures[0]?.kinds ?? [];
      const kind = kinds.find((each) => !usual.includes(each));
      if (kind !== undefined) return { seed, kind };
    }
  }
  return undefined;
}

const all: readonly Mutant[] = JSON.parse(
  readFileSync(join(import.meta.dirname, 'mutants/mutants.json'), 'utf8'),
);
const chosen = all.filter(({ file, why }) => `${file} ${why}`.includes(values.only));
// All machines run the same code. Machines with the release before would hide the fault.
const original = await startWorkers(1, { current: root });
let survivors = 0;
for (const mutant of chosen) {
  using copy = broken(mutant);
  const workers = await startWorkers(Number(values.workers), { current: copy.folder });
  const found = await firstFailing(workers, original, Number(values.within));
  await workers.end();
  if (!found) survivors += 1;
  const verdict = found ? `seed ${found.seed}: ${found.kind}` : `SURVIVES ${values.within} worlds`;
  print(`${verdict}  —  ${mutant.file}: ${mutant.why}`);
}
await original.end();
print(`${chosen.length - survivors} of ${chosen.length} found`);
process.exitCode = survivors > 0 || chosen.length === 0 ? 1 : 0;
