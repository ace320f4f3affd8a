import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { collectWorkers } from './worker-garbage.ts';

/** The CPU and the memory that a process uses. */
export interface Used {
  /** CPU since the last call of `used`. */
  readonly cpuMs: number;
  /** Memory after a garbage collection. */
  readonly memoryMb: number;
}

/** A part of a benchmark in a process of its own, so that its CPU and memory can be measured alone. */
export interface MeasuredProcess extends AsyncDisposable {
  /** The values that the process sent when it was ready. */
  readonly ready: Readonly<Record<string, string>>;
  used(): Promise<Used>;
}

/** Starts `bench/<name>.ts`, which must call {@link serveMeasures}. */
export async function startMeasured(name: string, args: readonly string[]): Promise<MeasuredProcess> {
  const loaded = join(import.meta.dirname, 'worker-garbage.ts');
  const child = fork(join(import.meta.dirname, `${name}.ts`), args, {
    execArgv: ['--expose-gc', '--import', loaded],
  });
  const heard = async <T>(): Promise<T> => {
    const listening = new AbortController();
    const [message] = await Promise.race([
      once(child, 'message', listening),
      once(child, 'exit', listening).then(([code]) =>
        Promise.reject(new Error(`${name} ended with ${code}`)),
      ),
    ]);
    listening.abort();
    return message as T;
  };
  const ready = await heard<Readonly<Record<string, string>>>();
  return {
    ready,
    async used() {
      child.send('used');
      return heard<Used>();
    },
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit');
      child.send('close');
      await exited;
    },
  };
}

/** Runs inside a measured process: sends `ready`, then answers messages until the process is closed. */
export function serveMeasures(ready: Readonly<Record<string, string>>, close: () => Promise<void>): void {
  let before = process.cpuUsage();
  process.on('message', async (message) => {
    if (message === 'used') {
      const { user, system } = process.cpuUsage(before);
      globalThis.gc?.();
      await collectWorkers();
      process.send?.({ cpuMs: (user + system) / 1_000, memoryMb: process.memoryUsage.rss() / 2 ** 20 });
      before = process.cpuUsage();
    } else if (message === 'close') {
      await close();
      process.disconnect();
    }
  });
  process.send?.(ready);
}
