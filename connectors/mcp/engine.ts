/** Runs DuckDB in a process of its own, which has no secret and can be ended at any time. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Failure, type Table } from './answer.ts';

export interface Job {
  /** The program's own statements. */
  readonly before: readonly string[];
  /** The only files that `selects` can read, Parquet, by the names that they have there. */
  readonly tables: Readonly<Record<string, string>>;
  readonly selects: readonly string[];
  readonly seconds: number;
}

const PROGRAM = ['--expose-gc', '--max-old-space-size=64', `${import.meta.dirname}/duckdb-process.ts`];
const TOO_MUCH =
  'That needs more memory than a query may have. Aggregate more, or take fewer columns and rows.';

export const sqlText = (value: string): string => `'${value.replaceAll("'", "''")}'`;

let turn = Promise.resolve();

/** Runs a job when those before it have ended, so that only one process has DuckDB's memory. */
export async function runEngine(job: Job, folder: string, signal: AbortSignal): Promise<readonly Table[]> {
  const [before, { promise, resolve }] = [turn, Promise.withResolvers<void>()];
  turn = promise;
  await before;
  const spill = await mkdtemp(join(folder, '.spill-'));
  // With an arena for each thread, malloc would keep up to 70 MB more.
  const env = { MALLOC_ARENA_MAX: '1', JOB: JSON.stringify({ ...job, spill }) };
  const options = { env, signal, timeout: job.seconds * 1_000, killSignal: 'SIGKILL' } as const;
  const slow = `That took longer than ${job.seconds} s. Read or join less.`;
  try {
    const { stdout } = await promisify(execFile)(process.execPath, PROGRAM, options).catch(({ killed }) => {
      throw new Failure(killed ? slow : TOO_MUCH);
    });
    const { results, fault } = JSON.parse(stdout);
    if (fault) throw new Failure(fault);
    return results;
  } finally {
    await rm(spill, { recursive: true, force: true });
    resolve();
  }
}
