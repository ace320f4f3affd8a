import { vi } from 'vitest';

/**
 * The one clock of S3 and Athena in memory. The machine's clock is the fake one of the tests: a test may set it wrong
 * without any effect on this.
 */
export interface AwsClock {
  /** In milliseconds since 1970. */
  now(): number;
  /** The header `Date` of an answer given now: to the second. */
  date(): number;
  /** Puts the machine's clock forward, or back. */
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
