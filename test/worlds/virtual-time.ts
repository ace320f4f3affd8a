/**
 * Virtual time is computed, not waited for. It replaces the clock, the timers and the random numbers of a thread, so
 * that the service's own code runs unchanged. Therefore a simulation needs a process or a thread of its own.
 */
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { dice } from './random.ts';
import { seedCryptoAndGzip } from './seeded-crypto.ts';

export interface Timer {
  readonly at: number;
  readonly act: () => void;
  /** Whether `act` settles no promise. */
  readonly isSilent: boolean;
  /** Whether the timer was cleared. */
  isOff: boolean;
}

/** Puts a timer among others. The last acts next; of two with the same time, the one that was set first. */
export function insert(timers: Timer[], timer: Timer): void {
  let [from, to] = [0, timers.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((timers[middle] as Timer).at > timer.at) from = middle + 1;
    else to = middle;
  }
  timers.splice(from, 0, timer);
}

export interface VirtualTime {
  /** In milliseconds since 1970. */
  now(): number;
  /** Resolves this many milliseconds later. */
  delay(ms: number): Promise<void>;
  /** Calls `act` after `ms`. */
  after(ms: number, act: () => void): Timer;
  /** The same for an `act` that settles no promise: this saves time. */
  silentlyAfter(ms: number, act: () => void): Timer;
  /** Lets time pass until no timer is left, until `until` returns true, or until `mostTimers` have acted. */
  run(until?: () => boolean, mostTimers?: number): Promise<void>;
}

/** The invocation whose code runs now. */
interface Runner {
  /** By how many milliseconds the invocation's clock is ahead. */
  readonly skewMs: number;
  readonly isDead: boolean;
  readonly random: () => number;
}

export interface Runners {
  readonly current: () => Runner | undefined;
  /** Wraps `act` so that it later runs as the runner that is current now. */
  readonly bind: (act: () => void) => () => void;
}

const NO_RUNNERS: Runners = { current: () => undefined, bind: (act) => act };

let clock = 0;
let timers: Timer[] = [];
let random = dice(0);
let runners = NO_RUNNERS;
let isTakenOver = false;
/**
 * Settles all promises that can be settled now. Node has this for its own use only. A turn of the event loop does the
 * same, and takes a sixth of a world's time.
 */
const settle = (process as unknown as { readonly _tickCallback: () => void })._tickCallback;

const add = (ms: number, act: () => void, isSilent = false): Timer => {
  // The clock of a process has whole milliseconds only.
  const laterMs = runners === NO_RUNNERS ? ms : Math.round(ms);
  const timer: Timer = { at: clock + Math.max(0, laterMs || 0), act, isSilent, isOff: false };
  insert(timers, timer);
  return timer;
};

/** `setTimeout` of `node:timers/promises`. The promise never resolves if its runner dies in the meantime. */
function pause<T>(ms?: number, value?: T, { signal }: { signal?: AbortSignal } = {}): Promise<T> {
  const runner = runners.current();
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(aborted(signal));
    const timer = add(ms ?? 0, () => {
      signal?.removeEventListener('abort', stop);
      if (!runner?.isDead) resolve(value as T);
    });
    const stop = () => {
      timer.isOff = true;
      reject(aborted(signal));
    };
    signal?.addEventListener('abort', stop, { once: true });
  });
}

const aborted = (signal: AbortSignal | undefined) =>
  Object.assign(new Error('The operation was aborted', { cause: signal?.reason }), {
    name: 'AbortError',
    code: 'ABORT_ERR',
  });

/** `setTimeout` with a callback. */
function callLater(act: (...values: unknown[]) => void, ms?: number, ...values: unknown[]): Timer {
  const runner = runners.current();
  const bound = runners.bind(() => act(...values));
  return add(ms ?? 0, () => {
    if (!runner?.isDead) bound();
  });
}

const forget = (timer: Timer | undefined): void => {
  if (timer) timer.isOff = true;
};

/** The signal that `AbortSignal.timeout` gives. A signal without listeners sets no timer. */
export class VirtualSignal {
  readonly deadline: number;
  #timers = new Map<() => void, Timer>();

  constructor(ms: number) {
    this.deadline = clock + ms;
  }
  get aborted(): boolean {
    return clock >= this.deadline;
  }
  get reason(): Error {
    return Object.assign(new Error('The operation was aborted due to timeout'), { name: 'TimeoutError' });
  }
  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }
  addEventListener(_type: 'abort', act: () => void): void {
    this.#timers.set(act, add(this.deadline - clock, runners.bind(act)));
  }
  removeEventListener(_type: 'abort', act: () => void): void {
    forget(this.#timers.get(act));
  }
}

function takeOverProcess(): void {
  if (isTakenOver) return;
  isTakenOver = true;
  // Node's gzip runs in other threads, which virtual time does not control. So gzip is replaced as well.
  seedCryptoAndGzip();
  Date.now = () => clock + (runners.current()?.skewMs ?? 0);
  Math.random = () => (runners.current()?.random ?? random)();
  const require = createRequire(import.meta.url);
  require('node:timers/promises').setTimeout = pause;
  Object.assign(require('node:timers'), { setTimeout: callLater, clearTimeout: forget });
  Object.assign(globalThis, { setTimeout: callLater, clearTimeout: forget });
  syncBuiltinESMExports();
  AbortSignal.timeout = (ms) => new VirtualSignal(ms) as unknown as AbortSignal;
}

/** Replaces the thread's time by virtual time, which begins at `from`. Timers that were set before are forgotten. */
export function takeOverTime(from: number, seed: number, by: Runners = NO_RUNNERS): VirtualTime {
  takeOverProcess();
  clock = from;
  timers = [];
  random = dice(seed);
  runners = by;
  return {
    now: () => clock,
    delay: (ms) => pause(ms),
    after: (ms, act) => add(ms, act),
    silentlyAfter: (ms, act) => add(ms, act, true),
    run: (until = () => false, mostTimers = Number.POSITIVE_INFINITY) =>
      new Promise((resolve, reject) => {
        let left = mostTimers;
        setImmediate(() => {
          for (let timer = timers.pop(); timer && left > 0 && !until(); timer = timers.pop()) {
            left -= 1;
            if (timer.isOff) continue;
            clock = timer.at;
            try {
              timer.act();
            } catch (error) {
              return reject(error);
            }
            // When the next timer acts, all promises have settled, except those that wait for a timer. An error that
            // nobody catches ends the thread.
            if (!timer.isSilent) settle();
          }
          resolve();
        });
      }),
  };
}
