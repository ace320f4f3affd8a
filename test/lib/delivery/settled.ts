import { beforeEach, vi } from 'vitest';
import { START } from './setting.ts';

/** More steps of the clock than any test needs. */
const MAX_STEPS = 20_000;
const LONGEST_MS = 3_000_000;

/** Runs the fake clock from timer to timer until a promise settles. Throws if the promise never does. */
export async function settled<T>(promise: Promise<T>): Promise<T> {
  let isDone = false;
  const mark = () => {
    isDone = true;
  };
  promise.then(mark, mark);
  const from = Date.now();
  for (let steps = 0; ; steps++) {
    // Work that waits for no timer runs before the clock moves.
    await vi.advanceTimersByTimeAsync(0);
    if (isDone) return promise;
    if (steps > MAX_STEPS || Date.now() > from + LONGEST_MS) throw new Error('it does not end');
    await vi.advanceTimersToNextTimerAsync();
  }
}

/** For each test of a file, the fake clock begins at START, and `Math.random` gives the same numbers in every run. */
export function useFakeTime(): void {
  beforeEach(() => {
    let throws = 0;
    vi.useFakeTimers({ now: START });
    const dice = vi.spyOn(Math, 'random').mockImplementation(() => (++throws * 0.618_034) % 1);
    return () => {
      dice.mockRestore();
      vi.useRealTimers();
    };
  });
}
