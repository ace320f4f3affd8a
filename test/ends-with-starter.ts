/**
 * A child process of a test loads this module. The module ends the child when the child's standard input ends, which
 * happens even if the starter is killed.
 */
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  process.stdin.on('end', () => process.exit(1)).resume();
  // Without this, the watch would keep the program alive.
  (process.stdin as typeof process.stdin & { unref?: () => void }).unref?.();
}
