import { readFileSync } from 'node:fs';
import { isAlive } from '../local/is-alive.ts';

const LOOK_MS = 1_000;

/** Before all tests: has this process end when the npm that runs it is killed, or the shell between the two. */
export default function watchNpm(): void {
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const shell = process.ppid;
  const ancestors = [shell, parentOf(shell)].filter((id) => id !== undefined);
  setInterval(() => {
    if (!ancestors.every(isAlive)) process.exit(1);
  }, LOOK_MS).unref();
}

/** Undefined where the machine does not tell as Linux does. */
function parentOf(id: number): number | undefined {
  try {
    return Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
}
