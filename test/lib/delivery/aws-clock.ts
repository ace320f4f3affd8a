import { vi } from 'vitest';

/**
 * The one clock of S3 and Athena in memory. The machine's clock is the fake one of the tests: a test may set it wrong
 * without changing this clock.
 */
export interface AwsClock {
  /** The time of this clock, in milliseconds since 1970. */
  now(): number;
  /** The time in the `Date` header of an answer given now, rounded down to the second. */
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
