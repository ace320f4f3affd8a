import { readFileSync } from 'node:fs';
import { isAlive } from '../local/is-alive.ts';

const LOOK_MS = 1_000;
const SHELL = /^(sh|ash|dash|bash|ksh|zsh)$/m;

/** Before all tests: has this process end when the npm that runs it is killed, or the shell between the two. */
export default function watchNpm(): void {
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const starter = process.ppid;
  // Some shells become the program that npm has them run: then this is npm.
  const ancestors = SHELL.test(told(starter, 'comm')) ? [starter, parentOf(starter)] : [starter];
  setInterval(() => {
    if (!ancestors.every((id) => id === 0 || isAlive(id))) process.exit(1);
  }, LOOK_MS).unref();
}

/** 0 where the machine does not tell as Linux does. */
const parentOf = (id: number): number => Number(/^PPid:\s*(\d+)$/m.exec(told(id, 'status'))?.[1] ?? 0);

function told(id: number, file: 'comm' | 'status'): string {
  try {
    return readFileSync(`/proc/${id}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
