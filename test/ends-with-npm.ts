import { isAlive } from '../local/run-folder.ts';
import { parentOf, readProc } from './linux-process.ts';

const LOOK_MS = 1_000;
const SHELL = /^(sh|ash|dash|bash|ksh|zsh)$/m;

/**
 * Runs once before all tests. npm starts vitest through a shell, and neither process gets a signal if npm is killed.
 * So this function ends vitest as soon as npm or that shell is gone.
 */
export default function watchNpm(): void {
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const starter = process.ppid;
  // Some shells replace themselves by their only command: then vitest's parent is npm itself.
  const ancestors = SHELL.test(readProc(starter, 'comm')) ? [starter, parentOf(starter)] : [starter];
  setInterval(() => {
    if (!ancestors.every((id) => id === 0 || isAlive(id))) process.exit(1);
  }, LOOK_MS).unref();
}
