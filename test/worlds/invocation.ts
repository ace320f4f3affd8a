import { AsyncLocalStorage } from 'node:async_hooks';
import type { StoredObject } from '../s3/memory-s3.ts';
import type { Dice } from './random.ts';
import type { Runners } from './virtual-time.ts';

/** An execution environment of a function: it has a clock and caches of its own, and serves one request at a time. */
export interface Machine {
  readonly name: string;
  readonly skewMs: number;
  /** Whether its function has not been shifted yet: it runs the code of the release before, where that is there. */
  readonly isOfReleaseBefore: boolean;
}

/** A fault that hit a call of an invocation. */
interface SufferedFault {
  readonly kind: string;
  readonly operation: string;
  /** The object's key or the execution's id. */
  readonly key: string;
}

/** One run of a function. */
export interface Invocation {
  /** The caller and the number of its request: the same in every run of a world. */
  readonly id: string;
  readonly functionName: string;
  /** For whom it runs; undefined for what no partner asked. */
  readonly partner: string | undefined;
  readonly machine: Machine;
  readonly startedAt: number;
  readonly skewMs: number;
  /** The function's own random numbers. */
  readonly random: Dice;
  /** Those of the calls that it makes. */
  readonly portDice: Dice;
  isDead: boolean;
  calls: number;
  readonly faults: SufferedFault[];
  /** Ends it here and now: nothing of it runs after this, `finally` included. */
  readonly die: (why: string) => void;
  /** The latest documents that it has written, by their keys. */
  readonly written: Map<string, StoredObject>;
  /** When it has written a report's plain file. */
  plainFileAt?: number;
  /** What it logged of its request. */
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
