import type { Releases } from './service-code.ts';
import { simulate } from './simulate.ts';

/** A failing world, reduced to the parts that it needs to fail. */
export interface Shrunk {
  readonly seed: number;
  readonly kind: string;
  /** The parts that are left out. */
  readonly without: readonly string[];
  /** The parts that remain: without them, the world would not fail. */
  readonly needs: readonly string[];
  readonly history: readonly string[];
}

/** The most worlds that are tried for one failure. */
const MOST_TRIES = 600;

/**
 * Takes actors and troubles out of a failing world as long as it still breaks the same rule: first many at a time, then
 * one after the other.
 */
export async function shrink(releases: Releases, seed: number, kind: string): Promise<Shrunk> {
  let tries = 0;
  let without = new Set<string>();
  const run = async (left: ReadonlySet<string>): Promise<readonly string[] | undefined> => {
    tries += 1;
    const { violations, happened } = await simulate(releases, seed, { without: left }).catch(() => ({
      violations: [],
      happened: [],
    }));
    return violations.some((each) => each.kind === kind) ? happened : undefined;
  };
  let needs = await run(without);
  if (!needs) throw new Error(`world ${seed} does not break ${kind} when it is run again`);
  for (let size = needs.length; size >= 1; ) {
    let isSmaller = false;
    for (let at = 0; at < needs.length && tries < MOST_TRIES; ) {
      const left = new Set([...without, ...needs.slice(at, at + size)]);
      const still = await run(left);
      // A world without one trouble may have other troubles instead, so it counts only if it has fewer parts.
      if (still && still.length < needs.length) {
        without = left;
        needs = still;
        isSmaller = true;
      } else at += size;
    }
    if (size > 1) size = Math.floor(size / 2);
    else if (!isSmaller || tries >= MOST_TRIES) break;
  }
  const { history } = await simulate(releases, seed, { without, isTold: true });
  const broken = history.findIndex((line) => line.includes(`VIOLATION: ${kind}`));
  return { seed, kind, without: [...without], needs, history: folded(history.slice(0, broken + 1)) };
}

/** The history without reads of S3 that are repeated, and with short digests. */
export function folded(history: readonly string[]): string[] {
  const seen = new Map<string, Set<string>>();
  return history
    .filter((line) => {
      const [, who = '', what = ''] = /^(?:\S+d )?\S+ ([^ ]+): (.*)$/.exec(line) ?? [];
      const looks = seen.get(who) ?? new Set<string>();
      seen.set(who, looks);
      if (!/^S3 (Head|Get)Object /.test(what)) {
        looks.clear();
        return true;
      }
      const isIdle = looks.has(what);
      looks.add(what);
      return !isIdle;
    })
    .map((line) => line.replaceAll(/\b([0-9a-f]{8})[0-9a-f]{24,}\b/g, '$1…'));
}
