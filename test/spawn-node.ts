import { type ChildProcessByStdio, type SpawnOptions, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

const LOADED = join(import.meta.dirname, 'ends-with-starter.ts');

/**
 * Runs a program of this project as a child process. The child ends when this process ends, even if this process is
 * killed.
 */
export const spawnNode = (
  args: readonly string[],
  options: Pick<SpawnOptions, 'cwd' | 'env'>,
): ChildProcessByStdio<Writable, Readable, Readable> =>
  spawn(process.execPath, ['--import', LOADED, ...args], { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
