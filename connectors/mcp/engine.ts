/** Runs DuckDB in a process of its own, which has no secret and can be ended at any time. */
import { fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure, type Table } from './answer.ts';

export interface Job {
  readonly database: string;
  /** The program's own statements. */
  readonly before: readonly string[];
  /** The reply has a table for each. */
  readonly selects: readonly string[];
  /** What `selects` may read, if they are not the program's own. */
  readonly tables?: readonly string[];
  readonly seconds: number;
}
export type Reply = { readonly tables: readonly Table[] } | { readonly fault: string };

const TOO_MUCH =
  'That needs more memory than a query may have. Aggregate more, or take fewer columns and rows.';

let turn: Promise<unknown> = Promise.resolve();

/** Runs a job when those before it have ended, so that only one process has DuckDB's memory. */
export function runEngine(job: Job, folder: string, signal: AbortSignal): Promise<readonly Table[]> {
  const run = turn.then(() => runNow(job, folder, signal));
  turn = run.catch(() => undefined);
  return run;
}

async function runNow(job: Job, folder: string, signal: AbortSignal): Promise<readonly Table[]> {
  signal.throwIfAborted();
  const spill = await mkdtemp(join(folder, '.spill-'));
  const child = fork(new URL('./engine-process.ts', import.meta.url), {
    ...{
      env: {},
      execArgv: ['--expose-gc', '--max-old-space-size=64'],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    },
    ...{ signal: AbortSignal.any([signal, AbortSignal.timeout(job.seconds * 1_000)]), killSignal: 'SIGKILL' },
  });
  try {
    const reply = await new Promise<Reply>((resolve) => {
      child.once('message', (message) => resolve(message as Reply));
      child.on('error', () =>
        resolve({ fault: `That took longer than ${job.seconds} s. Read or join less.` }),
      );
      // It kills itself if it takes too much memory.
      child.once('exit', (_, by) => resolve({ fault: by ? TOO_MUCH : 'DuckDB ended by itself.' }));
      child.send({ job, spill });
    });
    signal.throwIfAborted();
    if ('tables' in reply) return reply.tables;
    throw new Failure(reply.fault.startsWith('Out of Memory') ? TOO_MUCH : reply.fault);
  } finally {
    child.kill('SIGKILL');
    await rm(spill, { recursive: true, force: true });
  }
}
