import { totalmem } from 'node:os';
import { OperatorFault } from '../../../lib/terminal/operator-fault.ts';

const UNITS: Readonly<Record<string, number>> = {
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  MIB: 2 ** 20,
  GIB: 2 ** 30,
  TIB: 2 ** 40,
};

/** With less memory, DuckDB has too little to sort with. */
const LEAST_BYTES = 500e6;

/** The memory of Node.js and of DuckDB's library, which DuckDB's limit leaves out (`npm run bench -- convert`). */
const UNCOUNTED_BYTES = 200e6;
const COUNTED_SHARE = 0.8;

/** The bytes that `--memory` asks for. Throws an OperatorFault that names the option. */
export function memoryBytes(text: string): number {
  const [, amount = '', unit = ''] = /^(\d+(?:\.\d+)?) ?([a-z]+)$/i.exec(text) ?? [];
  const bytes = Number(amount) * (UNITS[unit.toUpperCase()] ?? Number.NaN);
  if (!(bytes >= LEAST_BYTES))
    throw new OperatorFault(
      `--memory is ${JSON.stringify(text)}; write how much this may use, like 2GB or 800MB, and at least 500MB`,
    );
  return bytes;
}

/** Half of the machine's memory, or half of what its container may use if that is less. */
export const usualMemory = (machine = totalmem(), container = process.constrainedMemory()): number =>
  Math.max(LEAST_BYTES, Math.floor(Math.min(machine, container || machine) / 2));

/** The memory limit to give DuckDB, so that the whole process uses at most `bytes`. */
export const duckDbMemory = (bytes: number): number => Math.floor(bytes * COUNTED_SHARE - UNCOUNTED_BYTES);
