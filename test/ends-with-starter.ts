/** Loaded into a child of a test before its program: ends it when the pipe to its starter does, however that has ended. */
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  process.stdin.on('end', () => process.exit(1)).resume();
  // It keeps no program from ending by itself.
  (process.stdin as typeof process.stdin & { unref?: () => void }).unref?.();
}
