/** Runs worlds in a thread of its own, because virtual time replaces a thread's clock for good. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Sample } from '../releases/play-scene.ts';
import type { SceneName } from '../releases/scenes.ts';
import { seedCryptoAndGzip } from './seeded-crypto.ts';
import { loadReleases, type Roots } from './service-code.ts';
import { takeOverTime } from './virtual-time.ts';

/**
 * A task: run worlds, shrink a failing world, give a world's history, play a scene with a release's code, or let a
 * release's code go on from the sample of a scene.
 */
export type Task =
  | { readonly from: number; readonly worlds: number }
  | { readonly seed: number; readonly kind: string }
  | { readonly seed: number; readonly without: readonly string[] }
  | { readonly plays: keyof Roots; readonly scene: SceneName }
  | { readonly goesOn: keyof Roots; readonly scene: SceneName; readonly sample: Sample };

/** The results of some worlds. */
export interface Batch {
  readonly from: number;
  readonly counts: ReadonlyMap<string, number>;
  readonly failures: readonly { readonly seed: number; readonly kinds: readonly string[] }[];
}

// Stack traces would take a third of the time. They also contain paths of this machine.
Error.stackTraceLimit = 0;
seedCryptoAndGzip();
takeOverTime(0, 0);
const { simulate } = await import('./simulate.ts');
const { folded, shrink } = await import('./shrink.ts');
const { goOn, play } = await import('../releases/play-scene.ts');
const roots = workerData as Roots;
const releases = await loadReleases(roots);

/** Gives a release, or throws if the worker was started without it. */
const known = <T>(release: T | undefined): T => {
  if (release === undefined) throw new Error('there is no code of the release before');
  return release;
};

async function runBatch({
  from,
  worlds,
}: {
  readonly from: number;
  readonly worlds: number;
}): Promise<Batch> {
  const counts = new Map<string, number>();
  const failures: { seed: number; kinds: string[] }[] = [];
  for (let seed = from; seed < from + worlds; seed++) {
    try {
      const outcome = await simulate(releases, seed);
      for (const [what, times] of outcome.counts) counts.set(what, (counts.get(what) ?? 0) + times);
      const kinds = [...new Set(outcome.violations.map(({ kind }) => kind))];
      if (kinds.length > 0) failures.push({ seed, kinds });
    } catch (error) {
      failures.push({ seed, kinds: [`the harness fails: ${String(error)}`] });
    }
  }
  return { from, counts, failures };
}

parentPort?.on('message', async (task: Task) => {
  if ('worlds' in task) parentPort?.postMessage(await runBatch(task));
  else if ('plays' in task)
    parentPort?.postMessage(await play(known(releases[task.plays]), known(roots[task.plays]), task.scene));
  else if ('goesOn' in task)
    parentPort?.postMessage(await goOn(known(releases[task.goesOn]), task.scene, task.sample));
  else if ('kind' in task) parentPort?.postMessage(await shrink(releases, task.seed, task.kind));
  else {
    const { history, ...rest } = await simulate(releases, task.seed, {
      without: new Set(task.without),
      isTold: true,
    });
    parentPort?.postMessage({ history: folded(history), violations: rest.violations });
  }
});
parentPort?.postMessage('ready');
