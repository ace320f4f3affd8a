import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Roots } from './service-code.ts';
import type { Task } from './worker.ts';

/** Threads that run worlds. A thread takes the next task when it has finished its last one. */
export interface Workers {
  run<T>(task: Task): Promise<T>;
  end(): Promise<void>;
}

export async function startWorkers(count: number, roots: Roots): Promise<Workers> {
  const idle: Worker[] = [];
  const waiting: ((worker: Worker) => void)[] = [];
  const free = (worker: Worker) => {
    const next = waiting.shift();
    if (next) next(worker);
    else idle.push(worker);
  };
  const all = await Promise.all(
    Array.from({ length: count }, async () => {
      const worker = new Worker(join(import.meta.dirname, 'worker.ts'), {
        workerData: roots,
        resourceLimits: { maxYoungGenerationSizeMb: 64 },
      });
      // The task that is under way reports an error. One that comes between two tasks must not end this process.
      worker.on('error', () => {});
      await answerOf(worker);
      return worker;
    }),
  );
  for (const worker of all) free(worker);
  return {
    async run<T>(task: Task): Promise<T> {
      const worker = idle.pop() ?? (await new Promise<Worker>((resolve) => waiting.push(resolve)));
      const answer = answerOf(worker);
      worker.postMessage(task);
      const value = (await answer) as T;
      free(worker);
      return value;
    },
    async end() {
      await Promise.all(all.map((worker) => worker.terminate()));
    },
  };
}

const answerOf = (worker: Worker): Promise<unknown> =>
  new Promise((resolve, reject) => {
    worker.once('message', (value) => {
      worker.off('error', reject);
      resolve(value);
    });
    worker.once('error', reject);
  });
