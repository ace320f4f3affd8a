/**
 * Virtual time: computed, not waited for. It replaces the process's clock, timers and random numbers, so that the
 * service's own code runs in it unchanged. For that reason each simulation has a process of its own.
 */
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { gzipSync, type ZlibOptions } from 'node:zlib';

export interface VirtualTime {
  /** In milliseconds since 1970. */
  now(): number;
  /** Resolves so many milliseconds later. */
  delay(ms: number): Promise<void>;
  /** Lets time pass until nothing waits for it any more, or `until` says that it is enough. */
  run(until?: () => boolean): Promise<void>;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly act: () => void;
}

const isEarlier = (one: Timer, other: Timer): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order);

/** The timers, the earliest first: a binary heap. */
function timers() {
  const heap: Timer[] = [];
  const swap = (a: number, b: number) => {
    [heap[a], heap[b]] = [heap[b] as Timer, heap[a] as Timer];
  };
  return {
    add(timer: Timer): void {
      let at = heap.push(timer) - 1;
      for (
        let above = (at - 1) >> 1;
        at > 0 && isEarlier(timer, heap[above] as Timer);
        above = (at - 1) >> 1
      ) {
        swap(at, above);
        at = above;
      }
    },
    take(): Timer | undefined {
      if (heap.length > 1) swap(0, heap.length - 1);
      const first = heap.pop();
      for (let at = 0; ; ) {
        const [left, right] = [2 * at + 1, 2 * at + 2];
        let least = at;
        for (const below of [left, right])
          if (below < heap.length && isEarlier(heap[below] as Timer, heap[least] as Timer)) least = below;
        if (least === at) return first;
        swap(at, least);
        at = least;
      }
    },
  };
}

/** Pseudo-random numbers from 0 to 1, the same for the same seed (mulberry32). */
export function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Lets every promise settle that waits for no timer. */
const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Puts virtual time in the place of the process's own, from a moment on. */
export function takeOverTime(from: number, seed: number): VirtualTime {
  const waiting = timers();
  let clock = from;
  let order = 0;
  const delay = <T>(ms = 0, value?: T): Promise<T> =>
    new Promise((resolve) => {
      waiting.add({ at: clock + Math.max(0, ms), order: order++, act: () => resolve(value as T) });
    });
  Date.now = () => clock;
  Math.random = dice(seed);
  const replace = createRequire(import.meta.url);
  replace('node:timers/promises').setTimeout = delay;
  // Threads know nothing of virtual time: gzip is done at once.
  replace('node:zlib').gzip = (
    file: Uint8Array,
    options: ZlibOptions,
    done: (error: null, gzipped: Uint8Array) => void,
  ) => done(null, gzipSync(file, options));
  syncBuiltinESMExports();
  // Every modelled call is answered: a try never takes too long.
  const never = new AbortController().signal;
  AbortSignal.timeout = () => never;
  return {
    now: () => clock,
    delay: (ms) => delay(ms),
    async run(until = () => false) {
      await settle();
      for (let timer = waiting.take(); timer && !until(); timer = waiting.take()) {
        clock = timer.at;
        timer.act();
        await settle();
      }
    },
  };
}
