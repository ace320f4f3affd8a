import { readFileSync } from 'node:fs';

/**
 * A file of a process under `/proc`. Empty if the process has ended or is another user's, or if the machine has no
 * `/proc`.
 */
export function readProc(id: number, file: 'comm' | 'environ' | 'status'): string {
  try {
    return readFileSync(`/proc/${id}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** The id of a process's parent; 0 if it is not known. */
export const parentOf = (id: number): number =>
  Number(/^PPid:\s*(\d+)$/m.exec(readProc(id, 'status'))?.[1] ?? 0);

/**
 * Whether a process's parent can see that the process has ended. Before the parent can see it, a killed process already
 * loses its memory and its environment. Its first thread may end earlier too: the parent sees a running process until
 * the other threads have ended.
 */
export function hasEnded(id: number): boolean {
  const status = readProc(id, 'status');
  return status === '' || (/^State:\s*[ZX]/m.test(status) && !/^Threads:\s*([2-9]|\d\d)/m.test(status));
}
