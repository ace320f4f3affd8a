import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { FaultInput, Faults } from '../../local/faults/faults.ts';

/** The faults of the emulator, which `faults.py` reads off a file at each call. */
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
      writeFileSync(file, JSON.stringify({ id: randomUUID(), faults }));
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
