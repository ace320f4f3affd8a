import { vi } from 'vitest';

/**
 * The common clock of the S3 and the Athena in memory. The machine's clock is the fake clock of the tests. A test may
 * set the machine's clock wrong without changing this clock.
 */
export interface AwsClock {
  /** The time of this clock, in milliseconds since 1970. */
  now(): number;
  /** The time in the `Date` header of an answer that is given now: `now()`, rounded down to the second. */
  date(): number;
  /** Puts the machine's clock forward by `ms`, or back if `ms` is negative. */
  skewMachine(ms: number): void;
}

const toTheSecond = (ms: number): number => Math.floor(ms / 1_000) * 1_000;

export function awsClock(): AwsClock {
  let machineIsAheadMs = 0;
  const now = () => Date.now() - machineIsAheadMs;
  return {
    now,
    date: () => toTheSecond(now()),
    skewMachine(ms) {
      machineIsAheadMs += ms;
      vi.setSystemTime(Date.now() + ms);
    },
  };
}
