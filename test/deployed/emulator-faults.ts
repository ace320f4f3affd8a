import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { FaultInput, Faults } from '../../local/faults/faults.ts';

/** Multiplies the times of a slow query by `SLOWNESS`, as `deployed-service.ts` does with the functions' waits. */
const slower = (fault: FaultInput): FaultInput =>
  fault.on === 'query' && fault.delayMs !== undefined
    ? { ...fault, delayMs: fault.delayMs * SLOWNESS }
    : fault.on === 'query' && fault.queuedMs !== undefined
      ? { ...fault, queuedMs: fault.queuedMs * SLOWNESS }
      : fault;

/**
 * The factor by which waits and slow queries are longer than on the one-machine stack. The emulator needs more time,
 * because it may start a process for each request.
 */
export const SLOWNESS = 5;

/**
 * The emulator's faults. `faults.py` reads them from the file at each call. Here, a delay that has begun lasts even if
 * the faults are replaced.
 */
export function faultsIn(file: string): Faults {
  const counts = `${file}.counts`;
  let current: readonly FaultInput[] = [];
  const counted = (): number[] => {
    try {
      return JSON.parse(readFileSync(counts, 'utf8'));
    } catch {
      return [];
    }
  };
  return {
    set(faults) {
      current = faults;
      rmSync(counts, { force: true });
      writeFileSync(file, JSON.stringify({ id: randomUUID(), faults: faults.map(slower) }));
    },
    current() {
      const matched = counted();
      return current.map((fault, index) => ({
        every: 1,
        times: Number.MAX_SAFE_INTEGER,
        delayMs: 0,
        queuedMs: 0,
        throttle: false,
        stall: false,
        ...(fault as { on: 'query' }),
        matched: matched[index] ?? 0,
        struck: matched[index] ?? 0,
      }));
    },
    strike: () => Promise.reject(new TypeError('the emulator strikes')),
    queuedMs: () => 0,
  };
}
