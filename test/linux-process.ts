import { readFileSync } from 'node:fs';

/** A file of a process under `/proc`; empty where the process has ended, is another user's, or the machine has no `/proc`. */
export function readProc(id: number, file: 'comm' | 'environ' | 'status'): string {
  try {
    return readFileSync(`/proc/${id}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** The id of a process's parent; 0 where it is not known. */
export const parentOf = (id: number): number =>
  Number(/^PPid:\s*(\d+)$/m.exec(readProc(id, 'status'))?.[1] ?? 0);

/**
 * Whether a process has ended so that its parent can see it. The memory of a killed process, and so its environment, goes
 * a moment earlier, and so does its first thread: until the others have ended too, its parent still takes it for running.
 */
export function hasEnded(id: number): boolean {
  const status = readProc(id, 'status');
  return status === '' || (/^State:\s*[ZX]/m.test(status) && !/^Threads:\s*([2-9]|\d\d)/m.test(status));
}
