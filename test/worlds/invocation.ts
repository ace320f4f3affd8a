import { AsyncLocalStorage } from 'node:async_hooks';
import type { StoredObject } from '../s3/memory-s3.ts';
import type { Dice } from './random.ts';
import type { Runners } from './virtual-time.ts';

/** An execution environment of a function. It has its own clock and caches, and serves one request at a time. */
export interface Machine {
  readonly name: string;
  /** By how many milliseconds the clock is ahead. It may change while a function runs. */
  skewMs: number;
  /** Whether it runs the code of the release before. */
  readonly isOfReleaseBefore: boolean;
}

/** A fault that hit a call of an invocation. */
interface SufferedFault {
  readonly kind: string;
  readonly operation: string;
  /** What the call is for, such as an object's key. For `reading breaks`, the invocation and the number of its call. */
  readonly key: string;
}

/** One run of a function. */
export interface Invocation {
  /**
   * Made of the caller and the number of its request, or of the event and the number of the try. It is the same in
   * every run of a world.
   */
  readonly id: string;
  /** The partner for whom the function runs. Undefined if no partner's request caused the run. */
  readonly partner: string | undefined;
  readonly machine: Machine;
  readonly startedAt: number;
  readonly skewMs: number;
  /** The function's own random numbers. */
  readonly random: Dice;
  /** The random numbers of the calls that the function makes. */
  readonly portDice: Dice;
  isDead: boolean;
  /** Whether the call came that the plan's single fault meets. */
  isPastSingle?: boolean;
  calls: number;
  /** How many of the calls list objects. */
  listings: number;
  /** When the function last began to list objects. */
  listedAt?: number;
  /** When the function answered. */
  endedAt?: number;
  readonly faults: SufferedFault[];
  /** Ends the function at once. None of its code runs after this, not even a `finally`. */
  readonly die: (why: string) => void;
  /** The latest version of each object that the function has written, by key. */
  readonly written: Map<string, StoredObject>;
  /** When the function wrote a report's plain file. */
  plainFileAt?: number;
  /** When the function first wrote a job's record. */
  recordedAt?: number;
  /** The line that the function logged about its request. */
  line?: Readonly<Record<string, unknown>>;
}

/** The invocation whose code runs at the moment. */
export const running = new AsyncLocalStorage<Invocation>();

export const runners: Runners = {
  current: () => running.getStore(),
  bind: (act) => {
    const invocation = running.getStore();
    return invocation ? () => running.run(invocation, act) : act;
  },
};
