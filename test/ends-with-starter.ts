/** Loaded into a child process of a test: ends it when its standard input ends, which it does even if the starter is killed. */
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  process.stdin.on('end', () => process.exit(1)).resume();
  // This watch does not keep the program alive.
  (process.stdin as typeof process.stdin & { unref?: () => void }).unref?.();
}
